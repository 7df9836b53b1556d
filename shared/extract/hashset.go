package extract

import "hash/maphash"

// A hashSet is a set of texts, of which it keeps hashes alone: that of one page
// with a million links needs no more than 32 MB. Two texts of such a page have
// one hash with a probability of 10^-7.
type hashSet struct {
	seed  maphash.Seed
	slots []uint64 // at most half of them used; 0 is a free one
	used  int
}

func newHashSet() *hashSet { return &hashSet{seed: maphash.MakeSeed(), slots: make([]uint64, 128)} }

// add adds a text and reports whether it is new.
func (s *hashSet) add(text string) bool {
	if 2*s.used >= len(s.slots) {
		old := s.slots
		s.slots = make([]uint64, 2*len(old))
		for _, hash := range old {
			if hash != 0 {
				s.slots[s.slot(hash)] = hash
			}
		}
	}
	hash := max(maphash.String(s.seed, text), 1)
	at := s.slot(hash)
	if s.slots[at] == hash {
		return false
	}
	s.slots[at] = hash
	s.used++
	return true
}

// slot is where a hash is, or the free place for it.
func (s *hashSet) slot(hash uint64) int {
	mask := len(s.slots) - 1
	at := int(hash) & mask
	for s.slots[at] != 0 && s.slots[at] != hash {
		at = (at + 1) & mask
	}
	return at
}
