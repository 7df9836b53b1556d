package extract

import (
	"html"
	"regexp"
	"strings"
)

// A pattern is a regular expression of [Selection.Re].
type pattern struct {
	regexp  *regexp.Regexp
	extract int // the group of that name, 0 if there is none
}

func compilePattern(text string) (*pattern, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, &SelectorError{Language: "re", Selector: text, Err: err}
	}
	return &pattern{re, max(re.SubexpIndex("extract"), 0)}, nil
}

// Re applies a regular expression to all that was selected, each as
// [Selection.Get] gives it, and returns, as in Scrapy:
//
//   - what the group named extract matches first, if there is one,
//   - else what all the groups match, one after the other, each time that the
//     expression matches,
//   - else each whole match.
//
// Entities of HTML are replaced by their characters, save &lt; and &amp;. The
// syntax is Go's (https://golang.org/s/re2syntax), which has no look-around and
// no back-references. An expression that is wrong finds nothing, and fails the
// page like a selector that is wrong.
func (s Selection) Re(expression string) []string {
	found := []string{}
	s.matches(expression, func(text string) bool {
		found = append(found, text)
		return true
	})
	return found
}

// Re applies a regular expression to the page's text as it came, markup and all;
// see [Selection.Re].
func (d *Document) Re(expression string) []string {
	found := []string{}
	p, err := patterns.get(expression, func() (*pattern, error) { return compilePattern(expression) })
	if err != nil {
		d.blame(err)
		return found
	}
	p.apply(d.Text(), func(text string) bool {
		found = append(found, text)
		return true
	})
	return found
}

// ReFirst returns the first of what Re finds, "" if it finds nothing.
func (s Selection) ReFirst(expression string) string { return s.ReFirstOr(expression, "") }

// ReFirstOr is ReFirst with another value for nothing.
func (s Selection) ReFirstOr(expression, missing string) string {
	s.matches(expression, func(text string) bool {
		missing = text
		return false
	})
	return missing
}

func (s Selection) matches(expression string, yield func(string) bool) {
	if s.doc == nil {
		return
	}
	p, err := patterns.get(expression, func() (*pattern, error) { return compilePattern(expression) })
	if err != nil {
		s.doc.blame(err)
		return
	}
	for _, h := range s.hits {
		if !p.apply(h.text(), yield) {
			return
		}
	}
}

// apply gives what the pattern finds in a text, until yield returns false.
func (p *pattern) apply(text string, yield func(string) bool) bool {
	most := -1
	if p.extract > 0 {
		most = 1
	}
	for _, m := range p.regexp.FindAllStringSubmatchIndex(text, most) {
		first, last := 0, 0
		switch {
		case p.extract > 0:
			if m[2*p.extract] < 0 {
				continue // the group took no part in the match
			}
			first, last = p.extract, p.extract
		case len(m) > 2:
			first, last = 1, len(m)/2-1
		}
		for g := first; g <= last; g++ {
			part := ""
			if m[2*g] >= 0 {
				part = text[m[2*g]:m[2*g+1]]
			}
			if !yield(replaceEntities(part)) {
				return false
			}
		}
	}
	return true
}

var entity = regexp.MustCompile(`(?i)&(?:([a-z\d]+)|#\d+|#x[a-f\d]+)(;?)`)

// replaceEntities replaces the entities of HTML, save &lt; and &amp;, without
// which what is left could not be told from markup. An unknown one is dropped
// if it ends in a semicolon, as w3lib's replace_entities does.
func replaceEntities(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	return entity.ReplaceAllStringFunc(s, func(e string) string {
		name := strings.ToLower(strings.Trim(e, "&;"))
		if name == "lt" || name == "amp" {
			return e
		}
		closed := strings.TrimSuffix(e, ";") + ";"
		for _, form := range []string{closed, strings.ToLower(closed)} {
			if text := html.UnescapeString(form); text == ";" || text != form && !strings.HasSuffix(text, ";") {
				return text
			}
		}
		if strings.HasSuffix(e, ";") {
			return ""
		}
		return e
	})
}
