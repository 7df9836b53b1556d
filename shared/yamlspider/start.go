package yamlspider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// An arg is an argument that the spider takes.
type arg struct {
	value    string // the default
	required bool
	at       *yaml.Node
}

func (a *arg) readNode(d *decoder, n *yaml.Node) {
	a.at, a.value, a.required = n, n.Value, isNull(n)
	switch {
	case n.Kind != yaml.ScalarNode:
		d.at(n, "the default of an argument is one value, and got %s", describe(n))
	case a.required:
		a.value = ""
	}
}

// An arguments is what a spider takes.
type arguments map[string]arg

// placeholder is {NAME} in a start URL.
var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// argName is what can stand in a placeholder.
var argName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// start gives the spider its start URLs and its check of arguments.
func (d *decoder) start(f *file, s *spider.Spider) {
	args := arguments(f.Args)
	names := slices.Sorted(maps.Keys(args))
	for _, name := range names {
		if !argName.MatchString(name) && args[name].at != nil {
			d.at(args[name].at, "the name of an argument is letters, digits and _, and %q is not", shorten(name))
		}
	}
	defaults := make(map[string]string)
	for _, name := range names {
		if defaults[name] = args[name].value; args[name].required {
			defaults[name] = "http://x" // a value to try the URLs with
		}
	}
	urls, open := texts(f.StartURLs), false
	for _, u := range f.StartURLs {
		if u.at == nil {
			continue
		}
		for _, m := range placeholder.FindAllStringSubmatch(u.text, -1) {
			open = true
			if _, ok := args[m[1]]; !ok {
				d.at(u.at, "%s; declare it under args, or write %%7B%s%%7D for the braces themselves", unknown("argument", m[1], names), m[1])
			}
		}
		if _, err := startURL(args.fill(u.text, defaults)); err != nil {
			d.at(u.at, "%v", err)
		}
	}
	if !open {
		s.StartURLs = urls
	} else {
		s.Start = func(_ context.Context, start spider.Start) spider.Results { return args.requests(urls, start.Args) }
	}
	s.CheckArgs = func(given map[string]string) error { return args.check(urls, given) }
}

// requests gives the start URLs with the job's arguments in their places.
func (a arguments) requests(urls []string, given map[string]string) spider.Results {
	return func(yield func(crawl.Result, error) bool) {
		for _, u := range urls {
			filled, err := startURL(a.fill(u, given))
			if err != nil {
				yield(crawl.Result{}, err)
				return
			}
			if !yield(crawl.Result{Request: &crawl.Request{URL: filled}}, nil) {
				return
			}
		}
	}
}

// fill puts arguments in their places. At the beginning of a URL an argument is
// taken as it is, for it is a URL itself; elsewhere it is escaped, so that it
// stays in its place.
func (a arguments) fill(u string, given map[string]string) string {
	value := func(name string) string {
		if v, ok := given[name]; ok {
			return v
		}
		return a[name].value
	}
	begin := ""
	if at := placeholder.FindStringSubmatchIndex(u); at != nil && at[0] == 0 {
		begin, u = value(u[at[2]:at[3]]), u[at[1]:]
	}
	return begin + placeholder.ReplaceAllStringFunc(u, func(s string) string { return url.PathEscape(value(s[1 : len(s)-1])) })
}

// check says what is wrong with a job's arguments.
func (a arguments) check(urls []string, given map[string]string) error {
	names := slices.Sorted(maps.Keys(a))
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := a[name]; !ok {
			errs = append(errs, errors.New(unknown("argument", name, names)))
		}
	}
	for _, name := range names {
		if _, ok := given[name]; a[name].required && !ok {
			errs = append(errs, fmt.Errorf("the argument %s is missing: give it with -a %s=VALUE", name, name))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, u := range urls {
		if _, err := startURL(a.fill(u, given)); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// startURL checks that a crawl can begin with a URL.
func startURL(text string) (string, error) {
	u, err := weburl.Parse(text)
	if err != nil {
		return "", fmt.Errorf("start URL %q: %w", shorten(text), err)
	}
	if s := u.Scheme(); s != "http" && s != "https" {
		return "", fmt.Errorf("start URL %q: a crawl begins with http or https", s+":…")
	}
	return text, nil
}
