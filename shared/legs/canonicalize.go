package legs

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

const nameCanonicalize = "canonicalize"

// Canonicalize rewrites the URLs of a spider's requests by named rules, start
// requests included: SEP-016's URL canonicalizer. The pages are then asked for
// by those URLs. Without options the rule is canonical.
//
// The dupefilter knows a page again whatever the order of its arguments is, so
// most spiders need this leg for what is special to a site only: arguments that
// make no difference, session IDs, and two spellings of one path.
//
// A URL on its way out is cleaned in any case as browsers do it: scheme and host
// in lower case, no default port, no "/../". One that cannot be parsed is left
// as it is.
type Canonicalize struct {
	// Name is the leg's name, unique in its spider.
	//
	// Default: canonicalize.
	Name string `json:"name,omitempty"`

	// Rules are names of [CanonicalRules], worked off in order, after
	// keep_params and drop_params.
	//
	// Default: canonical, if keep_params and drop_params are empty too.
	Rules []string `json:"rules,omitempty"`

	// DropParams are names of query arguments that go. A * stands for any
	// text, as in utm_*.
	DropParams []string `json:"drop_params,omitempty"`

	// KeepParams are names of query arguments that stay, while all others
	// go. A * stands for any text.
	KeepParams []string `json:"keep_params,omitempty"`

	// URLs are regular expressions, and keep the leg to URLs in which one of
	// them is found.
	//
	// Default: any URL.
	URLs []string `json:"urls,omitempty"`
}

// Leg makes the leg.
func (o Canonicalize) Leg() spider.Leg {
	name := nameOr(o.Name, nameCanonicalize)
	return spider.Leg{Name: name, SetSpider: func(*spider.Spider) (spider.Leg, error) {
		var m mistakes
		urls := m.patterns("urls", o.URLs)
		rules := o.compile(&m)
		return spider.Leg{Name: name, ProcessRequest: func(_ context.Context, _ *spider.Page, req *crawl.Request) (*crawl.Request, error) {
			if len(urls) == 0 || findsAny(urls, req.URL) {
				req.URL = rewrite(req.URL, rules)
			}
			return req, nil
		}}, m.err()
	}}
}

func (o Canonicalize) compile(m *mistakes) []func(*address) {
	var rules []func(*address)
	if keep := paramNames("keep_params", o.KeepParams, m); keep != nil {
		rules = append(rules, func(a *address) { a.params(keep) })
	}
	if drop := paramNames("drop_params", o.DropParams, m); drop != nil {
		rules = append(rules, func(a *address) { a.params(func(name string) bool { return !drop(name) }) })
	}
	names := o.Rules
	if len(names) == 0 && len(rules) == 0 {
		names = []string{"canonical"}
	}
	for _, name := range names {
		i := slices.IndexFunc(canonicalRules(), func(r canonicalRule) bool { return r.Name == name })
		if i < 0 {
			m.add("rules", fmt.Errorf("there is no rule %q; there are %s", name, strings.Join(ruleNames(), ", ")))
			continue
		}
		rules = append(rules, canonicalRules()[i].apply)
	}
	return rules
}

// paramNames tells whether a name is one of those that patterns with * stand
// for. It is nil without patterns.
func paramNames(option string, patterns []string, m *mistakes) func(string) bool {
	if len(patterns) == 0 {
		return nil
	}
	for _, p := range patterns {
		if p == "" {
			m.add(option, fmt.Errorf("an empty name: give names of arguments, such as utm_*"))
		}
	}
	matchers := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		matchers[i] = regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*") + "$")
	}
	return func(name string) bool { return findsAny(matchers, name) }
}

// rewrite applies the rules to a URL.
func rewrite(text string, rules []func(*address)) string {
	u, err := weburl.Parse(text)
	if err != nil {
		return text
	}
	for _, rule := range rules {
		a := address{u: u}
		rule(&a)
		next, err := weburl.Parse(a.text())
		if err != nil {
			continue // what a rule would break stays
		}
		u = next
	}
	return u.String()
}

// An address is a URL while a rule works on it. A part that the rule has not
// touched is the URL's.
type address struct {
	u     weburl.URL
	whole string // replaces all, if not empty

	scheme, host, path, query, fragment *string
	noUser                              bool
}

func (a *address) text() string {
	if a.whole != "" {
		return a.whole
	}
	or := func(changed *string, own string) string {
		if changed != nil {
			return *changed
		}
		return own
	}
	if a.u.Host() == "" {
		return a.opaque(or(a.query, a.u.Query()), or(a.fragment, a.u.Fragment()))
	}
	var b strings.Builder
	b.WriteString(or(a.scheme, a.u.Scheme()) + "://")
	if name, password := a.u.User(); !a.noUser && name+password != "" {
		b.WriteString(name)
		if password != "" {
			b.WriteString(":" + password)
		}
		b.WriteByte('@')
	}
	b.WriteString(or(a.host, a.u.Host()) + or(a.path, a.u.Path()))
	writePart(&b, '?', or(a.query, a.u.Query()))
	writePart(&b, '#', or(a.fragment, a.u.Fragment()))
	return b.String()
}

// opaque is the text of a URL without a host, whose query and fragment alone
// are changed.
func (a *address) opaque(query, fragment string) string {
	text, _, _ := strings.Cut(a.u.WithoutFragment().String(), "?")
	b := new(strings.Builder)
	b.WriteString(text)
	writePart(b, '?', query)
	writePart(b, '#', fragment)
	return b.String()
}

func writePart(b *strings.Builder, sign byte, part string) {
	if part != "" {
		b.WriteByte(sign)
		b.WriteString(part)
	}
}

// params keeps the query arguments whose names are wanted.
func (a *address) params(wanted func(name string) bool) {
	a.filter(func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return wanted(unescaped(name))
	})
}

// filter keeps the query arguments that are wanted, as they are written.
func (a *address) filter(wanted func(pair string) bool) {
	var kept []string
	for pair := range strings.SplitSeq(a.u.Query(), "&") {
		if pair != "" && wanted(pair) {
			kept = append(kept, pair)
		}
	}
	a.setQuery(strings.Join(kept, "&"))
}

func (a *address) setQuery(query string) { a.query = &query }
func (a *address) setPath(p string)      { a.path = &p }

// isFile reports whether a path ends in the name of a file.
func isFile(p string) bool { return path.Ext(p) != "" }
