package handlers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/skitterhq/skitter/shared/crawl"
)

func failure(req *crawl.Request, reason string, err error) *crawl.Failure {
	const longest = 300 // bytes of a message; a server's own words may be in it
	return &crawl.Failure{Reason: reason, Message: cut(err.Error(), longest), Request: req}
}

// cut shortens s to at most n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// failed says what an error of the network means. Whose time is up is asked
// first, as any error may come of it.
func (f *fetch) failed(err error) error {
	if f.ctx.Err() != nil {
		return fmt.Errorf("fetching %s: %w", f.target.Redacted(), f.ctx.Err())
	}
	if f.own.Err() == nil {
		reason := reasonOf(err)
		if reason == ReasonCertificate {
			err = fmt.Errorf("%w (DOWNLOAD_VERIFY_CERTIFICATES=false fetches all the same)", err)
		}
		return failure(f.req, reason, err)
	}
	if cause := context.Cause(f.own); errors.Is(cause, errNoFirstByte) {
		return failure(f.req, ReasonTimeout, fmt.Errorf("%w after %s", cause, f.job.firstByteTimeout))
	}
	// A proxy that nobody reaches is to be told from a server that is slow.
	reason, at := ReasonTimeout, f.exchange.stage()
	if at == "" {
		dialing := stage(f.route.stage.Load())
		if at = dialing.String(); dialing == reachingProxy {
			reason = ReasonProxy
		}
	}
	return failure(f.req, reason, fmt.Errorf("not done after %s, while %s", f.limit, at))
}

// reasonOf is the reason of an error that is not of the fetch's own time.
func reasonOf(err error) string {
	var dial *dialError
	if errors.As(err, &dial) {
		return dialReason(dial)
	}
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return ReasonTimeout
	case isReset(err):
		return ReasonReset
	case isOurs(err):
		return ReasonBadRequest
	}
	return ReasonBadResponse
}

func dialReason(err *dialError) string {
	var (
		forbidden *forbiddenError
		dns       *net.DNSError
		timeout   net.Error
		cert      *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &forbidden):
		return ReasonForbiddenAddress
	case err.proxy:
		return ReasonProxy
	case errors.Is(err, context.DeadlineExceeded):
		return ReasonTimeout
	case errors.As(err, &dns):
		return ReasonDNS
	case errors.As(err, &timeout) && timeout.Timeout():
		return ReasonTimeout
	case errors.As(err, &cert):
		return ReasonCertificate
	case err.tls:
		return ReasonTLS
	}
	return ReasonConnect
}

// streamError has the fields of net/http's own error of an HTTP/2 stream, which
// is not exported but lets itself be converted.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return fmt.Sprintf("stream %d: code %d", e.StreamID, e.Code) }

// isReset reports whether the connection, or the stream, ended under us.
func isReset(err error) bool {
	var network *net.OpError
	var stream streamError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.As(err, &network) || errors.As(err, &stream) ||
		strings.Contains(err.Error(), "GOAWAY") || strings.Contains(err.Error(), "server closed idle connection")
}

// isOurs reports whether net/http did not so much as try to send the request.
// It says so in words only.
func isOurs(err error) bool {
	s := err.Error()
	for _, prefix := range []string{
		"net/http: invalid ", "http: no Host", "http: invalid Host header", "net/http: can't write control character",
	} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}
