package downloadermw

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/stats"
)

// DownloaderStats counts each fetch once. Only the HTTP cache stands further in,
// so it sees what goes over the wire, and also what the cache answers, as in
// Scrapy. It is outside of the slots, whose *crawl.Later is no fetch.
//
// Stats: downloader/request_count, /request_method_count/GET, /request_bytes;
// /response_count, /response_status_count/200, /response_bytes (still
// compressed); /exception_count, /exception_type_count/<reason>. Bytes are
// those of HTTP/1.1, whatever the protocol was, as in Scrapy.
func DownloaderStats(s settings.Settings, st *stats.Collector) downloader.Middleware {
	if !s.DownloaderStats {
		return off
	}
	return func(next downloader.Handler) downloader.Handler {
		return downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
			resp, err := next.Fetch(ctx, req)
			var later *crawl.Later
			if errors.As(err, &later) {
				return nil, err
			}
			st.Inc("downloader/request_count")
			st.Inc("downloader/request_method_count/" + req.HTTPMethod())
			st.Add("downloader/request_bytes", requestSize(req))
			if err != nil {
				st.Inc("downloader/exception_count")
				st.Inc("downloader/exception_type_count/" + reasonOf(err))
				return nil, err
			}
			st.Inc("downloader/response_count")
			st.Inc("downloader/response_status_count/" + strconv.Itoa(resp.Status))
			st.Add("downloader/response_bytes", responseSize(resp))
			return resp, nil
		})
	}
}

// requestSize is the length of the request as HTTP/1.1 writes it.
func requestSize(req *crawl.Request) int64 {
	size := len(req.HTTPMethod()) + len("  HTTP/1.1\r\n") + headerSize(req.Headers) + len("\r\n") + len(req.Body)
	// The URL stands in the form that is sent, so its parts need no parsing.
	if scheme, rest, ok := strings.Cut(req.URL, "://"); ok && (scheme == "http" || scheme == "https") {
		rest, _, _ = strings.Cut(rest, "#")
		end := strings.IndexAny(rest, "/?")
		if end < 0 {
			end = len(rest)
		}
		host := rest[strings.LastIndexByte(rest[:end], '@')+1 : end]
		target := len(rest) - end
		if target == 0 || rest[end] == '?' {
			target++ // the path is /
		}
		size += target + len("Host: \r\n") + len(host)
	}
	return int64(size)
}

// responseSize is the length of the response as HTTP/1.1 writes it.
func responseSize(resp *crawl.Response) int64 {
	statusLine := len("HTTP/1.1 200 \r\n") + len(http.StatusText(resp.Status))
	return int64(statusLine + headerSize(resp.Headers) + len("\r\n") + len(resp.Body))
}

func headerSize(h http.Header) int {
	size := 0
	for name, values := range h {
		for _, v := range values {
			size += len(name) + len(": \r\n") + len(v)
		}
	}
	return size
}
