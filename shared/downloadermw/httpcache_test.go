package downloadermw_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/stats"
)

func TestDummyCacheKeepsEverything(t *testing.T) {
	w := newCacheWorld(t, "scrapy.extensions.httpcache.DummyPolicy")
	w.web = answer(404, lined("Set-Cookie: a=b", "Cache-Control: no-store"), "gone")
	w.want(get(), "response gone", false, 1)
	w.web = fail(errors.New("unused"))
	w.now = w.now.Add(1000 * time.Hour)
	resp := w.want(get("Cookie: c=d", "Cache-Control: no-cache"), "response gone", true, 0)
	want := lined("Set-Cookie: a=b", "Cache-Control: no-store", "Date: "+noon.Format(http.TimeFormat))
	if diff := cmp.Diff(want, resp.Headers); resp.Status != 404 || diff != "" {
		t.Errorf("status %d; headers (-want, +got):\n%s", resp.Status, diff)
	}
	w.wantStats(map[string]int64{"httpcache/miss": 1, "httpcache/firsthand": 1, "httpcache/store": 1, "httpcache/hit": 1})

	post := get()
	post.Method, post.Body = "POST", []byte("q=1")
	w.web = answer(200, nil, "found")
	w.want(post, "response found", false, 1)
	w.want(post, "response found", true, 0)
	other := post.Clone()
	other.Body = []byte("q=2")
	w.want(other, "response found", false, 1)
}

func TestWhatPassesTheCacheBy(t *testing.T) {
	tests := []struct {
		name     string
		req      crawl.Request
		settings map[string]any
	}{
		{name: "DontCache", req: crawl.Request{URL: "http://example.com/", Options: crawl.Options{DontCache: true}}},
		{name: "a scheme that is ignored", req: crawl.Request{URL: "https://example.com/"}, settings: map[string]any{"HTTPCACHE_IGNORE_SCHEMES": "HTTPS,file"}},
		{name: "a file, whatever the setting says", req: crawl.Request{URL: "file:///etc/hosts"}, settings: map[string]any{"HTTPCACHE_IGNORE_SCHEMES": ""}},
		{name: "a part of a page", req: crawl.Request{URL: "http://example.com/", Headers: lined("Range: bytes=0-1")}},
		{name: "a status that is ignored", req: crawl.Request{URL: "http://example.com/"}, settings: map[string]any{"HTTPCACHE_IGNORE_HTTP_CODES": "200"}},
		{name: "switched off", req: crawl.Request{URL: "http://example.com/"}, settings: map[string]any{"HTTPCACHE_ENABLED": false}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newCacheWorld(t, "dummy")
			for name, value := range test.settings {
				w.set[name] = value
			}
			w.web = answer(200, nil, "page")
			w.want(&test.req, "response page", false, 1)
			w.want(&test.req, "response page", false, 1)
			if keys, _ := w.blobs.List(t.Context(), "", "", 0); len(keys) != 0 {
				t.Errorf("kept: %q", keys)
			}
		})
	}
}

func TestWhatIsMissingIsDropped(t *testing.T) {
	w := newCacheWorld(t, "dummy")
	w.web = answer(200, nil, "page")
	w.want(get(), "response page", false, 1)
	w.set["HTTPCACHE_IGNORE_MISSING"] = true
	again := get()
	again.RetryTimes = 1
	w.want(again, "response page", true, 0) // there is nothing else
	w.want(&crawl.Request{URL: "http://example.com/other"}, "drop not-cached", false, 0)
	w.wantStats(map[string]int64{"httpcache/miss": 2, "httpcache/firsthand": 1, "httpcache/store": 1, "httpcache/hit": 1, "httpcache/ignore": 1})
}

// A page that was of no use is not the answer to the attempt that was to mend it.
func TestAnotherAttemptReachesTheWeb(t *testing.T) {
	for _, policy := range []string{"dummy", "rfc9111"} {
		w := newCacheWorld(t, policy)
		w.web = answer(200, lined("Cache-Control: max-age=60", `ETag: "1"`), "banned")
		w.want(get(), "response banned", false, 1)
		again := get()
		again.RetryTimes = 1
		w.web = answer(200, lined("Cache-Control: max-age=60"), "page")
		w.want(again, "response page", false, 1)
		if w.asked[0].Headers.Get("If-None-Match") != "" {
			t.Error("asked under a condition")
		}
		w.want(get(), "response page", true, 0)
	}
}

func TestStalePagesAreValidated(t *testing.T) {
	w := newCacheWorld(t, "rfc9111")
	w.web = answer(200, lined(`ETag: "1"`, "Last-Modified: Mon, 19 Oct 2026 12:00:00 GMT", "Cache-Control: max-age=60", "X: 1"), "page")
	w.want(get(), "response page", false, 1)
	w.now = noon.Add(30 * time.Second)
	if resp := w.want(get(), "response page", true, 0); resp.Headers.Get("Age") != "30" {
		t.Errorf("Age %q, want 30", resp.Headers.Get("Age"))
	}

	w.now = noon.Add(90 * time.Second)
	w.web = answer(304, lined("Cache-Control: max-age=60", "X: 2"), "")
	asks := get("Accept: a/b")
	if resp := w.want(asks, "response page", true, 1); resp.Status != 200 || resp.Headers.Get("X") != "2" || resp.Headers.Get("Age") != "0" {
		t.Errorf("status %d, headers %v", resp.Status, resp.Headers)
	}
	conditions := lined("Accept: a/b", `If-None-Match: "1"`, "If-Modified-Since: Mon, 19 Oct 2026 12:00:00 GMT")
	if diff := cmp.Diff(conditions, w.asked[0].Headers); diff != "" {
		t.Errorf("asked with (-want, +got):\n%s", diff)
	}
	if diff := cmp.Diff(lined("Accept: a/b"), asks.Headers); diff != "" {
		t.Errorf("the request has headers of the cache (-want, +got):\n%s", diff)
	}
	w.now = noon.Add(140 * time.Second) // fresh anew
	w.want(get(), "response page", true, 0)

	w.now = noon.Add(time.Hour)
	w.web = answer(200, lined(`ETag: "2"`, "Cache-Control: max-age=60"), "new page")
	w.want(get(), "response new page", false, 1)
	w.want(get(), "response new page", true, 0)
	w.wantStats(map[string]int64{
		"httpcache/miss": 1, "httpcache/firsthand": 1, "httpcache/store": 2, "httpcache/hit": 3, "httpcache/revalidate": 1, "httpcache/invalidate": 1,
	})
}

func TestStalePagesAreBetterThanNone(t *testing.T) {
	w := newCacheWorld(t, "rfc9111")
	w.web = answer(200, lined("Cache-Control: max-age=60"), "page")
	w.want(get(), "response page", false, 1)
	w.now = noon.Add(time.Hour)
	w.web = fail(&crawl.Failure{Reason: handlers.ReasonConnect})
	w.want(get(), "response page", true, 1)
	w.web = answer(503, nil, "busy")
	w.want(get(), "response page", true, 1)
	// What the spider or the guard is to hear of is told.
	w.web = fail(&crawl.Failure{Reason: handlers.ReasonForbiddenAddress})
	w.want(get(), "failure forbidden-address", false, 1)
	w.web = fail(&crawl.Later{At: noon, Why: "slot"})
	w.want(get(), "later slot", false, 1)
	w.web = answer(404, nil, "gone")
	w.want(get(), "response gone", false, 1)
	w.wantStats(map[string]int64{
		"httpcache/miss": 1, "httpcache/firsthand": 1, "httpcache/store": 1, "httpcache/errorrecovery": 1, "httpcache/revalidate": 1,
		"httpcache/invalidate": 1, "httpcache/uncacheable": 1,
	})
}

// Nobody is given what was given to another identity, and nobody its session.
func TestEachIdentityHasItsOwnPages(t *testing.T) {
	w := newCacheWorld(t, "rfc9111")
	w.web = downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		who := req.Headers.Get("Authorization") + req.Headers.Get("Cookie")
		return &crawl.Response{
			URL: req.URL, Status: 200, Request: req, Body: []byte("page of " + who),
			Headers: lined("Cache-Control: public, max-age=60", "Set-Cookie: session=of-"+who),
		}, nil
	})
	for _, who := range []string{"Cookie: s=alice", "Authorization: Basic bob", "Cookie: s=carol"} {
		_, name, _ := strings.Cut(who, ": ")
		if resp := w.want(get(who), "response page of "+name, false, 1); resp.Headers.Get("Set-Cookie") == "" {
			t.Error("the first answer has lost its cookie")
		}
	}
	w.want(get(), "response page of ", false, 1)
	for _, who := range []string{"Cookie: s=alice", "Authorization: Basic bob", "Cookie: s=carol"} {
		_, name, _ := strings.Cut(who, ": ")
		if resp := w.want(get(who), "response page of "+name, true, 0); resp.Headers.Get("Set-Cookie") != "" {
			t.Errorf("the cache gives a cookie: %v", resp.Headers)
		}
	}
	w.want(get(), "response page of ", true, 0)
}

// A Host of one's own has the page of another site come from the address.
func TestAnotherHostsPageIsAnother(t *testing.T) {
	for _, policy := range []string{"dummy", "rfc9111"} {
		w := newCacheWorld(t, policy)
		w.web = downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
			return &crawl.Response{
				URL: req.URL, Status: 200, Request: req, Headers: lined("Cache-Control: max-age=60"),
				Body: []byte("of " + req.Headers.Get("Host")),
			}, nil
		})
		w.want(get("Host: evil.example"), "response of evil.example", false, 1)
		w.want(get(), "response of ", false, 1)
		w.want(get("Host: evil.example"), "response of evil.example", true, 0)
	}
}

// The cache is inside of HTTPCompression: it has each coding as it came.
func TestPackedBodiesAreKeptPacked(t *testing.T) {
	w := newCacheWorld(t, "rfc9111")
	packed := pack(t, "the page", "gzip")
	w.web = downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		resp := &crawl.Response{URL: req.URL, Status: 200, Request: req, Body: []byte("the page"), Headers: lined("Cache-Control: max-age=60", "Vary: Accept-Encoding")}
		if strings.Contains(req.Headers.Get("Accept-Encoding"), "gzip") {
			resp.Body = []byte(packed)
			resp.Headers.Set("Content-Encoding", "gzip")
		}
		return resp, nil
	})
	s := with(t, w.set)
	cache, err := downloadermw.HTTPCache(s, w.st, noLog(), w.blobs, atNoon)
	if err != nil {
		t.Fatal(err)
	}
	h := downloader.Chain(w.web, downloadermw.HTTPCompression(s, w.st, noLog(), nil), cache)
	for _, cached := range []bool{false, true, true} {
		resp, err := h.Fetch(t.Context(), get())
		if got := outcome(resp, err); got != "response the page" || resp.HasFlag("cached") != cached || resp.Headers.Get("Content-Encoding") != "" {
			t.Errorf("%s, flags %v, headers %v", got, resp.Flags, resp.Headers)
		}
	}
	w.want(get("Accept-Encoding: identity"), "response the page", false, 1) // no gzip for those who want none
}

func TestUnsafeMethodsMakePagesVoid(t *testing.T) {
	w := newCacheWorld(t, "rfc9111")
	w.web = answer(200, lined("Cache-Control: max-age=60", "Vary: Accept"), "page")
	w.want(get("Accept: a"), "response page", false, 1)
	w.want(get("Accept: b"), "response page", false, 1)
	w.want(get("Accept: b"), "response page", true, 0)
	change := get()
	change.Method, change.Body, change.DontCache = "PUT", []byte("x"), true
	w.web = answer(500, nil, "no")
	w.want(change, "response no", false, 1)
	w.want(get("Accept: b"), "response page", true, 0)
	w.web = answer(204, nil, "")
	w.want(change, "response ", false, 1)
	w.web = answer(200, lined("Cache-Control: max-age=60", "Vary: Accept"), "changed")
	w.want(get("Accept: a"), "response changed", false, 1)
	w.want(get("Accept: b"), "response changed", false, 1)
}

func TestHeadIsAnsweredByThePage(t *testing.T) {
	w := newCacheWorld(t, "rfc9111")
	w.web = answer(200, lined("Cache-Control: max-age=60", `ETag: "1"`), "page")
	head := get()
	head.Method = "HEAD"
	w.want(head, "response page", false, 1) // kept by nobody
	w.want(get(), "response page", false, 1)
	w.want(head, "response ", true, 0)
	w.now = noon.Add(time.Hour)
	w.web = answer(304, lined("Cache-Control: max-age=60"), "")
	w.want(head, "response ", true, 1)
	w.want(get(), "response page", true, 0)
	w.now = noon.Add(2 * time.Hour)
	w.web = answer(200, lined(`ETag: "2"`), "")
	w.want(head, "response ", false, 1)
	w.web = fail(&crawl.Failure{Reason: handlers.ReasonConnect})
	w.want(get(), "failure connect", false, 1) // the page is void
}

func TestOnlyIfCached(t *testing.T) {
	w := newCacheWorld(t, "rfc9111")
	asks := get("Cache-Control: only-if-cached")
	if resp := w.want(asks, "response ", true, 0); resp.Status != 504 || !asks.DontRetry {
		t.Errorf("status %d, DontRetry %v", resp.Status, asks.DontRetry)
	}
	w.web = answer(200, lined("Cache-Control: max-age=60"), "page")
	w.want(get(), "response page", false, 1)
	w.want(get("Cache-Control: only-if-cached"), "response page", true, 0)
}

func TestLimitsHoldForWhatIsKept(t *testing.T) {
	w := newCacheWorld(t, "dummy")
	w.web = answer(200, nil, "a long page")
	w.want(get(), "response a long page", false, 1)
	small := get()
	small.DownloadMaxsize = 5
	w.want(small, "failure too-large", false, 0)
}

// A store that is down costs the cache, not the page.
func TestAStoreThatIsDown(t *testing.T) {
	w := newCacheWorld(t, "rfc9111")
	w.web = answer(200, lined("Cache-Control: max-age=60"), "page")
	w.blobs = downStore{w.blobs}
	asks := get("Authorization: Basic c2VjcmV0")
	asks.URL = "http://user:secret@example.com/page"
	w.want(asks, "response page", false, 1)
	w.wantStats(map[string]int64{
		"httpcache/retrieve_error": 1, "httpcache/miss": 1, "httpcache/firsthand": 1, "httpcache/store_error": 1,
	})
	if log := w.log.String(); !strings.Contains(log, "the HTTP cache cannot be read") || strings.Contains(log, "secret") || strings.Contains(log, "c2VjcmV0") {
		t.Errorf("log: %s", log)
	}
}

type downStore struct{ blob.Store }

var errDown = errors.New("the store is down")

func (downStore) Get(context.Context, string, int64, int64) ([]byte, error) { return nil, errDown }
func (downStore) Put(context.Context, string, []byte) error                 { return errDown }

func TestACancelledRequestIsNotFetched(t *testing.T) {
	w := newCacheWorld(t, "dummy")
	mw, err := downloadermw.HTTPCache(with(t, w.set), w.st, noLog(), w.blobs, atNoon)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := downloader.Chain(fail(errors.New("fetched")), mw).Fetch(ctx, get()); !errors.Is(err, context.Canceled) {
		t.Errorf("err %v", err)
	}
}

func TestAFolderThatIsNoneOfTheStore(t *testing.T) {
	for _, dir := range []string{"", "/var/cache", "a b", "../up", strings.Repeat("x", 600)} {
		s := with(t, map[string]any{"HTTPCACHE_ENABLED": true, "HTTPCACHE_DIR": dir})
		if _, err := downloadermw.HTTPCache(s, new(stats.Collector), noLog(), memory.NewBlobs(), atNoon); err == nil || !strings.Contains(err.Error(), "HTTPCACHE_DIR") {
			t.Errorf("%q: err %v", dir, err)
		}
	}
}

// The functions may write below httpcache/ alone.
func TestEveryFolderIsBelowOne(t *testing.T) {
	for dir, want := range map[string]string{"httpcache": "httpcache/dummy/", "shop": "httpcache/shop/dummy/", "httpcache/a": "httpcache/a/dummy/", "jobs": "httpcache/jobs/dummy/"} {
		w := newCacheWorld(t, "dummy")
		w.set["HTTPCACHE_DIR"] = dir
		w.web = answer(200, nil, "page")
		w.want(get(), "response page", false, 1)
		if keys, err := w.blobs.List(t.Context(), "", "", 0); err != nil || len(keys) != 1 || !strings.HasPrefix(keys[0], want) {
			t.Errorf("%s: %q, err %v; want %s", dir, keys, err, want)
		}
	}
}

// A request that names its handler has pages of its own.
func TestAnotherHandlersPageIsAnother(t *testing.T) {
	w := newCacheWorld(t, "dummy")
	w.web = answer(200, nil, "plain")
	w.want(get(), "response plain", false, 1)
	rendered := get()
	rendered.DownloadHandler = "browser"
	w.web = answer(200, nil, "rendered")
	w.want(rendered, "response rendered", false, 1)
	w.want(get(), "response plain", true, 0)
	w.want(rendered, "response rendered", true, 0)
	named := get("X-Tenant: a")
	named.IncludeHeaders = []string{"x-tenant"}
	w.want(named, "response rendered", false, 1)
}

// BenchmarkCacheHit is a page of 128 KiB out of a store in memory.
func BenchmarkCacheHit(b *testing.B) {
	for _, packed := range []bool{false, true} {
		name := map[bool]string{false: "plain", true: "gzip"}[packed]
		b.Run(name, func(b *testing.B) {
			s := with(b, map[string]any{"HTTPCACHE_ENABLED": true, "HTTPCACHE_POLICY": "rfc9111", "HTTPCACHE_GZIP": packed})
			mw, err := downloadermw.HTTPCache(s, new(stats.Collector), noLog(), memory.NewBlobs(), atNoon)
			if err != nil {
				b.Fatal(err)
			}
			body := (page + page)[:128<<10]
			h := downloader.Chain(answer(200, lined("Cache-Control: max-age=60", "Content-Type: text/html", `ETag: "1"`), body), mw)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if resp, err := h.Fetch(b.Context(), get()); err != nil || len(resp.Body) != len(body) {
					b.Fatal(err)
				}
			}
		})
	}
}
