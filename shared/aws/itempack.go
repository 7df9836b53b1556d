package aws

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/items"
)

// mostPacked is the longest pack before compression, 64 KB: far under the
// 400 KB of a row, and little for a reader that has one unpacked. A longer
// entry is a pack of its own.
const mostPacked = 64 << 10

// entryOverhead is about what an entry takes besides its texts, in bytes.
const entryOverhead = len(crawl.UnitID{}) + 8

// size is about how long an entry is, in bytes.
func (e itemEntry) size() int {
	return entryOverhead + len(e.Run) + len(e.state) + len(e.why) + len(e.body)
}

// packItems makes a pack of entries, one or more, sorted by key: all of its
// row but the partition, the time of the Put, and that it expires.
func packItems(entries []itemEntry) record {
	first, last := entries[0].Unit, entries[len(entries)-1].Unit
	random := make([]byte, 8)
	rand.Read(random) // never fails, see crypto/rand
	pack := record{"item": asBytes(append(first[:], random...)), "u": asBytes(last[:])}
	var b []byte
	for _, e := range entries {
		b = e.append(b)
	}
	b, small := compressed(b)
	pack[packName(small)] = asBytes(b)
	return pack
}

// packName is the attribute of a pack's entries.
func packName(compressed bool) string {
	if compressed {
		return "z"
	}
	return "p"
}

// append appends an entry: its unit, its ordinal, its form, and its texts, each
// after its length. Numbers are varints.
func (e itemEntry) append(b []byte) []byte {
	b = append(b, e.Unit[:]...)
	b = binary.AppendUvarint(b, uint64(e.Ordinal))
	b = append(b, byte(e.form))
	b = appendText(b, string(e.Run))
	b = appendText(b, string(e.state))
	b = appendText(b, e.why)
	return appendText(b, e.body)
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// A pack's units and entries as they are read.
type itemPack struct {
	first, last crawl.UnitID
	put         int64
	entries     []byte
	compressed  bool
}

func readPack(r record) (itemPack, error) {
	in := reader{record: r}
	p := itemPack{put: in.number("a"), entries: in.raw("p")}
	if _, p.compressed = r["z"]; p.compressed {
		p.entries = in.raw("z")
	}
	key, last := in.raw("item"), in.raw("u")
	if in.err == nil && (len(key) < len(p.first) || len(last) != len(p.last)) {
		in.err = fmt.Errorf("the key has %d bytes, the last unit %d", len(key), len(last))
	}
	copy(p.first[:], key)
	copy(p.last[:], last)
	return p, in.err
}

// each calls f with each entry. The body is valid during the call only.
func (p itemPack) each(f func(itemEntry)) error {
	b := p.entries
	if p.compressed {
		var err error
		if b, err = decompress(b); err != nil {
			return err
		}
	}
	in := entryReader{rest: b}
	for len(in.rest) > 0 {
		e := itemEntry{put: p.put}
		copy(e.Unit[:], in.bytes(uint64(len(e.Unit))))
		e.Ordinal = int(in.number())
		e.form = itemForm(in.byte())
		e.Run = crawl.RunID(in.text())
		e.state = items.State(in.text())
		e.why = string(in.text())
		e.body = in.text()
		if in.damaged || e.Ordinal < 0 || e.form > blobItem {
			return errDamaged
		}
		f(e)
	}
	return nil
}

var errDamaged = errors.New("the pack is damaged")

// keep makes the entry's body its own.
func (e itemEntry) keep() itemEntry {
	e.body = slices.Clone(e.body)
	return e
}

// An entryReader reads what [itemEntry.append] wrote.
type entryReader struct {
	rest    []byte
	damaged bool
}

func (r *entryReader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.damaged, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *entryReader) byte() byte {
	if b := r.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *entryReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.damaged, size = true, 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *entryReader) text() []byte { return r.bytes(r.number()) }
