package handlers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers/bounded"
)

// A length up to this one is believed: a server that announces more gets memory
// as its bytes come.
const trustedLength = 1 << 20

// body reads the body of an answer, and says what is odd about it.
func (f *fetch) body(answer *http.Response) ([]byte, []string, error) {
	j, req := f.job, f.req
	length, maxsize := answer.ContentLength, Maxsize(req, j.maxsize)
	if req.HTTPMethod() == http.MethodHead {
		length = 0 // what is announced is not sent
	}
	if maxsize > 0 && length > maxsize {
		return nil, nil, failure(req, ReasonTooLarge, fmt.Errorf("%d bytes are announced, the limit is %d", length, maxsize))
	}
	body, err := j.http.read(answer.Body, length, maxsize)
	if errors.Is(err, bounded.ErrTooLarge) {
		return nil, nil, failure(req, ReasonTooLarge, fmt.Errorf("more than the limit of %d bytes", maxsize))
	}
	if err != nil && f.own.Err() != nil {
		return nil, nil, f.failed(err)
	}
	f.warn(len(body))

	switch {
	case untilClose(answer) && length < 0:
		// Nothing tells whether the end of the connection is that of the body.
		return body, []string{crawl.FlagPartial}, nil
	case err == nil:
		return body, nil, nil
	case failOnDataloss(req, j.failOnDataloss):
		return nil, nil, failure(req, ReasonDataloss, fmt.Errorf("the body ended after %d bytes: %w", len(body), err))
	}
	return body, []string{crawl.FlagDataloss}, nil
}

// untilClose reports whether only the end of the connection ends the body.
func untilClose(answer *http.Response) bool {
	return answer.ProtoMajor == 1 && answer.ContentLength < 0 && len(answer.TransferEncoding) == 0
}

// Maxsize is the largest body that a request may bring, in bytes: its own
// limit, else the one by default. 0 means no limit.
func Maxsize(req *crawl.Request, byDefault int64) int64 {
	return sizeOr(req.DownloadMaxsize, byDefault)
}

// Warnsize is the size of a request's body, in bytes, above which a warning is
// logged: its own, else the one by default. 0 means never.
func Warnsize(req *crawl.Request, byDefault int64) int64 {
	return sizeOr(req.DownloadWarnsize, byDefault)
}

// sizeOr is a request's own size, where less than 0 stands for none, else the
// one by default.
func sizeOr(own, byDefault int64) int64 { return max(cmp.Or(own, byDefault), 0) }

func failOnDataloss(req *crawl.Request, byDefault bool) bool {
	if req.DownloadFailOnDataloss != nil {
		return *req.DownloadFailOnDataloss
	}
	return byDefault
}

func (f *fetch) warn(size int) {
	if limit := Warnsize(f.req, f.job.warnsize); limit > 0 && int64(size) > limit {
		f.job.http.log.Warn("a body is larger than DOWNLOAD_WARNSIZE", "url", f.target.Redacted(), "bytes", size, "warnsize", limit)
	}
}

// read reads r to its end. The length is less than zero if it is not known;
// maxsize is 0 if there is no limit. With an error come the bytes that were
// read before it.
func (h *HTTPHandler) read(r io.Reader, length, maxsize int64) ([]byte, error) {
	if length < 0 || length > trustedLength {
		return h.buffers.ReadAll(r, maxsize)
	}
	body := make([]byte, length)
	n, err := io.ReadFull(r, body)
	if err != nil {
		return body[:n], err
	}
	// The connection can be used again only when the end was seen.
	var end [1]byte
	if _, err := r.Read(end[:]); err != nil && err != io.EOF {
		return body, err
	}
	return body, nil
}
