package xmltoken

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// maxToken is how much of a stream is held for one token: 1 MiB. Longer text is
// given in pieces, and a longer tag is passed over.
const maxToken = 1 << 20

// firstRead is how much is read of a stream at least.
const firstRead = 32 << 10

func (r *Reader) rest() []byte { return r.buf[r.pos:] }

// has reads until n bytes are there, and reports whether they are.
func (r *Reader) has(n int) bool {
	for len(r.rest()) < n {
		if !r.fill() {
			return false
		}
	}
	return true
}

// find returns where s begins in the rest, at from or after. It is -1 if s does
// not come, or not within what is held of a stream.
func (r *Reader) find(s string, from int) int {
	for at := from; ; {
		if at < len(r.rest()) {
			if i := bytes.Index(r.rest()[at:], []byte(s)); i >= 0 {
				return at + i
			}
			at = max(from, len(r.rest())-len(s)+1)
		}
		if !r.fill() {
			return -1
		}
	}
}

// fill reads on, as much as is held already. It reports whether there
// is more than before.
func (r *Reader) fill() bool {
	held := len(r.rest())
	if r.src == nil || held >= maxToken {
		return false
	}
	want := min(max(held, firstRead), maxToken-held)
	if r.pos > 0 {
		r.buf = r.buf[:copy(r.buf, r.rest())]
		r.pos = 0
	}
	if cap(r.buf) < held+want {
		r.buf = append(make([]byte, 0, held+want), r.buf...)
	}
	r.buf = r.buf[:held+want]
	n := 0
	for empty := 0; n < want && r.src != nil; {
		m, err := r.src.Read(r.buf[held+n:])
		n += m
		if empty++; m > 0 {
			empty = 0
		}
		if err == nil && empty > maxEmptyReads {
			err = io.ErrNoProgress
		}
		if err != nil {
			r.src = nil
			if err != io.EOF {
				r.err = err
			}
		}
	}
	r.buf = r.buf[:held+n]
	return n > 0
}

// maxEmptyReads is how often a stream may give nothing, as in package bufio.
const maxEmptyReads = 100

// cutRune returns how much of b ends with a whole rune.
func cutRune(b []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		if c := b[len(b)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-back:]) {
				return len(b) - back
			}
			break
		}
	}
	return len(b)
}
