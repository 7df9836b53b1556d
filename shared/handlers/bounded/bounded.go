// Package bounded reads bodies whose length nobody knows into memory, up to a
// limit, over buffers that are used again.
package bounded

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
)

const (
	// Buffers start at this size, that of most pages as they are sent.
	firstBuffer = 64 << 10
	// Buffers up to this size are kept, so that one large page does not stay
	// in memory for good.
	largestKept = 1 << 20
)

// ErrTooLarge says that there is more than the limit.
var ErrTooLarge = errors.New("more than the limit")

// A Pool holds the buffers. The zero Pool is ready; it is safe for concurrent
// use.
type Pool struct {
	buffers sync.Pool // of *[]byte
}

// ReadAll reads r to its end. A limit of 0 means none; beyond it, ReadAll stops
// with [ErrTooLarge] after at most one buffer more. With any error come the
// bytes that were read before it. They belong to the caller.
func (p *Pool) ReadAll(r io.Reader, limit int64) ([]byte, error) {
	kept, _ := p.buffers.Get().(*[]byte)
	if kept == nil {
		buf := make([]byte, 0, firstBuffer)
		kept = &buf
	}
	buf, err := appendAll((*kept)[:0], r, limit)
	if cap(buf) > largestKept {
		// Too large to be kept, so the caller may have it, if little of it
		// is empty.
		if len(buf) > cap(buf)/2 {
			return buf, err
		}
		return bytes.Clone(buf), err
	}
	body := bytes.Clone(buf)
	*kept = buf
	p.buffers.Put(kept)
	return body, err
}

func appendAll(buf []byte, r io.Reader, limit int64) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			more := len(buf)
			if limit > 0 {
				more = int(min(int64(more), limit+1-int64(len(buf))))
			}
			buf = slices.Grow(buf, more)
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if limit > 0 && int64(len(buf)) > limit {
			return buf, ErrTooLarge
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}
