package extract

import (
	"bytes"

	"golang.org/x/net/html"
)

// DefaultParseMaxsize is the size of body in bytes above which a page is not
// parsed: 4 MiB (PARSE_MAXSIZE).
const DefaultParseMaxsize = 4 << 20

const (
	// maxTags is how many tags a page may have that is parsed. A standard
	// parser needs about a kilobyte for each.
	maxTags = 200_000

	// maxAttributes is how many attributes it may have.
	maxAttributes = 400_000

	// countedBytes is the size above which tags and attributes are counted
	// with the tokenizer; below it they cannot fill the memory.
	countedBytes = 1 << 20
)

// LimitParse sets the size of body in bytes above which the page is read by the
// tokenizer alone; see [Document.Tokenized]. Zero sets no limit. It has no
// effect once the document has been asked for something.
//
// Default: [DefaultParseMaxsize].
func (d *Document) LimitParse(bytes int64) { d.parseMaxsize = bytes }

// Tokenized reports whether the page is too much for a parser and is read by the
// tokenizer alone. That is a page that is longer than the limit of
// [Document.LimitParse], that has more than 200,000 tags or 400,000 attributes,
// or of whose formatting elements, as far as they are not closed, a parser might
// make more than 500,000 elements. Such a page is bounded in time and memory,
// whatever stands in it:
//
//   - All of its links are found, and its base address. Where a link extractor
//     is restricted to parts of the page, those parts are selected as below.
//   - Selectors see the first 4 MiB and 200,000 tags of it, in a tree in which
//     elements nest as their tags do, without a parser's repairs.
func (d *Document) Tokenized() bool {
	if !d.sized {
		d.sized = true
		d.tokenized = !d.IsXML() && (d.parseMaxsize > 0 && int64(len(d.body)) > d.parseMaxsize || isHeavy(d.UTF8()))
	}
	return d.tokenized
}

// WasTokenized is Tokenized of a page that was read as HTML, and false for one
// that nobody has asked for elements or links.
func (d *Document) WasTokenized() bool { return d.sized && d.tokenized }

// isHeavy reports whether a parser might need much more memory for a page than
// its size lets expect.
func isHeavy(body []byte) bool {
	tags := countTags(body)
	if tags > maxTags || needsManyRepairs(body, tags) {
		return true
	}
	return len(body) > countedBytes && hasManyAttributes(body)
}

// countTags counts what may be tags. It needs a hundredth of the time of a
// parser, and finds too many rather than too few.
func countTags(body []byte) (tags int) {
	for at := 0; ; {
		i := bytes.IndexByte(body[at:], '<')
		if i < 0 || at+i+1 >= len(body) {
			return tags
		}
		at += i + 1
		if body[at] == '/' {
			if at++; at >= len(body) {
				return tags
			}
		}
		if isLetter(body[at]) {
			tags++
		}
	}
}

// hasManyAttributes counts them, with the tokenizer.
func hasManyAttributes(body []byte) bool {
	t := newTokenReader(body)
	for attributes := 0; ; {
		switch t.next() {
		case html.ErrorToken:
			return false
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, _, ok := t.attribute(); ok; _, _, ok = t.attribute() {
				if attributes++; attributes > maxAttributes {
					return true
				}
			}
		}
	}
}
