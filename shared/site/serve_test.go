package site_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/site"
)

// serve runs the site on a free port until stop is called.
func serve(t *testing.T, s *site.Site) (l *listener, stop context.CancelFunc, served <-chan error) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = &listener{Listener: inner, closed: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	return l, stop, done
}

// A listener tells when it is closed for the first time.
type listener struct {
	net.Listener
	closed chan struct{}
}

func (l *listener) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return l.Listener.Close()
}

// A pipe is a listener without a network, for synctest.
type pipe struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error   { close(p.closed); return nil }
func (p *pipe) Addr() net.Addr { return &net.TCPAddr{} }

func TestServe(t *testing.T) {
	t.Run("answers until it is stopped", func(t *testing.T) {
		l, stop, served := serve(t, newSite(t, site.Options{}))
		client := &http.Client{Transport: &http.Transport{}}
		response, err := client.Get("http://" + l.Addr().String() + "/p/0")
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("got status %d, want 200", response.StatusCode)
		}
		stop()
		if err := <-served; err != nil {
			t.Errorf("stopped with %v, want nil", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got error %v, want that the listener is closed", err)
		}
	})

	t.Run("finishes what it has begun", func(t *testing.T) {
		l, stop, served := serve(t, newSite(t, site.Options{}))
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const form = "user=demo&password=demo"
		fmt.Fprintf(conn, "POST /login HTTP/1.1\r\nHost: shop.test\r\nExpect: 100-continue\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n", len(form))
		in := bufio.NewReader(conn)
		// The server says go on once the handler waits for the form.
		goOn, err := http.ReadResponse(in, nil)
		if err != nil || goOn.StatusCode != http.StatusContinue {
			t.Fatalf("got %v (%v), want 100", goOn, err)
		}
		stop()
		<-l.closed
		io.WriteString(conn, form)
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Get("Location"); response.StatusCode != http.StatusFound || got != "/account" {
			t.Errorf("got status %d to %q, want 302 to /account", response.StatusCode, got)
		}
		if err := <-served; err != nil {
			t.Errorf("stopped with %v, want nil", err)
		}
	})

	t.Run("cuts off after five seconds what it has begun", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			here, there := net.Pipe()
			defer here.Close()
			l := &pipe{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
			l.conns <- there
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- newSite(t, site.Options{}).Serve(ctx, l) }()
			fmt.Fprint(here, "GET /slow?ms=10000 HTTP/1.1\r\nHost: shop.test\r\n\r\n")
			synctest.Wait()
			begin := time.Now()
			stop()
			if _, err := io.ReadAll(here); err != nil {
				t.Errorf("the connection ended with %v, want a plain end", err)
			}
			if err := <-served; err != nil || time.Since(begin) != 5*time.Second {
				t.Errorf("stopped with %v after %v, want nil after 5s", err, time.Since(begin))
			}
		})
	})

	t.Run("fails with its listener", func(t *testing.T) {
		l, _, served := serve(t, newSite(t, site.Options{}))
		l.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got error %v, want that the listener is closed", err)
		}
	})

	t.Run("closes its listener if it is stopped before it starts", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := newSite(t, site.Options{}).Serve(ctx, l); err != nil {
			t.Errorf("stopped with %v, want nil", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got error %v, want that the listener is closed", err)
		}
	})
}
