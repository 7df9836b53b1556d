package site

import "strings"

// vocabulary is 64 words: a power of two, as pick wants it. The first navLinks
// of them name the categories.
const vocabulary = `apple basket candle drawer easel fabric goblet hammer
	inkwell jacket kettle lantern mirror needle oilcan pillow quilt ribbon
	saucer teapot urn vase wicker yardstick zither bellows compass dustpan
	eyelet funnel gimlet hinge iron jug knob ladle mallet nutmeg ottoman
	pencil rattle spindle trivet umbrella violet whistle yarn bobbin chisel
	dowel ember flask griddle hamper ivy jasper kilim lattice marble notch
	oval parcel rafter shelf`

const (
	// textParagraphs is how many paragraphs there are to pick from, a power
	// of two, as a quarter of them then is, too.
	textParagraphs = 256

	// paragraphBytes brings a product page to about 17 KB.
	paragraphBytes = 545
)

// newParagraphs returns the paragraphs that pages are made of, as HTML. They
// have nearly the same length, so pages have, too.
func newParagraphs(words []string) []string {
	paragraphs := make([]string, textParagraphs)
	for i := range paragraphs {
		r := newRandom(i, textStream)
		var b strings.Builder
		b.WriteString(`<p class="para">It comes with`)
		for b.Len() < paragraphBytes {
			b.WriteString(" a ")
			b.WriteString(words[below(r, len(words))])
			b.WriteString(" of ")
			b.WriteString(words[below(r, len(words))])
			b.WriteByte(',')
		}
		b.WriteString(" and a box.</p>\n")
		paragraphs[i] = b.String()
	}
	return paragraphs
}
