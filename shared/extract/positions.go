package extract

import "golang.org/x/net/html"

// A memory is what one run of a selector over a tree, which does not change
// meanwhile, remembers of it. A nil one remembers nothing.
type memory struct {
	seen     siblings // nil if siblings are not asked in the document's order
	numbered *numbering
}

// A numbering has the elements whose positions are known.
type numbering struct {
	parents   map[*html.Node]bool
	positions map[*html.Node]positions
	looked    int // at how many nodes it took
}

// positions are an element's places among its siblings, from 1: from the first
// and from the last of all, and of those of its name.
type positions struct{ child, ofType [2]int32 }

func newMemory() *memory { return &memory{numbered: &numbering{}} }

// siblings are those that were asked, nil if none are remembered.
func (m *memory) siblings() siblings {
	if m == nil {
		return nil
	}
	return m.seen
}

// unordered is the memory for what is not asked in the document's order.
func (m *memory) unordered() *memory {
	if m == nil || m.seen == nil {
		return m
	}
	return &memory{numbered: m.numbered}
}

// position is an element's place among its siblings, from 1: from the last with
// last, among those of its name with ofType. It is false for what has none.
func (m *memory) position(n *html.Node, last, ofType bool) (int, bool) {
	switch {
	case n.Type != html.ElementNode || n.Parent == nil:
		return 0, false
	case m == nil:
		at, _ := countSiblings(n, last, ofType, maxInt)
		return at, true
	case !m.numbered.parents[n.Parent]:
		at, looked := countSiblings(n, last, ofType, fewSiblings)
		m.numbered.looked += looked
		if looked < fewSiblings {
			return at, true
		}
		m.numbered.number(n.Parent)
	}
	p := m.numbered.positions[n]
	places := p.child
	if ofType {
		places = p.ofType
	}
	if last {
		return int(places[1]), true
	}
	return int(places[0]), true
}

const (
	// fewSiblings is at how many nodes a position is counted anew.
	fewSiblings = 32

	maxInt = int(^uint(0) >> 1)
)

// countSiblings counts an element and its siblings on one side of it, and looks
// at no more nodes than that.
func countSiblings(n *html.Node, last, ofType bool, most int) (at, looked int) {
	for s := n; s != nil && looked < most; looked++ {
		if s.Type == html.ElementNode && (!ofType || s.Data == n.Data) {
			at++
		}
		if last {
			s = s.NextSibling
		} else {
			s = s.PrevSibling
		}
	}
	return at, looked
}

// number notes the positions of all children of an element.
func (m *numbering) number(parent *html.Node) {
	if m.parents == nil {
		m.parents, m.positions = make(map[*html.Node]bool), make(map[*html.Node]positions)
	}
	m.parents[parent] = true
	for side := range 2 {
		all, names := int32(0), make(map[string]int32)
		count := func(n *html.Node) {
			if m.looked++; n.Type != html.ElementNode {
				return
			}
			all++
			names[n.Data]++
			p := m.positions[n]
			p.child[side], p.ofType[side] = all, names[n.Data]
			m.positions[n] = p
		}
		if side == 0 {
			for n := parent.FirstChild; n != nil; n = n.NextSibling {
				count(n)
			}
			continue
		}
		for n := parent.LastChild; n != nil; n = n.PrevSibling {
			count(n)
		}
	}
}
