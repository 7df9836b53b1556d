package loader

import (
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	xhtml "golang.org/x/net/html"
)

// Strip cuts white space off at both ends of texts, or in its place the
// characters given.
func Strip(characters ...string) Processor {
	cut := strings.Join(characters, "")
	return Text("strip", func(s string) string {
		if cut == "" {
			return strings.TrimSpace(s)
		}
		return strings.Trim(s, cut)
	})
}

// NormalizeSpace makes each run of white space one blank, and cuts it off at
// both ends.
func NormalizeSpace() Processor {
	return Text("normalize_space", func(s string) string {
		return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	})
}

// Lower makes texts lower case.
func Lower() Processor { return Text("lower", strings.ToLower) }

// Upper makes texts upper case.
func Upper() Processor { return Text("upper", strings.ToUpper) }

// Replace replaces each old text in a text by a new one.
func Replace(old, with string) Processor {
	if old == "" {
		return broken("replace", errors.New(`"old" is empty; name the text that is to be replaced`))
	}
	return Text("replace", func(s string) string { return strings.ReplaceAll(s, old, with) })
}

// ReplaceRe replaces each match of a regular expression (Go's, RE2). In the
// replacement, $1 or ${1} is what the first group matched, ${name} a named one,
// $$ a dollar sign.
func ReplaceRe(pattern, with string) Processor {
	re, err := compileRe(pattern)
	if err != nil {
		return broken("replace_re", err)
	}
	return Text("replace_re", func(s string) string { return re.ReplaceAllString(s, with) })
}

// Re takes the matches of a regular expression (Go's, RE2) out of texts, as
// Scrapy's re= does. A pattern with a group named extract gives what the group
// matched first; one with groups gives what each group matched, of all matches;
// one without gives the matches. Entities are replaced in what is given, except
// &lt; and &amp;. What does not match is left out.
func Re(pattern string) Processor {
	re, err := compileRe(pattern)
	if err != nil {
		return broken("re", err)
	}
	return Parse("re", func(s string) ([]any, error) { return matches(re, s), nil })
}

func matches(re *regexp.Regexp, s string) []any {
	found := []any{}
	add := func(s string) { found = append(found, replaceEntities(s)) }
	if g := re.SubexpIndex("extract"); g > 0 {
		if m := re.FindStringSubmatchIndex(s); m != nil && m[2*g] >= 0 {
			add(s[m[2*g]:m[2*g+1]])
		}
		return found
	}
	for _, m := range re.FindAllStringSubmatch(s, -1) {
		if len(m) > 1 {
			m = m[1:]
		}
		for _, part := range m {
			add(part)
		}
	}
	return found
}

func compileRe(pattern string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("regular expression %q: %w (patterns are Go's: no lookahead, no backreferences)", pattern, err)
	}
	return re, nil
}

// keptEntities are those that would make other markup of a text.
var keptEntities = strings.NewReplacer("&lt;", "&amp;lt;", "&amp;", "&amp;amp;")

func replaceEntities(s string) string { return html.UnescapeString(keptEntities.Replace(s)) }

// ReplaceEntities replaces all entities, such as &eacute; and &#233;, by their
// characters.
func ReplaceEntities() Processor { return Text("replace_entities", html.UnescapeString) }

// RemoveTags takes the tags and comments out of HTML and leaves the text
// between them as it is; see [ReplaceEntities] and [NormalizeSpace] for the
// rest. With names it removes these tags only, and no comments.
func RemoveTags(names ...string) Processor {
	wanted := make([]string, len(names))
	for i, name := range names {
		wanted[i] = strings.ToLower(name)
	}
	return Text("remove_tags", func(s string) string {
		if !strings.Contains(s, "<") {
			return s
		}
		var b strings.Builder
		z := xhtml.NewTokenizer(strings.NewReader(s))
		for {
			kind := z.Next()
			if kind == xhtml.ErrorToken {
				return b.String()
			}
			raw := string(z.Raw())
			if kind == xhtml.TextToken || (len(wanted) > 0 && !isTagOf(z, kind, wanted)) {
				b.WriteString(raw)
			}
		}
	})
}

func isTagOf(z *xhtml.Tokenizer, kind xhtml.TokenType, names []string) bool {
	switch kind {
	case xhtml.StartTagToken, xhtml.EndTagToken, xhtml.SelfClosingTagToken:
		name, _ := z.TagName()
		return slices.Contains(names, string(name))
	}
	return false
}

// AbsoluteURL resolves addresses against the page's base: its <base href> or
// its own address. A text that is no address is an error.
func AbsoluteURL() Processor {
	return ForEach("absolute_url", func(c *Context, value any) (any, error) {
		if value == nil {
			return nil, nil
		}
		ref, err := textOf(value)
		if err != nil {
			return nil, err
		}
		doc := c.Document()
		if doc == nil {
			return nil, errors.New("there is no page to resolve against; make the loader with the page")
		}
		u, err := doc.Resolve(ref)
		if err != nil {
			return nil, err
		}
		return u.String(), nil
	})
}
