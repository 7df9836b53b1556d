package downloadermw

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/handlers/bounded"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/stats"
)

// ReasonBadEncoding is the reason of a failure whose body cannot be unpacked.
const ReasonBadEncoding = "bad-encoding"

// FlagNotEncoded marks a body that was announced as compressed and is not.
const FlagNotEncoded = "not-encoded"

// mostCodings is how many codings one body may have on top of each other: 5, as
// in curl. Each is a chance to be a bomb.
const mostCodings = 5

// HTTPCompression asks for gzip, deflate, br and zstd, and unpacks bodies that
// come so, also in several of them. A body that was cut is passed on as far as
// it can be read, with the flag "partial"; one that is not compressed at all,
// though the server says so, as it is, with the flag "not-encoded". Of one that
// cannot be read the request fails with the reason "bad-encoding"; of one that
// unpacks to more than DOWNLOAD_MAXSIZE with "too-large". A coding that is not
// known is left to the callback, with its header.
//
// Decoders may be nil; those of a process may be shared by its jobs.
//
// Request options: DownloadMaxsize, DownloadWarnsize. Stats:
// httpcompression/response_count, /response_bytes.
func HTTPCompression(s settings.Settings, st *stats.Collector, log *slog.Logger, decoders *Decoders) downloader.Middleware {
	if !s.CompressionEnabled {
		return off
	}
	if decoders == nil {
		decoders = new(Decoders)
	}
	c := &compression{settings: s, stats: st, log: log, decoders: decoders}
	return downloader.Hooks{
		ProcessRequest: func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
			setDefault(req, "Accept-Encoding", "gzip, deflate, br, zstd")
			return nil, nil
		},
		ProcessResponse: c.response,
	}.Middleware()
}

type compression struct {
	settings settings.Settings
	stats    *stats.Collector
	log      *slog.Logger
	decoders *Decoders
}

func (c *compression) response(_ context.Context, req *crawl.Request, resp *crawl.Response) (*crawl.Response, error) {
	codings := contentCodings(resp.Headers)
	if len(codings) == 0 || req.HTTPMethod() == http.MethodHead {
		return resp, nil
	}
	if len(codings) > mostCodings {
		return nil, &crawl.Failure{
			Reason: ReasonBadEncoding, Message: fmt.Sprintf("%d codings, more than %d", len(codings), mostCodings), Request: req,
		}
	}
	left, err := c.unpack(req, resp, codings)
	if err != nil {
		return nil, err
	}
	if len(left) == len(codings) {
		c.log.Warn("the body has a coding that is not known", "url", shown(req), "content_encoding", strings.Join(left, ", "))
		return resp, nil
	}
	// The headers are to tell of the body as it now is.
	resp.Headers.Del("Content-Length")
	resp.Headers.Del("Content-Encoding")
	if len(left) > 0 {
		resp.Headers.Set("Content-Encoding", strings.Join(left, ", "))
		c.log.Warn("the body has a coding that is not known", "url", shown(req), "content_encoding", strings.Join(left, ", "))
	}
	c.stats.Inc("httpcompression/response_count")
	c.stats.Add("httpcompression/response_bytes", int64(len(resp.Body)))
	if warn := handlers.Warnsize(req, c.settings.DownloadWarnsize); warn > 0 && int64(len(resp.Body)) > warn {
		c.log.Warn("an unpacked body is larger than DOWNLOAD_WARNSIZE", "url", shown(req), "bytes", len(resp.Body), "warnsize", warn)
	}
	return resp, nil
}

// unpack undoes the codings, the last one first, up to one that is not known,
// and returns those that are left.
func (c *compression) unpack(req *crawl.Request, resp *crawl.Response, codings []string) ([]string, error) {
	limit := handlers.Maxsize(req, c.settings.DownloadMaxsize)
	for n := len(codings); n > 0; n-- {
		coding := codings[n-1]
		if !c.decoders.know(coding) {
			return codings[:n], nil
		}
		body, err := c.decoders.decode(coding, resp.Body, limit)
		switch {
		case errors.Is(err, errPlain):
			c.log.Debug("the body is not encoded as it says", "url", shown(req), "content_encoding", coding)
			resp.Flags = append(resp.Flags, FlagNotEncoded)
			return nil, nil // and no coding further in can be true
		case errors.Is(err, bounded.ErrTooLarge):
			c.log.Warn("the body unpacks to more than DOWNLOAD_MAXSIZE", "url", shown(req), "packed", len(resp.Body), "maxsize", limit)
			return nil, &crawl.Failure{
				Reason:  handlers.ReasonTooLarge,
				Message: fmt.Sprintf("%d bytes of %s are more than the limit of %d once unpacked", len(resp.Body), coding, limit),
				Request: req,
			}
		case errors.Is(err, errCut):
			if !resp.HasFlag(crawl.FlagPartial) {
				resp.Flags = append(resp.Flags, crawl.FlagPartial)
			}
		case err != nil:
			return nil, &crawl.Failure{Reason: ReasonBadEncoding, Message: coding + ": " + err.Error(), Request: req}
		}
		resp.Body = body
	}
	return nil, nil
}

// contentCodings are the codings of a body in the order they were applied, in
// small letters, without those that mean none.
func contentCodings(h http.Header) []string {
	var codings []string
	for _, line := range h["Content-Encoding"] {
		for coding := range strings.SplitSeq(line, ",") {
			coding = strings.ToLower(strings.TrimSpace(coding))
			if coding != "" && coding != "identity" {
				codings = append(codings, coding)
			}
		}
	}
	return codings
}
