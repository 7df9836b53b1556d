package downloadermw_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/stats"
)

func TestDownloaderStats(t *testing.T) {
	asked := map[string]int64{
		"downloader/request_count": 1, "downloader/request_method_count/POST": 1,
		// POST /a?b HTTP/1.1, Host: example.com, A: b, a blank line, xyz
		"downloader/request_bytes": 20 + 19 + 6 + 2 + 3,
	}
	and := func(more map[string]int64) map[string]int64 {
		for k, v := range asked {
			more[k] = v
		}
		return more
	}
	tests := []struct {
		name string
		next downloader.Handler
		want map[string]int64
	}{
		{"a response", answer(404, http.Header{"C": {"d", "ee"}}, "hello"), and(map[string]int64{
			"downloader/response_count": 1, "downloader/response_status_count/404": 1,
			// HTTP/1.1 404 Not Found, C: d, C: ee, a blank line, hello
			"downloader/response_bytes": 24 + 6 + 7 + 2 + 5,
		})},
		{"a failure", fail(&crawl.Failure{Reason: "timeout"}), and(map[string]int64{
			"downloader/exception_count": 1, "downloader/exception_type_count/timeout": 1,
		})},
		{"a failure in wrappings", fail(fmt.Errorf("fetching: %w", &crawl.Failure{Reason: "dns"})), and(map[string]int64{
			"downloader/exception_count": 1, "downloader/exception_type_count/dns": 1,
		})},
		{"the end of the invocation", fail(fmt.Errorf("fetching: %w", context.Canceled)), and(map[string]int64{
			"downloader/exception_count": 1, "downloader/exception_type_count/cancelled": 1,
		})},
		{"no turn", fail(&crawl.Later{Why: "slot"}), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var st stats.Collector
			h := downloadermw.DownloaderStats(with(t, nil), &st)(test.next)
			h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/a?b#c", Method: "POST", Headers: http.Header{"A": {"b"}}, Body: []byte("xyz")})
			if got := st.Take(); !reflect.DeepEqual(got, test.want) {
				t.Errorf("counted %v\nwant    %v", got, test.want)
			}
		})
	}
}

func TestWhatIsSwitchedOffLetsEverythingThrough(t *testing.T) {
	var st stats.Collector
	s := with(t, map[string]any{
		"DOWNLOADER_STATS": false, "RETRY_ENABLED": false, "REDIRECT_ENABLED": false, "COMPRESSION_ENABLED": false, "ROBOTSTXT_OBEY": false,
	})
	h := downloader.Chain(answer(503, http.Header{"Location": {"/"}, "Content-Encoding": {"gzip"}}, "packed"),
		downloadermw.Retry(s, &st, noLog(), atNoon),
		downloadermw.NewRobots(nil, atNoon).Middleware(s, &st, noLog()),
		downloadermw.HTTPCompression(s, &st, noLog(), nil),
		downloadermw.Redirect(s, downloadermw.RedirectOptions{}, noLog()),
		downloadermw.DownloaderStats(s, &st),
	)
	req := &crawl.Request{URL: "http://example.com/"}
	if got := outcome(h.Fetch(t.Context(), req)); got != "response packed" || len(req.Headers) != 0 || st.Take() != nil {
		t.Errorf("%s, headers %v, stats %v", got, req.Headers, st.Take())
	}
}
