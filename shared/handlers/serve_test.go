package handlers_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/settings"
)

// A rawServer answers each connection's requests with bytes as they are.
type rawServer struct {
	url string

	mu    sync.Mutex
	heads []string // what was asked, up to the blank line
	conns int
}

// serveRaw starts a server on a free port of the loopback. answer is called for
// each request with its number from 0; it writes to the connection, and false
// closes it.
func serveRaw(t testing.TB, answer func(n int, head string, conn net.Conn) (keep bool)) *rawServer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{url: "http://" + listener.Addr().String()}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns++
			s.mu.Unlock()
			open.Go(func() {
				defer conn.Close()
				stop := context.AfterFunc(t.Context(), func() { conn.Close() })
				defer stop()
				s.serve(conn, answer)
			})
		}
	})
	t.Cleanup(func() { listener.Close(); open.Wait() })
	return s
}

func (s *rawServer) serve(conn net.Conn, answer func(int, string, net.Conn) bool) {
	r := bufio.NewReader(conn)
	for {
		var head strings.Builder
		length := 0
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if line == "\r\n" {
				break
			}
			head.WriteString(line)
			if _, n, ok := strings.Cut(line, "Content-Length: "); ok {
				_ = json.Unmarshal([]byte(strings.TrimSpace(n)), &length)
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		s.mu.Lock()
		n := len(s.heads)
		s.heads = append(s.heads, head.String()+"\r\n"+string(body))
		s.mu.Unlock()
		if !answer(n, head.String(), conn) {
			return
		}
	}
}

// saw returns what the n-th request was.
func (s *rawServer) saw(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.heads) {
		return ""
	}
	return s.heads[n]
}

func (s *rawServer) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// sends answers every request with the same bytes, then closes.
func sends(raw string) func(int, string, net.Conn) bool {
	return func(_ int, _ string, conn net.Conn) bool {
		io.WriteString(conn, raw)
		return false
	}
}

func newHandler(t testing.TB, opts handlers.Options) *handlers.HTTPHandler {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	h, err := handlers.HTTP(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// with resolves settings that differ from the defaults.
func with(t testing.TB, values map[string]any) settings.Settings {
	s, err := settings.Resolve(settings.Layer{Name: "test", Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reason returns the reason of a failure, or what else the error is.
func reason(err error) string {
	var failure *crawl.Failure
	if errors.As(err, &failure) {
		return failure.Reason
	}
	if err != nil {
		return "not a failure: " + err.Error()
	}
	return ""
}

// readShared reads a file of the folder ../shared beside the repository, or
// skips the test where there is none.
func readShared(t testing.TB, path ...string) []byte {
	name := filepath.Join(append([]string{"..", "..", "..", "shared"}, path...)...)
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		t.Skipf("the shared files are not here: %s", filepath.Join(path...))
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}
