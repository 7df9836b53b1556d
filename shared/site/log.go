package site

import (
	"slices"
	"time"
)

// LogLimit is how many requests the log holds. A newer one takes the place of
// the oldest.
const LogLimit = 65536

// An Entry is one request in the log. Of each string it keeps 256 bytes.
type Entry struct {
	// Start is when the request came, End when its answer was ready to leave.
	// A client cannot hold the whole answer before End. While the request is
	// being served, End is zero.
	Start, End time.Time

	Method    string
	Host      string // as the client named it, in lower case, with the port
	Path      string
	Query     string // without the question mark
	UserAgent string

	// Status is 0 while the request is being served, and for good if the
	// client went away before there was an answer.
	Status int
}

// Log returns the requests since the site was made or reset, in the order in
// which they came, but not more than the last LogLimit.
func (s *Site) Log() []Entry { return s.visits.entries() }

// A ring holds the last entries, numbered from first on. It needs a lock
// around it.
type ring struct {
	limit       int
	first, next uint64  // next is the number the next entry gets
	entries     []Entry // number i at (i-first) % limit
}

// add returns the number of the new entry.
func (l *ring) add(e Entry) uint64 {
	number := l.next
	l.next++
	if len(l.entries) < l.limit {
		l.entries = append(l.entries, e)
	} else {
		*l.at(number) = e
	}
	return number
}

// at returns an entry that holds knows.
func (l *ring) at(number uint64) *Entry {
	return &l.entries[(number-l.first)%uint64(l.limit)]
}

// holds reports whether the entry is there still.
func (l *ring) holds(number uint64) bool {
	return number >= l.first && l.next-number <= uint64(l.limit)
}

// all returns a copy of the entries, oldest first.
func (l *ring) all() []Entry {
	oldest := 0
	if len(l.entries) == l.limit {
		oldest = int((l.next - l.first) % uint64(l.limit))
	}
	return slices.Concat(l.entries[oldest:], l.entries[:oldest])
}

// empty forgets the entries. Numbers go on, so that those given out stay
// different from those to come.
func (l *ring) empty() {
	l.first = l.next
	l.entries = nil
}
