package extract

import (
	"strings"
	"testing"
)

func TestPositionsOfManySiblingsAreCountedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without the race detector does it")
	}
	const rows = 60_000
	d := NewDocument([]byte("<table>"+strings.Repeat("<tr><td>x", rows)+"</table>"), "text/html", "")
	for selector, want := range map[string]int{
		"tr:nth-child(2)":                  1,
		"tr:nth-child(50000)":              1,
		"tr:nth-child(odd)":                rows / 2,
		"tr:nth-last-child(3)":             1,
		"tr:nth-of-type(2n)":               rows / 2,
		"tr:nth-last-of-type(50000)":       1,
		"tr:not(:nth-child(2n))":           rows / 2,
		"tr:is(:first-child, :only-child)": 1,
		"tr:nth-child(3) ~ tr":             rows - 3,
	} {
		t.Run(selector, func(t *testing.T) {
			q := MustCSS(selector)
			w := walker{query: q, scope: d.Root(), memory: newMemory()}
			if q.looksAtSiblings() {
				w.memory.seen = make(siblings)
			}
			w.visit(d.Root(), inherited{})
			if len(w.hits) != want {
				t.Errorf("%d are found, want %d", len(w.hits), want)
			}
			if most := 4 * rows; w.memory.numbered.looked > most {
				t.Errorf("it looks at %d nodes, want %d at most", w.memory.numbered.looked, most)
			}
		})
	}
}
