package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// ErrQuit is what Run returns for the command that ends the shell.
var ErrQuit = errors.New("quit")

// Options are what a shell needs. All but Open and DontRedirect must be set.
type Options struct {
	// Singles fetch pages and have the spiders.
	Singles *assembly.Singles

	// Spec says with which spider, arguments and settings pages are fetched;
	// its spider may be empty.
	Spec crawl.JobSpec

	// Out takes results, Tell what only people read.
	Out, Tell io.Writer

	// Open shows a file to whoever sits there. Nil shows none.
	Open func(file string) error

	// DontRedirect shows redirects instead of following them.
	DontRedirect bool
}

// A Shell is a page, and the commands that are tried on it. It is used by one
// goroutine.
type Shell struct {
	Options
	single *assembly.Single
	page   *spider.Page   // nil before the first
	links  []extract.Link // those that were shown last
}

// New returns a shell without a page. It fails if the specification is wrong.
func New(o Options) (*Shell, error) {
	single, err := o.Singles.Single(o.Spec)
	if err != nil {
		return nil, err
	}
	return &Shell{Options: o, single: single}, nil
}

// Run works off one line. Its error says what is wrong with the line or what
// failed; the shell can go on. For the command that ends it, it is ErrQuit.
// Blank lines and those that begin with # do nothing.
func (s *Shell) Run(ctx context.Context, line string) error {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return nil
	}
	name, rest, _ := strings.Cut(line, " ")
	k := slices.IndexFunc(commands(), func(c command) bool { return c.name == name || slices.Contains(c.others, name) })
	if k < 0 {
		return unknown(name, line)
	}
	c := commands()[k]
	rest = strings.TrimSpace(rest)
	if c.needsPage && s.page == nil {
		return errors.New("there is no page yet: fetch URL gets one")
	}
	if rest == "" && c.needsArgs {
		return fmt.Errorf("%s wants what help says: %s %s", name, c.name, c.args)
	}
	if s.page != nil {
		_ = s.page.Document().TakeErr() // what an earlier command has told
	}
	return crawl.Guard(func() error { return c.run(s, ctx, rest) })
}

// python is a call as it is typed into Scrapy's shell.
var python = regexp.MustCompile(`^(?:\w+\.)*(\w+)\(\s*(?:r?["'](.+?)["']\s*\))?`)

// unknown names the commands, and the one that was probably meant.
func unknown(name, line string) error {
	if m := python.FindStringSubmatch(line); m != nil {
		k := slices.IndexFunc(commands(), func(c command) bool { return c.name == strings.ToLower(m[1]) })
		if k < 0 {
			return errors.New("this is no Python; help lists the commands")
		}
		return fmt.Errorf("this is no Python; type: %s", strings.TrimSpace(commands()[k].name+" "+m[2]))
	}
	var names []string
	for _, c := range commands() {
		if strings.HasPrefix(c.name, name) {
			return fmt.Errorf("unknown command %q; did you mean %s?", name, c.name)
		}
		names = append(names, c.name)
	}
	if strings.HasPrefix(name, "/") {
		return fmt.Errorf("unknown command %q; did you mean xpath %s?", name, name)
	}
	return fmt.Errorf("unknown command %q; there are %s", name, strings.Join(names, ", "))
}

// take makes a response the page of the shell.
func (s *Shell) take(resp *crawl.Response) {
	s.page, s.links = s.single.Page(resp), nil
	fmt.Fprintf(s.Tell, "%d %s  %s, %d bytes\n", resp.Status, weburl.Shown(resp.URL), resp.Headers.Get("Content-Type"), len(resp.Body))
}
