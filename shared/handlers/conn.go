package handlers

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A link is what is known of a connection since it was opened.
type link struct {
	net.Conn               // the socket; under TLS, net/http finds the link through it
	ip       string        // the address that was dialled
	dns      time.Duration // how long its opening took
	connect  time.Duration
	tls      time.Duration
	cert     *crawl.Certificate // nil without TLS
}

// A conn is a connection of HTTP/1. It hands on bytes as they are, except for
// the heads of answers, which it makes digestible for net/http (see [head]).
// When a head is due it is told by expect, as bodies may hold anything.
//
// One goroutine reads at a time, as net/http does it.
type conn struct {
	net.Conn
	link *link

	expecting atomic.Bool   // the next bytes are of a head
	fresh     atomic.Bool   // no byte of the expected answer was read yet
	odd       atomic.Uint32 // oddities of the answer

	// These are the reader's.
	head head
	held []byte // the beginning of a line that has not ended
	out  []byte // bytes that are ready
}

// expect says that a request is about to be sent on the connection.
func (c *conn) expect() {
	c.odd.Store(0)
	c.fresh.Store(true)
	c.expecting.Store(true)
}

func (c *conn) Read(p []byte) (int, error) {
	for {
		if len(c.out) > 0 {
			n := copy(p, c.out)
			if c.out = c.out[n:]; len(c.out) == 0 {
				c.out = nil
			}
			return n, nil
		}
		// Whether a head is expected is asked once the bytes are there:
		// net/http begins to read before it has sent the request.
		n, err := c.Conn.Read(p)
		if !c.expecting.Load() || len(p) == 0 {
			return n, err
		}
		switch {
		case n > 0: // an error comes again with the next call
			if n, err = c.read(p, n); n > 0 || err != nil {
				return n, err
			}
		case errors.Is(err, io.EOF) && c.end():
		case err != nil:
			return 0, err
		}
	}
}

// read works on the n bytes of p that were read where a head is expected, and
// returns how many of p are to be handed on; what does not fit is in c.out.
func (c *conn) read(p []byte, n int) (int, error) {
	if len(c.held) > 0 {
		c.held = append(c.held, p[:n]...)
		if indexLine(p[:n]) == 0 {
			return 0, c.tooLarge() // what was held has no end yet either
		}
		pass, out := c.lines(c.held)
		if out == nil {
			out = append(out, c.held[:pass]...)
		}
		c.held = keepRest(c.held, pass)
		c.out = out
		return 0, c.tooLarge()
	}
	pass, out := c.lines(p[:n])
	if pass < n {
		c.held = append(c.held, p[pass:n]...)
	}
	if out != nil {
		c.out, pass = out, 0
	}
	return pass, c.tooLarge()
}

func keepRest(held []byte, from int) []byte {
	const worthwhile = 4 << 10
	rest := held[:copy(held, held[from:])]
	if len(rest) == 0 && cap(held) > worthwhile {
		return nil
	}
	return rest
}

func (c *conn) tooLarge() error {
	if c.expecting.Load() && c.head.size+len(c.held) > MaxHeaderBytes {
		return errHeadTooLarge
	}
	return nil
}

// lines works through the lines of data, up to the end of the head or the last
// line that has an end. It returns how many bytes it is done with, and what
// stands in for them; nil if they are good as they are.
func (c *conn) lines(data []byte) (done int, out []byte) {
	for done < len(data) {
		end := indexLine(data[done:])
		if end == 0 {
			break
		}
		line := data[done : done+end]
		started := c.head.started
		replacement, keep := c.head.line(line)
		if !started && (c.head.started || c.head.done) {
			c.fresh.Store(false)
		}
		switch {
		case !keep && out == nil:
			out = append(make([]byte, 0, len(data)+len(replacement)), data[:done]...)
			out = append(out, replacement...)
		case !keep:
			out = append(out, replacement...)
		case out != nil:
			out = append(out, line...)
		}
		done += end
		if c.head.done {
			c.finish()
			if out != nil {
				out = append(out, data[done:]...)
			}
			return len(data), out
		}
	}
	return done, out
}

// finish is called at the end of a head.
func (c *conn) finish() {
	c.odd.Store(uint32(c.head.odd))
	c.head = head{}
	c.expecting.Store(false)
}

// end is called when the connection ends where a head is expected. It reports
// whether there is something to hand on before.
func (c *conn) end() bool {
	h := &c.head
	switch {
	case !h.started && len(c.held) > 0:
		// Not a line of HTTP: net/http has the words for it.
		c.out, c.held = c.held, nil
	case h.started && len(c.held) == 0 && !h.informal && c.link.cert == nil && !h.hasLength && !h.chunked:
		// As in browsers, a head may end so, but not where it may be an
		// attack on TLS.
		h.odd |= oddEnd
		c.out = []byte("\r\n")
	default:
		return false
	}
	c.fresh.Store(false)
	c.finish()
	return true
}
