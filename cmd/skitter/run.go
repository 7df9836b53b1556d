package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/yamlspider"
)

// spidersFolder is where YAML spiders that are not built in are looked for.
const spidersFolder = "spiders"

// A finder finds the spider that a command's first argument means: its name,
// and its text if the job is to bring it.
type finder struct {
	command, what, hint string
	spider              func(arg string) (name, definition string, err error)
}

func (a *app) runCommand() *cobra.Command {
	var f crawlFlags
	cmd := &cobra.Command{
		Use:   "run FILE.yaml [URL ...]",
		Short: "Run a job of a YAML spider to its end",
		Long: `Runs a job of the spider in a YAML file to its end, like crawl. The job keeps the
file's text: --resume needs no file, and a stack that never saw it runs it.
docs/yaml.md tells what the file says.`,
		Example: `  skitter run shop.yaml -O shop.jsonl
  skitter run quotes.yaml -a tag=humor -o - -s DOWNLOAD_DELAY=0`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.crawl(cmd.Context(), f, finder{"run", "a YAML file with a spider", "docs/yaml.md tells what is in it", a.fromFile}, args)
		},
		ValidArgsFunction: firstOf(func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return []cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		}),
	}
	a.crawlFlags(cmd, &f)
	return cmd
}

// fromFile reads the spider of a file.
func (a *app) fromFile(path string) (name, definition string, err error) {
	if path == "-" {
		return "", "", errors.New("run reads no spider from stdin: save it to a file, and name that")
	}
	if filepath.Ext(path) == ".go" {
		return "", "", notByFile(path)
	}
	file, err := os.Open(path)
	if err != nil {
		if a.known(path) == nil {
			return "", "", fmt.Errorf("run wants a YAML file with a spider; did you mean: skitter crawl %s", path)
		}
		return "", "", fmt.Errorf("run wants a YAML file with a spider: %w", err)
	}
	defer func() { _ = file.Close() }()
	d, err := yamlspider.Read(path, file)
	return d.Spider.Name, string(d.Text), err
}

// named finds a spider by its name. A file in spiders/ is what its author means
// even if an older state of it is built in; the job then brings the file's text.
func (a *app) named(name string) (string, string, error) {
	d, found, err := a.file(name)
	switch {
	case err != nil:
		return name, "", err
	case !found:
		return name, "", a.known(name)
	}
	if a.project.Definitions != nil {
		if built, err := yamlspider.ReadNamed(a.project.Definitions, ".", name); err == nil && bytes.Equal(built.Text, d.Text) {
			return name, "", nil
		}
	}
	return name, string(d.Text), nil
}

// notByFile says what to do with a file where the name of a spider is wanted.
func notByFile(name string) error {
	switch filepath.Ext(name) {
	case ".yaml", ".yml":
		return fmt.Errorf("%s is a file, not the name of a spider: skitter run FILE runs it, and the file spiders/NAME.yaml is the spider NAME of all commands", name)
	case ".go":
		spider := "NAME"
		if folder := filepath.Base(filepath.Dir(name)); validFolder.MatchString(folder) && folder != spidersFolder {
			spider = folder
		}
		return fmt.Errorf("%s is Go, which is built in: name the spider in spiders/project.go, run make build, then: skitter crawl %s", name, spider)
	}
	return nil
}

var validFolder = regexp.MustCompile(`^\w+$`)

// singles makes what fetches and reads single pages for the spiders of this
// folder. The names are those that were asked for, if any: a file of theirs that
// is wrong is an error, and one of another spider is in nobody's way. Without
// names, wrong is what is wrong with files in spiders/; it is told already.
func (a *app) singles(names ...string) (all *assembly.Singles, wrong, err error) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	for _, name := range names {
		if _, _, err := a.file(name); err != nil {
			return nil, nil, asUsage(err)
		}
	}
	layers, err := a.layers()
	if err != nil {
		return nil, nil, err
	}
	here, wrong, err := a.here()
	if err != nil {
		return nil, nil, asUsage(err)
	}
	if len(names) > 0 {
		wrong = nil
	}
	if wrong != nil {
		printError(a.stderr, wrong)
	}
	all, err = assembly.NewSingles(here, layers, newDisplay(a.stderr, false).log)
	return all, wrong, asUsage(err)
}

// file reads the file of a spider in spiders/, if it has one.
func (a *app) file(name string) (d yamlspider.Definition, found bool, err error) {
	if err := notByFile(name); err != nil {
		return d, false, err
	}
	d, err = yamlspider.ReadNamed(os.DirFS("."), spidersFolder, name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid):
		return d, false, nil
	case err != nil:
		return d, false, err
	}
	return d, true, a.onlyYAML(d)
}

// known reports a name that no spider has.
func (a *app) known(name string) error {
	registry, err := a.project.Registry()
	if err != nil {
		return err
	}
	if _, err = registry.Get(name); err == nil {
		return nil
	}
	if here, _, lerr := a.registry(); lerr == nil {
		_, err = here.Get(name) // names those in spiders/, too
	}
	return err
}

// registry has the spiders of [app.here]. Where some are wrong, it has the others.
func (a *app) registry() (registry *spider.Registry, wrong, err error) {
	p, wrong, err := a.here()
	if err != nil {
		return nil, nil, err
	}
	registry, err = p.Registry()
	return registry, wrong, err
}

// here is the project as it is in the folder where the program was called: the
// YAML spiders in spiders/ replace those of the same name that are built in.
// Those whose files are wrong are left out, and wrong says what is wrong there.
func (a *app) here() (p project.Project, wrong, err error) {
	p = a.project
	var mistakes []error
	var files []yamlspider.Definition
	if _, err := os.Stat(spidersFolder); !errors.Is(err, fs.ErrNotExist) {
		files, err = yamlspider.ReadFolder(os.DirFS("."), spidersFolder)
		mistakes = append(mistakes, err)
	}
	built, err := yamlspider.ReadFolder(p.Definitions, ".")
	if err != nil {
		return p, nil, err
	}
	p.Definitions = nil // what they say is among the spiders now
	p.Spiders = slices.Clone(p.Spiders)
	seen := make(map[string]bool)
	for _, d := range files {
		if err := a.onlyYAML(d); err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		seen[d.Spider.Name] = true
		p.Spiders = append(p.Spiders, d.Spider)
	}
	for _, d := range built {
		if !seen[d.Spider.Name] {
			p.Spiders = append(p.Spiders, d.Spider)
		}
	}
	return p, errors.Join(mistakes...), nil
}

// onlyYAML refuses a YAML spider that has the name of one in Go.
func (a *app) onlyYAML(d yamlspider.Definition) error {
	for _, s := range a.project.Spiders {
		if s.Name == d.Spider.Name {
			return fmt.Errorf("%s: a spider %s is built in, written in Go: give this one another name, or run it with: skitter run %s", d.File, s.Name, d.File)
		}
	}
	return nil
}
