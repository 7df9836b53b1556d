package bounded_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/skitterhq/skitter/shared/handlers/bounded"
)

func TestReadAll(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name  string
		r     io.Reader
		limit int64
		want  int // bytes
		err   error
	}{
		{"nothing", strings.NewReader(""), 0, 0, nil},
		{"a page", strings.NewReader("hello"), 0, 5, nil},
		{"as much as the limit", strings.NewReader("hello"), 5, 5, nil},
		{"one more than the limit", strings.NewReader("hello!"), 5, 6, bounded.ErrTooLarge},
		{"more than a buffer", bytes.NewReader(make([]byte, 200<<10)), 0, 200 << 10, nil},
		{"more than is kept", bytes.NewReader(make([]byte, 3<<20)), 0, 3 << 20, nil},
		{"an error after some bytes", io.MultiReader(strings.NewReader("hello"), iotest.ErrReader(broken)), 0, 5, broken},
	}
	var pool bounded.Pool
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for range 2 { // the second time over a used buffer
				if seeker, ok := test.r.(io.Seeker); ok {
					seeker.Seek(0, io.SeekStart)
				}
				body, err := pool.ReadAll(test.r, test.limit)
				if len(body) != test.want || !errors.Is(err, test.err) {
					t.Errorf("%d bytes, %v; want %d, %v", len(body), err, test.want, test.err)
				}
				if _, ok := test.r.(io.Seeker); !ok {
					return
				}
			}
		})
	}
}

func TestAnEndlessReaderIsStoppedSoonAfterTheLimit(t *testing.T) {
	read := 0
	endless := readerFunc(func(p []byte) (int, error) { read += len(p); return len(p), nil })
	var pool bounded.Pool
	if _, err := pool.ReadAll(endless, 1<<20); !errors.Is(err, bounded.ErrTooLarge) {
		t.Fatal(err)
	}
	if read > 3<<20 {
		t.Errorf("%d bytes were read", read)
	}
}

func TestBytesBelongToTheCaller(t *testing.T) {
	var pool bounded.Pool
	first, _ := pool.ReadAll(strings.NewReader("first"), 0)
	pool.ReadAll(strings.NewReader("other"), 0)
	if string(first) != "first" {
		t.Errorf("the first body became %q", first)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
