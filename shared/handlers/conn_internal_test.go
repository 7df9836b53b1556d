package handlers

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/iotest"
)

// The filter stands between a socket and net/http, where no test from outside
// can cut the bytes at every place, so these are from inside.

// A cutConn is a connection whose bytes come in pieces.
type cutConn struct {
	net.Conn
	data []byte
	cut  int
}

func (c *cutConn) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.data[:min(len(c.data), c.cut)])
	c.data = c.data[n:]
	return n, nil
}

func filtered(data []byte, cut int) *conn {
	c := &conn{Conn: &cutConn{data: data, cut: max(cut, 1)}, link: new(link)}
	c.expect()
	return c
}

// FuzzHead gives any bytes in any pieces to the filter. What net/http takes as
// it is comes out as it was; and whatever comes, the way it is cut makes no
// difference.
func FuzzHead(f *testing.F) {
	for _, raw := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n c\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\n\nhello",
		"\r\nICY 200 OK\r\nnonsense\r\n folded\r\nX : \x01\r\nContent-Length: 5, 5\r\n\r\nhello",
		"HTTP/1 200\r\nTransfer-Encoding: identity\r\nContent-Length: x\r\n\r\r\n",
		"HTTP/1.0 302 Found\r\nLocation: /\r\n",
		"SSH-2.0-OpenSSH_9\r\n",
	} {
		f.Add([]byte(raw), 3, 4096)
	}
	f.Fuzz(func(t *testing.T, raw []byte, cut, size int) {
		size = min(max(size, 1), 64<<10)
		whole, err := io.ReadAll(filtered(raw, len(raw)))
		if err != nil && !errors.Is(err, errHeadTooLarge) {
			t.Fatal(err)
		}
		c := filtered(raw, cut)
		pieces, cutErr := io.ReadAll(bufio.NewReaderSize(readerOnly{c}, max(size, 16)))
		if !errors.Is(cutErr, err) || err == nil && !bytes.Equal(whole, pieces) {
			t.Errorf("at once %q, %v; in pieces %q, %v", whole, err, pieces, cutErr)
		}
		if cap(c.held) > 4*MaxHeaderBytes {
			t.Errorf("%d bytes are held", cap(c.held))
		}
		// But for a last line without end, what is not odd comes out as it was.
		if plain := filtered(raw, len(raw)); err == nil {
			out, _ := io.ReadAll(plain)
			odd := plain.odd.Load() != 0 || plain.head.odd != 0
			rest, same := bytes.CutPrefix(raw, out)
			if !odd && (!same || bytes.IndexByte(rest, '\n') >= 0) {
				t.Errorf("nothing is odd, and yet %q became %q", raw, out)
			}
		}
	})
}

type readerOnly struct{ io.Reader }

func TestAnOrdinaryHeadCostsNoMemory(t *testing.T) {
	raw := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 5\r\nServer: nginx\r\n" +
		"Transfer-Encoding: chunked\r\nCache-Control: no-cache\r\nDate: Tue, 01 Dec 2026 00:00:00 GMT\r\n\r\nhello")
	socket := &cutConn{cut: len(raw)}
	c := &conn{Conn: socket, link: new(link)}
	p := make([]byte, 4096)
	if n := testing.AllocsPerRun(100, func() {
		socket.data = raw
		c.expect()
		if n, err := c.Read(p); n != len(raw) || err != nil {
			t.Fatal(n, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A body may look like anything, and is left alone.
func TestBytesThatAreNoHeadPassUntouched(t *testing.T) {
	body := "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"
	raw := "HTTP/1.1 200 OK\r\n\r\n" + body
	for cut := 1; cut <= len(raw); cut++ {
		c := filtered([]byte(raw), cut)
		if got, err := io.ReadAll(iotest.OneByteReader(c)); string(got) != raw || err != nil {
			t.Fatalf("cut %d: %q, %v", cut, got, err)
		}
	}
	c := &conn{Conn: &cutConn{data: []byte(body), cut: 7}, link: new(link)}
	if got, err := io.ReadAll(c); string(got) != body || err != nil {
		t.Errorf("where none is expected: %q, %v", got, err)
	}
}

func BenchmarkHead(b *testing.B) {
	raw := []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n" + strings.Repeat("X-Some-Header: with a value of some length; max-age=300\r\n", 15) + "\r\nhello")
	socket := &cutConn{cut: len(raw)}
	c := &conn{Conn: socket, link: new(link)}
	p := make([]byte, 4096)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		socket.data = raw
		c.expect()
		c.Read(p)
	}
}

// net/http may hold bytes that came after the last answer, and take them for the
// next one before it sees that nobody asked.
func TestAnAnswerThatWasThereBeforeIsStale(t *testing.T) {
	for name, test := range map[string]struct {
		read bool
		want bool
	}{
		"read after it was asked for": {true, false},
		"there before":                {false, true},
	} {
		socket, other := net.Pipe()
		defer other.Close()
		c := &conn{Conn: &cutConn{Conn: socket, data: []byte("HTTP/1.1 200 OK\r\n\r\n"), cut: 100}, link: new(link)}
		e := new(exchange)
		e.gotConn(httptrace.GotConnInfo{Conn: c, Reused: true})
		if test.read {
			c.Read(make([]byte, 100))
		}
		e.gotFirstByte()
		if got := e.isStale(); got != test.want {
			t.Errorf("%s: stale is %v", name, got)
			continue
		}
		if !test.want {
			socket.Close()
			continue
		}
		if _, err := socket.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: the connection is not closed: %v", name, err)
		}
	}
}
