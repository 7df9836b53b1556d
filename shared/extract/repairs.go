package extract

import (
	"bytes"
	"hash/maphash"
)

const (
	// maxRepairs bounds the elements that a parser makes of formatting
	// elements which are not closed: it opens them anew in each block.
	maxRepairs = 500_000

	// maxOpenElements is how many elements html.Parse keeps open.
	maxOpenElements = 512

	// maxEqual is how many equal formatting elements it opens anew. Source:
	// HTML Standard, "Noah's Ark clause".
	maxEqual = 3

	// maxSafeTags is how many elements may begin inside a formatting element
	// whose end tag surely closes it: a parser goes through eight blocks at
	// most, and leaves the element open in the next.
	maxSafeTags = 7

	// maxComparedTag is the longest tag in bytes that is compared with others.
	maxComparedTag = 256
)

// needsManyRepairs reports whether a parser might make more than 500,000
// elements of a page's formatting elements. It may say so of a page of which a
// parser would make fewer, and never overlooks one.
func needsManyRepairs(body []byte, tags int) bool {
	if tags*maxOpenElements <= maxRepairs {
		return false
	}
	all := repairs{seed: maphash.MakeSeed(), times: make(map[uint64]int)}
	all.read(body)
	if all.made <= maxRepairs {
		return false
	}
	closed := repairs{seed: all.seed, times: make(map[uint64]int), closes: true}
	closed.read(body)
	return closed.made > maxRepairs
}

// A repairs counts the formatting elements that a parser might have in its list
// of active ones, and how many it opens anew. Each "<" with a name is taken for
// a tag, wherever it stands. With closes, an end tag counts if it surely takes
// its element off the list.
type repairs struct {
	seed   maphash.Seed
	closes bool

	open  int            // elements, equal ones up to maxEqual
	link  bool           // one of them is a link
	times map[uint64]int // how often each is open, by the hash of its tag
	made  int

	// stacks are the open elements of each name since the last barrier. What
	// began before one stays open: behind a table, say, an end tag may be one
	// of a cell, which closes nothing outside.
	stacks [len(formatting)][]openFormatting
	starts int // of other elements
}

type openFormatting struct {
	hash   uint64
	starts int
}

func (r *repairs) read(body []byte) {
	for at := 0; ; {
		i := bytes.IndexByte(body[at:], '<')
		if i < 0 || at+i+2 >= len(body) {
			return
		}
		at += i + 1
		rest := body[at:]
		closes := rest[0] == '/'
		if closes {
			rest = rest[1:]
		}
		if !isLetter(rest[0]) {
			if closes || rest[0] == '!' || rest[0] == '?' {
				r.barrier() // a comment, or the like
			}
			continue
		}
		f := formattingIndex(rest)
		switch {
		case closes:
			if f >= 0 {
				r.end(f)
			}
			if r.closes {
				r.tag(rest)
			}
		case f >= 0:
			r.start(f, rest)
			if f != linkIndex && f != nobrIndex {
				continue // it takes no element off the stack, so that none is opened anew
			}
		case r.closes:
			r.starts++
			if hidesEnds(rest) {
				r.barrier()
			} else {
				r.tag(rest)
			}
		}
		r.made += min(r.open, maxOpenElements)
		if r.made > maxRepairs {
			return
		}
	}
}

// start notes a formatting element. A link ends the one before, so that one is
// open at most.
func (r *repairs) start(f int, tag []byte) {
	if f == linkIndex {
		if r.closes {
			r.tag(tag)
		}
		if !r.link {
			r.link = true
			r.open++
		}
		return
	}
	text, ok := r.tag(tag)
	if !ok {
		r.open++
		return
	}
	hash := maphash.Bytes(r.seed, text)
	if r.times[hash]++; r.times[hash] <= maxEqual {
		r.open++
	}
	if r.closes {
		r.stacks[f] = append(r.stacks[f], openFormatting{hash, r.starts})
	}
}

func (r *repairs) end(f int) {
	last := len(r.stacks[f]) - 1
	if last < 0 {
		return
	}
	e := r.stacks[f][last]
	r.stacks[f] = r.stacks[f][:last]
	if r.starts-e.starts > maxSafeTags {
		return
	}
	if r.times[e.hash]--; r.times[e.hash] < maxEqual {
		r.open--
	}
	if r.times[e.hash] == 0 {
		delete(r.times, e.hash)
	}
}

func (r *repairs) barrier() {
	for f := range r.stacks {
		r.stacks[f] = r.stacks[f][:0]
	}
}

// tag returns a tag without its end, and false if it is long or may have markup
// in a value. Such a tag is a barrier, as what looks like an end tag in it is
// none.
func (r *repairs) tag(rest []byte) ([]byte, bool) {
	rest = rest[:min(len(rest), maxComparedTag)]
	end := bytes.IndexByte(rest, '>')
	if end < 0 || bytes.IndexByte(rest[:end], '"') >= 0 || bytes.IndexByte(rest[:end], '\'') >= 0 {
		s := metaScanner{body: rest}
		s.skip(func(c byte) bool { return !isSpace(c) && c != '/' && c != '>' })
		for ok := true; ok; {
			_, _, ok = s.rawAttribute()
		}
		end = s.at
	}
	if end == len(rest) || bytes.IndexByte(rest[:end], '<') >= 0 {
		r.barrier()
		return nil, false
	}
	return rest[:end], true
}

// formatting are the elements that a parser opens anew in the next block if
// they were not closed in the last. Source: HTML Standard, "The list of active
// formatting elements".
var formatting = [...]string{"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}

// linkIndex and nobrIndex are those of a and nobr, which end another.
const (
	linkIndex = 0
	nobrIndex = 7
)

func formattingIndex(tag []byte) int {
	switch tag[0] | 0x20 {
	case 'a', 'b', 'c', 'e', 'f', 'i', 'n', 's', 't', 'u':
	default:
		return -1
	}
	return nameIndex(tag, formatting[:])
}

// endHiders are the elements in which an end tag may close nothing outside:
// those that bound the scope of an element, and those whose content is read by
// other rules. Source: HTML Standard, "The stack of open elements".
var endHiders = [...]string{
	"annotation-xml", "applet", "caption", "desc", "foreignobject", "frameset", "html", "iframe", "marquee", "math",
	"mi", "mn", "mo", "ms", "mtext", "noembed", "noframes", "noscript", "object", "plaintext", "script", "select",
	"style", "svg", "table", "td", "template", "textarea", "th", "title", "xmp",
}

func hidesEnds(tag []byte) bool { return nameIndex(tag, endHiders[:]) >= 0 }

// nameIndex is the index of a tag's name in a list, -1 if it is not there.
func nameIndex(tag []byte, names []string) int {
	n := 0
	for n < len(tag) && n < 15 && !isSpace(tag[n]) && tag[n] != '/' && tag[n] != '>' {
		n++
	}
	for i, name := range names {
		if len(name) == n && bytes.EqualFold(tag[:n], []byte(name)) {
			return i
		}
	}
	return -1
}
