package extract

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/skitterhq/skitter/shared/weburl"
)

// LinkOptions are the options of a [LinkExtractor] as text, under the names of
// Scrapy's LinkExtractor: for legs, and for spiders that are written without
// Go. The zero value is Scrapy's default.
type LinkOptions struct {
	// Allow keeps the links whose absolute URL one of these regular
	// expressions is found in. Empty keeps all.
	Allow []string `json:"allow,omitempty"`

	// Deny drops those whose URL one of these is found in. It wins over allow.
	Deny []string `json:"deny,omitempty"`

	// AllowDomains keeps links to these domains and what is below them, such
	// as example.com. Empty keeps all.
	AllowDomains []string `json:"allow_domains,omitempty"`

	// DenyDomains drops links to these domains and what is below them.
	DenyDomains []string `json:"deny_domains,omitempty"`

	// DenyExtensions are endings of file names, without the dot, that are not
	// followed. An empty list denies none.
	//
	// Default: [IgnoredExtensions].
	DenyExtensions []string `json:"deny_extensions,omitzero"`

	// RestrictXPaths looks for links only inside what one of these XPath
	// expressions selects. Empty, as restrict_css, looks everywhere.
	RestrictXPaths []string `json:"restrict_xpaths,omitempty"`

	// RestrictCSS is the same with CSS selectors, which come after.
	RestrictCSS []string `json:"restrict_css,omitempty"`

	// RestrictText keeps the links whose text one of these regular expressions
	// is found in. Empty keeps all.
	RestrictText []string `json:"restrict_text,omitempty"`

	// Tags are the elements that have links; "*" is every element.
	//
	// Default: a and area.
	Tags []string `json:"tags,omitempty"`

	// DenyTags are elements that are passed over though tags has them.
	DenyTags []string `json:"deny_tags,omitempty"`

	// Attrs are the attributes that are links; "*" is every attribute.
	//
	// Default: href.
	Attrs []string `json:"attrs,omitempty"`

	// DenyAttrs are attributes that are passed over though attrs has them.
	DenyAttrs []string `json:"deny_attrs,omitempty"`

	// Canonicalize makes URLs canonical. Servers may answer a canonical URL
	// otherwise than the page's own.
	Canonicalize bool `json:"canonicalize,omitempty"`

	// Unique keeps one of the links that lead to one page.
	//
	// Default: true.
	Unique *bool `json:"unique,omitempty"`

	// Strip cuts off blanks around an address before process_value sees it.
	//
	// Default: true.
	Strip *bool `json:"strip,omitempty"`

	// ProcessValue is a regular expression that finds the address in a value:
	// its first group, or all of it if it has none. A value without it is no
	// link. Empty takes values as they are.
	ProcessValue string `json:"process_value,omitempty"`
}

// Compile returns the extractor that the options describe. The error names
// each option that is wrong, and is nil if none is.
func (o LinkOptions) Compile() (*LinkExtractor, error) {
	c := optionCompiler{}
	e := &LinkExtractor{
		Allow:        c.regexps("allow", o.Allow),
		Deny:         c.regexps("deny", o.Deny),
		AllowDomains: c.domains("allow_domains", o.AllowDomains),
		DenyDomains:  c.domains("deny_domains", o.DenyDomains),
		Restrict: append(c.queries("restrict_xpaths", o.RestrictXPaths, CompileXPath),
			c.queries("restrict_css", o.RestrictCSS, CompileCSS)...),
		RestrictText:   c.regexps("restrict_text", o.RestrictText),
		Tags:           c.names("tags", o.Tags),
		DenyTags:       c.names("deny_tags", o.DenyTags),
		Attrs:          c.names("attrs", o.Attrs),
		DenyAttrs:      c.names("deny_attrs", o.DenyAttrs),
		DenyExtensions: c.extensions("deny_extensions", o.DenyExtensions),
		Repeated:       o.Unique != nil && !*o.Unique,
		Canonicalize:   o.Canonicalize,
		KeepBlanks:     o.Strip != nil && !*o.Strip,
	}
	c.someOrNone("tags", o.Tags)
	c.someOrNone("attrs", o.Attrs)
	if o.ProcessValue != "" {
		if found := c.regexps("process_value", []string{o.ProcessValue}); found != nil {
			e.ProcessValue = firstGroup(found[0])
		}
	}
	if len(c.wrong) > 0 {
		return nil, errors.Join(c.wrong...)
	}
	return e, nil
}

// firstGroup finds a regular expression in a value.
func firstGroup(re *regexp.Regexp) func(string) (string, bool) {
	return func(value string) (string, bool) {
		groups := re.FindStringSubmatch(value)
		if groups == nil {
			return "", false
		}
		return groups[min(1, len(groups)-1)], true
	}
}

// An optionCompiler collects what is wrong with options.
type optionCompiler struct{ wrong []error }

func (c *optionCompiler) blame(option, value, reason string) {
	c.wrong = append(c.wrong, fmt.Errorf("option %s: %q: %s", option, value, reason))
}

func (c *optionCompiler) regexps(option string, patterns []string) (compiled []*regexp.Regexp) {
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			c.blame(option, p, regexpReason(err))
			continue
		}
		compiled = append(compiled, re)
	}
	return compiled
}

// regexpReason says in words what Python's regular expressions have and Go's,
// which take linear time, have not.
func regexpReason(err error) string {
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	reason := fmt.Sprintf("%s: %q", wrong.Code, wrong.Expr)
	look := []string{"(?=", "(?!", "(?<"}
	for _, sign := range look {
		if wrong.Code == syntax.ErrInvalidPerlOp && strings.HasPrefix(wrong.Expr, sign) {
			return reason + " (regular expressions here have no look-ahead and no look-behind; deny can say what must not be there)"
		}
	}
	return reason
}

func (c *optionCompiler) queries(option string, selectors []string, compile func(string) (*Query, error)) (queries []*Query) {
	for _, s := range selectors {
		q, err := compile(s)
		if err == nil {
			err = q.CheckVariables()
		}
		if err != nil {
			c.wrong = append(c.wrong, fmt.Errorf("option %s: %w", option, err))
			continue
		}
		queries = append(queries, q)
	}
	return queries
}

// domains returns the domains as they stand in URLs: in lower case and
// punycode.
func (c *optionCompiler) domains(option string, domains []string) (hosts []string) {
	for _, d := range domains {
		u, err := weburl.Parse("http://" + d + "/")
		if err != nil || u.Hostname() == "" || strings.HasPrefix(d, ".") || strings.ContainsAny(d, "/:@?#\\") {
			c.blame(option, d, "no domain; want one without scheme, port and path, such as example.com")
			continue
		}
		hosts = append(hosts, u.Hostname())
	}
	return hosts
}

// names checks names of elements or attributes.
func (c *optionCompiler) names(option string, names []string) []string {
	for _, n := range names {
		if n == "" || strings.ContainsAny(n, " \t\n\f\r<>/=\"'") {
			c.blame(option, n, `no name in markup; want one such as img, or "*" for all`)
		}
	}
	return names
}

// someOrNone refuses a list that is there and empty, which would find nothing.
func (c *optionCompiler) someOrNone(option string, names []string) {
	if names != nil && len(names) == 0 {
		c.wrong = append(c.wrong, fmt.Errorf("option %s: an empty list finds no link; leave it out for the default", option))
	}
}

// extensions keeps the difference between no list and an empty one.
func (c *optionCompiler) extensions(option string, endings []string) []string {
	if endings == nil {
		return nil
	}
	lower := make([]string, 0, len(endings))
	for _, e := range endings {
		if e == "" || strings.HasPrefix(e, ".") || strings.Contains(e, "/") {
			c.blame(option, e, "no ending of a file name; want one without a dot in front, such as pdf")
			continue
		}
		lower = append(lower, strings.ToLower(e))
	}
	return lower
}
