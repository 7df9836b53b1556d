// Package handlertest has a server on the loopback that answers with bytes as
// they are, for tests of what servers of the web really send.
package handlertest

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// An Answer writes to the connection what answers the n-th request of the
// server, from 0. The head is what was asked, up to the blank line. With false
// the connection is closed.
type Answer func(n int, head string, conn net.Conn) (keep bool)

// Sends answers every request with the same bytes, then closes.
func Sends(raw string) Answer {
	return func(_ int, _ string, conn net.Conn) bool {
		_, _ = io.WriteString(conn, raw) // who is gone does not read it
		return false
	}
}

// Keeps answers every request with the same bytes and keeps the connection.
func Keeps(raw string) Answer {
	return func(_ int, _ string, conn net.Conn) bool {
		_, err := io.WriteString(conn, raw)
		return err == nil
	}
}

// A Server answers each connection's requests, one after the other.
type Server struct {
	// URL is the server's, without a slash at its end.
	URL string

	mu       sync.Mutex
	requests []string
	conns    int
	open     int
}

// Serve starts a server on a free port of the loopback, which ends with the
// test.
func Serve(t testing.TB, answer Answer) *Server { return serve(t, nil, answer) }

// ServeTLS starts one that speaks TLS. The configuration has a certificate.
func ServeTLS(t testing.TB, config *tls.Config, answer Answer) *Server {
	return serve(t, config, answer)
}

func serve(t testing.TB, config *tls.Config, answer Answer) *Server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "http://" + listener.Addr().String()}
	if config != nil {
		s.URL = "https://" + listener.Addr().String()
		listener = tls.NewListener(listener, config)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.count(1)
			all.Go(func() {
				defer s.count(-1)
				defer conn.Close()
				stop := context.AfterFunc(t.Context(), func() { conn.Close() })
				defer stop()
				s.serve(conn, answer)
			})
		}
	})
	t.Cleanup(func() { _ = listener.Close(); all.Wait() })
	return s
}

func (s *Server) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += n
	s.conns += max(n, 0)
}

func (s *Server) serve(conn net.Conn, answer Answer) {
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
				length, _ = strconv.Atoi(strings.TrimSpace(n))
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		s.mu.Lock()
		n := len(s.requests)
		s.requests = append(s.requests, head.String()+"\r\n"+string(body))
		s.mu.Unlock()
		if !answer(n, head.String(), conn) {
			return
		}
	}
}

// Saw returns what the n-th request was, "" if there was none yet.
func (s *Server) Saw(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.requests) {
		return ""
	}
	return s.requests[n]
}

// Connections is how many connections were made.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// Open is how many connections are open.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}
