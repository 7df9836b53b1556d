package sitemap

import (
	"strings"

	"github.com/skitterhq/skitter/shared/extract/xmltoken"
	"github.com/skitterhq/skitter/shared/weburl"
)

// openXML finds the root element, and by its name the kind.
func (s *source) openXML() {
	s.xml = xmltoken.NewReader(s.text)
	for {
		switch s.xml.Next() {
		case xmltoken.EOF:
			return
		case xmltoken.Start:
			switch strings.ToLower(s.xml.Name().Local) {
			case "urlset":
				s.kind = URLSet
			case "sitemapindex":
				s.kind = Index
			case "rss", "rdf", "feed":
				s.kind = Feed
			}
			return
		}
	}
}

// maxDepth is how deep elements are told apart. Further in is nothing of use.
const maxDepth = 64

// maxAlternates bounds those of one entry; there are fewer languages.
const maxAlternates = 1000

// A reading is the state of reading XML: the open elements, and the entry and
// the field of it that is being read.
type reading struct {
	*source
	give func(Entry) bool

	open   []string // local names; the root is the first
	deeper int      // how many are open beyond maxDepth

	at    int           // where in open the entry is; 0 for none
	name  xmltoken.Name // of the entry's element
	base  weburl.URL    // of the entry
	entry Entry
	guid  string // the address to take if there is no other

	field   string // the field being read, in small letters; "" for none
	foreign bool   // its prefix is another than the entry's
	value   []byte
}

func (s *source) readXML(give func(Entry) bool) error {
	r := reading{source: s, give: give, open: []string{s.xml.Name().Local}}
	s.base = s.rebased(s.base)
	more := true
	for more {
		switch s.xml.Next() {
		case xmltoken.EOF:
			r.field = "" // it may lack its end
			if !r.finish() {
				return errStopped
			}
			return s.xml.Err()
		case xmltoken.Start:
			more = r.start(s.xml.Name())
		case xmltoken.End:
			more = r.end(s.xml.Name().Local)
		case xmltoken.Text:
			if r.field != "" && len(r.value) <= maxLoc {
				r.value = append(r.value, s.xml.Data()...)
			}
		}
	}
	return errStopped
}

// rebased is a base after the xml:base of the element just given.
func (s *source) rebased(base weburl.URL) weburl.URL {
	for _, a := range s.xml.Attrs() {
		if a.Name.Prefix == "xml" && a.Name.Local == "base" {
			if u, err := weburl.Parse(resolve(base, a.Value)); err == nil {
				return u
			}
		}
	}
	return base
}

func (r *reading) isEntry(local string) bool {
	switch r.kind {
	case URLSet:
		return local == "url"
	case Index:
		return local == "sitemap"
	default:
		return local == "item" || local == "entry"
	}
}

func (r *reading) start(name xmltoken.Name) bool {
	switch {
	case r.isEntry(name.Local) && (r.at == 0 || name == r.name):
		if r.at > 0 { // the one before lacks its end
			r.open, r.deeper = r.open[:r.at], 0
			if !r.finish() {
				return false
			}
		}
		if len(r.open) < maxDepth {
			r.at, r.name, r.base = len(r.open), name, r.rebased(r.source.base)
			r.guid, _ = r.xml.Attr("about") // of RDF
		}
	case r.at > 0 && len(r.open) == r.at+1:
		r.startField(name)
	}
	if len(r.open) < maxDepth {
		r.open = append(r.open, name.Local)
	} else {
		r.deeper++
	}
	return true
}

func (r *reading) end(local string) bool {
	if r.deeper > 0 {
		r.deeper--
		return true
	}
	for i := len(r.open) - 1; i >= 0; i-- {
		if r.open[i] != local {
			continue
		}
		r.open = r.open[:max(i, 1)] // some close the root too early
		if r.at > 0 && i <= r.at+1 {
			r.endField()
		}
		return r.at == 0 || i > r.at || r.finish()
	}
	return true
}

// finish gives the entry that is open, if it has an address.
func (r *reading) finish() bool {
	if r.at == 0 {
		return true
	}
	r.endField()
	e := r.entry
	if e.Loc == "" && startsWithURL([]byte(r.guid)) {
		e.Loc = resolve(r.base, r.guid)
	}
	r.at, r.entry = 0, Entry{}
	return e.Loc == "" || r.give(e)
}

// startField reads what a field has in its tag, and notes whether its text is
// wanted.
func (r *reading) startField(name xmltoken.Name) {
	r.value, r.foreign = r.value[:0], name.Prefix != r.name.Prefix
	local := strings.ToLower(name.Local)
	switch local {
	case "link":
		if href, ok := r.xml.Attr("href"); ok {
			r.link(href)
			return
		}
	case "guid":
		if permanent, ok := r.xml.Attr("isPermaLink"); ok && strings.TrimSpace(permanent) == "false" {
			return
		}
	}
	r.field = local
}

// link takes a link of Atom, or an alternate of a sitemap's entry.
func (r *reading) link(href string) {
	if rel, ok := r.xml.Attr("rel"); ok && !hasWord(rel, "alternate") {
		return
	}
	href = resolve(r.base, href)
	switch {
	case href == "":
	case r.kind == Feed:
		if r.entry.Loc == "" {
			r.entry.Loc = href
		}
	case len(r.entry.Alternates) < maxAlternates:
		lang, _ := r.xml.Attr("hreflang")
		r.entry.Alternates = append(r.entry.Alternates, Alternate{Lang: strings.TrimSpace(lang), Href: href})
	}
}

// endField takes the text of the field that is open.
func (r *reading) endField() {
	field, text := r.field, strings.TrimSpace(string(r.value))
	r.field = ""
	if field == "" || text == "" || len(r.value) > maxLoc {
		return
	}
	set := func(value *string, text string) {
		if *value == "" || !r.foreign {
			*value = text
		}
	}
	if r.kind != Feed {
		switch field {
		case "loc":
			set(&r.entry.Loc, resolve(r.base, text))
		case "lastmod":
			set(&r.entry.LastMod, text)
		case "changefreq":
			set(&r.entry.ChangeFreq, text)
		case "priority":
			set(&r.entry.Priority, text)
		}
		return
	}
	switch field {
	case "link":
		set(&r.entry.Loc, resolve(r.base, text))
	case "guid":
		r.guid = text
	case "updated", "modified":
		set(&r.entry.LastMod, text)
	case "pubdate", "published", "issued", "date":
		if r.entry.LastMod == "" {
			r.entry.LastMod = text
		}
	}
}

// hasWord finds a word in a list of words.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}
