package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// A compound is what stands between two combinators. The common ones, made of a
// tag, an ID and classes, are matched here without a call through an interface.
type compound struct {
	tag     string // "" for any
	prefix  string // of the name, if hasPrefix: "" for none
	id      string // "" for any
	classes []string
	other   []condition // all but the tag; nil for the common ones

	hasPrefix bool
}

func (c *compound) match(n *html.Node, m *memory) bool {
	if c.tag != "" && c.tag != n.Data && (n.DataAtom != 0 || !strings.EqualFold(c.tag, n.Data)) {
		return false // what has no atom may be XML, whose names keep their case
	}
	if c.hasPrefix && c.prefix != n.Namespace {
		return false
	}
	for _, condition := range c.other {
		if !condition.holds(n, m) {
			return false
		}
	}
	if c.id != "" {
		if id, _ := attribute(n, "id"); id != c.id {
			return false
		}
	}
	if len(c.classes) == 0 {
		return true
	}
	value, found := attribute(n, "class")
	if !found {
		return false
	}
	for _, class := range c.classes {
		if !hasWord(value, class) {
			return false
		}
	}
	return true
}

// hasWord reports whether word is one of the words of list.
func hasWord(list, word string) bool {
	if list == word {
		return true
	}
	for at := 0; len(list)-at >= len(word); {
		i := strings.Index(list[at:], word)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(word)
		if (start == 0 || isSpace(list[start-1])) && (end == len(list) || isSpace(list[end])) {
			return true
		}
		at = start + 1
	}
	return false
}

// A verdict on an element says whether it matches, and where it does not
// whether trying another ancestor in its place could help. Without that, a
// selector of k steps takes the k-th power of the depth of a hostile page.
type verdict int

const (
	matched verdict = iota
	unmatched
	hopeless // no ancestor further up can match, either
)

// matchSteps matches the last step at n and those before it at what stands
// around n, inside scope (itself included; nil is the whole tree). With memory of
// siblings it is asked in the order of the document.
func matchSteps(steps []step, n, scope *html.Node, m *memory) verdict {
	last := len(steps) - 1
	if !steps[last].compound.match(n, m) {
		return unmatched
	}
	if last == 0 {
		return matched
	}
	before := steps[:last]
	switch steps[last].combinator {
	case ' ':
		for n != scope && n.Parent != nil && n.Parent.Type == html.ElementNode {
			n = n.Parent
			if v := matchSteps(before, n, scope, m); v != unmatched {
				return v
			}
		}
		return hopeless
	case '>':
		if n != scope && n.Parent != nil && n.Parent.Type == html.ElementNode {
			return matchSteps(before, n.Parent, scope, m)
		}
	case '+':
		if sibling := previousElement(n); n != scope && sibling != nil {
			return matchSteps(before, sibling, scope, m)
		}
	case '~':
		if n == scope {
			return unmatched
		}
		return m.siblings().before(siblingKey{n.Parent, &steps[last]}, n, func(sibling *html.Node) verdict {
			return matchSteps(before, sibling, scope, m)
		})
	}
	return unmatched
}

// siblings remembers which siblings were asked whether a selector's steps before
// a ~ match them, so that each is asked once: a hostile page has 100,000 in a
// row.
type siblings map[siblingKey]siblingState

type siblingKey struct {
	parent *html.Node
	step   *step // the one after the ~
}

type siblingState struct {
	last    *html.Node // all up to this one do not match
	decided bool
	verdict verdict
}

// before is the verdict on the siblings before n: that of the first one, going
// back, which is not just unmatched.
func (m siblings) before(key siblingKey, n *html.Node, match func(*html.Node) verdict) verdict {
	state := m[key]
	if state.decided {
		return state.verdict
	}
	nearest := previousElement(n)
	for s := nearest; s != nil && s != state.last; s = previousElement(s) {
		if v := match(s); v != unmatched {
			if m != nil {
				m[key] = siblingState{decided: true, verdict: v}
			}
			return v
		}
	}
	if m != nil {
		m[key] = siblingState{last: nearest}
	}
	return unmatched
}

func previousElement(n *html.Node) *html.Node {
	for n = n.PrevSibling; n != nil; n = n.PrevSibling {
		if n.Type == html.ElementNode {
			return n
		}
	}
	return nil
}
