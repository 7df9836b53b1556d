package sitemap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/extract/xmltoken"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A Kind says what a file is.
type Kind int

// The kinds of files.
const (
	// None is no sitemap.
	None Kind = iota
	// URLSet lists pages.
	URLSet
	// Index lists other sitemaps.
	Index
	// Text lists pages, one a line.
	Text
	// Feed is RSS or Atom, whose entries link to pages.
	Feed
)

func (k Kind) String() string {
	return [...]string{"no sitemap", "sitemap", "sitemap index", "plain-text sitemap", "feed"}[k]
}

// An Entry is a page, or in an index a sitemap.
type Entry struct {
	// Loc is the address: absolute, or as it is written where it is no URL.
	Loc string

	// LastMod is when the page changed, as it is written; see [Entry.Time].
	LastMod string

	// ChangeFreq is how often it does: always, hourly, daily, weekly, monthly,
	// yearly or never.
	ChangeFreq string

	// Priority is the page's weight on its site, from 0.0 to 1.0, as it is
	// written.
	Priority string

	// Alternates are the same page in other languages or for other devices.
	Alternates []Alternate
}

// An Alternate is another version of a page.
type Alternate struct {
	Lang string // hreflang, such as de or x-default; "" for none
	Href string // like Loc
}

// DefaultMaxSize is how much of a packed file is read: 64 MiB. The protocol
// allows 50 MB.
const DefaultMaxSize = 64 << 20

// Options say how a file came.
type Options struct {
	// URL is the file's address, which addresses in it are relative to.
	URL string

	// ContentType is the Content-Type header; it counts for the encoding.
	ContentType string

	// MaxSize limits a packed file, in bytes once unpacked. Less than zero is
	// no limit.
	//
	// Default: [DefaultMaxSize].
	MaxSize int64
}

// ErrTooLarge ends the entries of a file that unpacks to more than its limit.
var ErrTooLarge = errors.New("it unpacks to more than its limit")

// A File is a sitemap, or what may be one.
type File struct {
	// Kind says what it is.
	Kind Kind

	body    []byte
	options Options
}

// Open looks at the beginning of a file. The body must not be changed while the
// file is in use.
func Open(body []byte, o Options) *File {
	f := &File{body: body, options: o}
	s := f.open()
	f.Kind = s.kind
	return f
}

// Entries reads the entries, from the beginning each time. An error is the last
// element: the file was cut, or is too large.
func (f *File) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s := f.open()
		n := 0
		give := func(e Entry) bool {
			n++
			return yield(e, nil)
		}
		var err error
		switch s.kind {
		case None:
			return
		case Text:
			err = s.readText(give)
		default:
			err = s.readXML(give)
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Entry{}, fmt.Errorf("%s after %d entries: %w", s.kind, n, err))
		}
	}
}

// errStopped says that no more entries are wanted.
var errStopped = errors.New("stopped")

// A source is a file that is being read.
type source struct {
	kind Kind
	base weburl.URL // zero if the file's address is none
	text *bufio.Reader
	xml  *xmltoken.Reader // at the root element, which it has just given
}

// sniffed is how much of a file is looked at to tell its kind and encoding.
const sniffed = 32 << 10

func (f *File) open() *source {
	s := &source{}
	if base, err := weburl.Parse(f.options.URL); err == nil {
		s.base = base
	}
	s.text = decoded(f.unpacked(), f.options.ContentType)
	head, _ := s.text.Peek(sniffed) // an error comes again when the rest is read
	head = bytes.TrimLeft(head, " \t\r\n\ufeff")
	switch {
	case len(head) == 0:
	case head[0] == '<':
		s.openXML()
	case startsWithURL(head):
		s.kind = Text
	}
	return s
}

// unpacked is the body without gzip, as often as it was packed.
func (f *File) unpacked() io.Reader {
	var r io.Reader = bytes.NewReader(f.body)
	limit := f.options.MaxSize
	if limit == 0 {
		limit = DefaultMaxSize
	}
	for range maxPacked {
		buffered := bufio.NewReaderSize(r, 4096)
		r = buffered
		if magic, _ := buffered.Peek(3); string(magic) != "\x1f\x8b\x08" {
			break
		}
		z, err := gzip.NewReader(buffered)
		if err != nil {
			break // a header that is cut is no sitemap
		}
		r = z
		if limit > 0 {
			r = &limited{r: z, left: limit}
		}
	}
	return r
}

// maxPacked is how often a file may be packed, one within the other.
const maxPacked = 3

// decoded is a stream in UTF-8.
func decoded(r io.Reader, contentType string) *bufio.Reader {
	raw := bufio.NewReaderSize(r, sniffed)
	head, _ := raw.Peek(sniffed) // an error comes again when the rest is read
	name := extract.DetectEncoding(head, contentType)
	if name == "utf-8" {
		return raw
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		return raw
	}
	return bufio.NewReaderSize(transform.NewReader(raw, enc.NewDecoder()), sniffed)
}

// limited fails once more than what is left is read.
type limited struct {
	r    io.Reader
	left int64
}

// Read is [io.Reader]'s. Beyond the limit it fails.
func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if int64(n) > l.left {
		n = int(l.left)
		err = ErrTooLarge
	}
	l.left -= int64(n)
	return n, err
}

// resolve makes an address absolute. One that is no URL stays as it is.
func resolve(base weburl.URL, ref string) string {
	ref = strings.TrimSpace(ref)
	parse := base.Resolve
	if base.IsZero() {
		parse = weburl.Parse
	}
	u, err := parse(ref)
	if err != nil || ref == "" {
		return ref
	}
	return u.String()
}
