package handlers_test

import (
	"bytes"
	"io"
	"log"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/handlers/handlertest"
)

// What a server sends unasked on a connection that is kept is in no log.
func TestI8WhatIsSentUnaskedIsNotLogged(t *testing.T) {
	var out lockedBuffer
	seen := make(chan struct{})
	log.SetOutput(watcher{handlers.StandardLog(&out), seen})
	defer log.SetOutput(os.Stderr)

	idle := make(chan struct{})
	server := handlertest.Serve(t, func(_ int, _ string, conn net.Conn) bool {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		select {
		case <-idle:
		case <-t.Context().Done():
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nSet-Cookie: sid=secret\r\nContent-Length: 0\r\n\r\n")
		return true // until the client closes
	})
	if _, err := newHandler(t, handlers.Options{}).Fetch(t.Context(), &crawl.Request{URL: server.URL}); err != nil {
		t.Fatal(err)
	}
	close(idle)
	select {
	case <-seen:
	case <-time.After(10 * time.Second):
		t.Fatal("net/http says nothing of it any more: StandardLog is not needed")
	}
	if strings.Contains(out.String(), "secret") {
		t.Errorf("the log has what was sent: %s", out.String())
	}
	log.Print("of something else")
	if !strings.Contains(out.String(), "of something else") {
		t.Errorf("another line is lost; the log is %q", out.String())
	}
}

// A watcher tells of the first line that comes.
type watcher struct {
	w    io.Writer
	seen chan struct{}
}

func (w watcher) Write(line []byte) (int, error) {
	n, err := w.w.Write(line)
	select {
	case <-w.seen:
	default:
		close(w.seen)
	}
	return n, err
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
