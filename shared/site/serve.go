package site

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// The server's limits. Reading and writing outlast the slowest answer, which
// takes maxLatency and maxSlow: net/http would break it off. Writing leaves
// time for the largest one, /huge, too.
const (
	headerTimeout  = 10 * time.Second
	readTimeout    = time.Minute
	writeTimeout   = 5 * time.Minute
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10

	// stopGrace is how long requests may go on after the context's end.
	stopGrace = 5 * time.Second
)

// Serve answers requests that come in by l until ctx ends. It then lets the
// requests being served go on for at most 5 s, cuts off the others and returns
// nil. It returns an error if l fails before. It always closes l.
func (s *Site) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()

	select {
	case err := <-served:
		return fmt.Errorf("site: serving on %v: %w", l.Addr(), errors.Join(err, server.Close()))
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if serr := <-served; err == nil && !errors.Is(serr, http.ErrServerClosed) {
		err = serr
	}
	if err != nil {
		return fmt.Errorf("site: stopping on %v: %w", l.Addr(), err)
	}
	return nil
}
