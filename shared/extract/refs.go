package extract

import (
	"fmt"

	"golang.org/x/net/html"
)

// Refs returns the addresses that a selection names, as they stand on the page:
// of the elements a, area and link their href, of texts, attributes and JSON
// values their value. An element of these without href names none, and neither
// does JSON's null. Another element is an error, and the other addresses are
// there beside it.
func (s Selection) Refs() ([]string, error) {
	var wrong error
	refs := make([]string, 0, len(s.hits))
	for _, h := range s.hits {
		switch {
		case h.isMissing():
		case !h.isNode() || h.node.Type != html.ElementNode:
			refs = append(refs, h.text())
		case h.node.Data == "a", h.node.Data == "area", h.node.Data == "link":
			if href, found := attribute(h.node, "href"); found {
				refs = append(refs, href)
			}
		case wrong == nil:
			wrong = fmt.Errorf("an element <%s> has no address to follow: select a, area or link, or an attribute as in %s::attr(href)", h.node.Data, h.node.Data)
		}
	}
	return refs, wrong
}
