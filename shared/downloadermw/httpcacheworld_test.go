package downloadermw_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/stats"
)

// A cacheWorld is a cache before a web that can be changed.
type cacheWorld struct {
	t     *testing.T
	now   time.Time
	asked []*crawl.Request
	web   downloader.Handler
	blobs blob.Store
	st    *stats.Collector
	set   map[string]any
	log   bytes.Buffer
}

func newCacheWorld(t *testing.T, policy string) *cacheWorld {
	return &cacheWorld{
		t: t, now: noon, blobs: memory.NewBlobs(), st: new(stats.Collector),
		set: map[string]any{"HTTPCACHE_ENABLED": true, "HTTPCACHE_POLICY": policy},
	}
}

// fetch fetches by a new chain, as another job in another process would.
func (w *cacheWorld) fetch(req *crawl.Request) (*crawl.Response, error) {
	w.t.Helper()
	mw, err := downloadermw.HTTPCache(with(w.t, w.set), w.st, logTo(&w.log), w.blobs, func() time.Time { return w.now })
	if err != nil {
		w.t.Fatal(err)
	}
	web := downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
		w.asked = append(w.asked, req.Clone())
		return w.web.Fetch(ctx, req)
	})
	return downloader.Chain(web, mw).Fetch(w.t.Context(), req)
}

// want fetches and compares what comes, and how often the web was asked since.
func (w *cacheWorld) want(req *crawl.Request, outcomes string, cached bool, asked int) *crawl.Response {
	w.t.Helper()
	w.asked = nil
	resp, err := w.fetch(req)
	if got := outcome(resp, err); got != outcomes {
		w.t.Errorf("%s %s: %s, want %s", req.HTTPMethod(), req.URL, got, outcomes)
	}
	if resp != nil && (resp.HasFlag("cached") != cached || resp.Request != req) {
		w.t.Errorf("%s: flags %v, the same request: %v", req.URL, resp.Flags, resp.Request == req)
	}
	if len(w.asked) != asked {
		w.t.Errorf("%s: the web was asked %d times, want %d", req.URL, len(w.asked), asked)
	}
	return resp
}

func (w *cacheWorld) wantStats(want map[string]int64) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.st.Take()); diff != "" {
		w.t.Errorf("stats (-want, +got):\n%s", diff)
	}
}

func get(lines ...string) *crawl.Request {
	return &crawl.Request{URL: "http://example.com/page", Headers: lined(lines...)}
}

func lined(lines ...string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}
