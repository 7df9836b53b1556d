package handlers_test

import (
	"bytes"
	"log"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
)

// What a server sends unasked on a connection that is kept is in no log.
func TestI8WhatIsSentUnaskedIsNotLogged(t *testing.T) {
	var out lockedBuffer
	seen := make(chan struct{})
	log.SetOutput(watcher{handlers.StandardLog(&out), seen})
	defer log.SetOutput(os.Stderr)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	idle := make(chan struct{})
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
		<-idle
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nSet-Cookie: sid=secret\r\nContent-Length: 0\r\n\r\n"))
		_, _ = conn.Read(make([]byte, 1)) // until the client closes
	}()
	h, err := handlers.HTTP(handlers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if _, err := h.Fetch(t.Context(), &crawl.Request{URL: "http://" + listener.Addr().String() + "/"}); err != nil {
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
	w    interface{ Write([]byte) (int, error) }
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
