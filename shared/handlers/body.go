package handlers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers/bounded"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A length up to this one is believed: a server that announces more gets memory
// as its bytes come.
const trustedLength = 1 << 20

// body reads the body of an answer, and says what is odd about it.
func (j *jobHandler) body(ctx, fetchCtx context.Context, req *crawl.Request, answer *http.Response, limit time.Duration) ([]byte, []string, error) {
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
	if err != nil && fetchCtx.Err() != nil {
		return nil, nil, j.failed(ctx, fetchCtx, req, limit, err)
	}
	j.warn(req, len(body))

	switch {
	case untilClose(answer) && length < 0:
		// Nothing tells whether the end of the connection is that of the body.
		return body, []string{crawl.FlagPartial}, nil
	case err == nil:
		return body, nil, nil
	case j.failOnDataloss:
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
	switch {
	case req.DownloadMaxsize > 0:
		return req.DownloadMaxsize
	case req.DownloadMaxsize < 0:
		return 0
	}
	return byDefault
}

func (j *jobHandler) warn(req *crawl.Request, size int) {
	if j.warnsize > 0 && int64(size) > j.warnsize {
		shown := req.URL
		if u, err := weburl.Parse(req.URL); err == nil {
			shown = u.Redacted()
		}
		j.http.log.Warn("a body is larger than DOWNLOAD_WARNSIZE", "url", shown, "bytes", size, "warnsize", j.warnsize)
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
