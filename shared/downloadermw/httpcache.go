package downloadermw

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/httpcache"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/stats"
	"github.com/skitterhq/skitter/shared/weburl"
)

// DropNotCached is the reason of a drop: HTTPCACHE_IGNORE_MISSING lets nothing
// be fetched that the cache does not have.
const DropNotCached = "not-cached"

// cacheFolder is where every cache lies in the blob store: the functions may
// write nowhere else.
const cacheFolder = "httpcache"

// HTTPCache answers requests of http and https from the blob store, with the flag
// "cached", and keeps what comes from the web there. It is the innermost
// middleware, so that what it answers takes no turn at the host, and what it
// keeps is as it came over the wire. All jobs of a project share it.
//
// HTTPCACHE_POLICY says what may be kept and given again:
//
//	dummy    everything, for ever, by the request's fingerprint alone
//	rfc9111  what HTTP allows, by the fingerprint, the headers that the answer's
//	         Vary names, and always by Cookie and Authorization
//
// By rfc9111 what is stale is asked for under a condition, and given again where
// the server confirms it, answers with 5xx, or fails for one of RETRY_EXCEPTIONS,
// unless it forbids that; POST, PUT, DELETE and the like make what is kept for
// their URL void. Another attempt at a request is never answered from the cache.
// With HTTPCACHE_IGNORE_MISSING what is not in it is dropped as "not-cached".
//
// Settings: HTTPCACHE_ENABLED, HTTPCACHE_POLICY, HTTPCACHE_DIR,
// HTTPCACHE_EXPIRATION_SECS, HTTPCACHE_GZIP, HTTPCACHE_ALWAYS_STORE,
// HTTPCACHE_IGNORE_MISSING, HTTPCACHE_IGNORE_HTTP_CODES, HTTPCACHE_IGNORE_SCHEMES,
// HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS, RETRY_EXCEPTIONS, DOWNLOAD_MAXSIZE.
// Request options: DontCache, DownloadMaxsize. Stats: httpcache/hit, /miss,
// /ignore, /firsthand, /store, /uncacheable, /revalidate, /invalidate,
// /errorrecovery, /retrieve_error, /store_error.
//
// The error says what is wrong with a setting.
func HTTPCache(s settings.Settings, st *stats.Collector, log *slog.Logger, blobs blob.Store, now func() time.Time) (downloader.Middleware, error) {
	if !s.HTTPCacheEnabled {
		return off, nil
	}
	var policy httpcache.Policy = httpcache.Dummy{}
	if s.HTTPCachePolicy == settings.RFC9111 {
		policy = httpcache.RFC9111{AlwaysStore: s.HTTPCacheAlwaysStore, IgnoreResponse: lower(s.HTTPCacheIgnoreResponseCacheControls)}
	}
	prefix := s.HTTPCacheDir + "/" + policy.Name()
	if s.HTTPCacheDir != cacheFolder && !strings.HasPrefix(s.HTTPCacheDir, cacheFolder+"/") {
		prefix = cacheFolder + "/" + prefix
	}
	if err := blob.CheckKey(prefix); err != nil || len(prefix) > blob.MaxKey/2 {
		return nil, fmt.Errorf("setting HTTPCACHE_DIR: %q is no name in the blob store: want letters, digits and - _ . =, with slashes between them, as in %q", s.HTTPCacheDir, cacheFolder)
	}
	s.HTTPCacheIgnoreSchemes = lower(s.HTTPCacheIgnoreSchemes)
	c := &httpCache{
		settings: s, stats: st, log: log, policy: policy, now: now,
		store: &httpcache.Store{Blobs: blobs, Prefix: prefix, Expires: s.HTTPCacheExpirationSecs, Gzip: s.HTTPCacheGzip, Now: now},
	}
	return func(next downloader.Handler) downloader.Handler {
		return downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
			return c.fetch(ctx, req, next)
		})
	}, nil
}

func lower(words []string) []string {
	var all []string
	for _, w := range words {
		all = append(all, strings.ToLower(w))
	}
	return all
}

type httpCache struct {
	settings settings.Settings
	stats    *stats.Collector
	log      *slog.Logger
	policy   httpcache.Policy
	store    *httpcache.Store
	now      func() time.Time
	warned   atomic.Bool
}

func (c *httpCache) fetch(ctx context.Context, req *crawl.Request, next downloader.Handler) (*crawl.Response, error) {
	u, err := weburl.Parse(req.URL)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" || slices.Contains(c.settings.HTTPCacheIgnoreSchemes, u.Scheme()) {
		return next.Fetch(ctx, req)
	}
	fingerprint := fingerprintFor(req, u, c.policy.Method(req.HTTPMethod()))
	if req.DontCache || !c.policy.Takes(req) {
		return c.past(ctx, req, next, fingerprint)
	}
	l := look{httpCache: c, req: req, next: next}
	if l.kept, l.place, err = c.store.Look(ctx, fingerprint, req.Headers); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.stats.Inc("httpcache/retrieve_error")
		c.warn("the HTTP cache cannot be read", req, err)
	}
	return l.fetch(ctx)
}

// past fetches what is not for the cache, and forgets what it makes void.
func (c *httpCache) past(ctx context.Context, req *crawl.Request, next downloader.Handler, fingerprint string) (*crawl.Response, error) {
	resp, err := next.Fetch(ctx, req)
	if err != nil || !c.policy.Voids(req, resp) {
		return resp, err
	}
	if err := c.store.Forget(context.WithoutCancel(ctx), fingerprint); err != nil {
		c.storeError(req, err)
		return resp, nil
	}
	c.stats.Inc("httpcache/invalidate")
	return resp, nil
}

func (c *httpCache) storeError(req *crawl.Request, err error) {
	c.stats.Inc("httpcache/store_error")
	c.warn("the HTTP cache cannot be written", req, err)
}

// warn logs a warning the first time, and each further one as DEBUG: a store
// that is down is so for every page.
func (c *httpCache) warn(text string, req *crawl.Request, err error) {
	level := slog.LevelWarn
	if c.warned.Swap(true) {
		level = slog.LevelDebug
	}
	c.log.Log(context.Background(), level, text, "url", shown(req), "err", err)
}

// fingerprintFor is what a request is kept under. A handler that the request
// names may make another page of the same address, and so does a Host of its
// own.
func fingerprintFor(req *crawl.Request, u weburl.URL, method string) string {
	var headers map[string][]string
	for _, name := range append([]string{"Host"}, req.IncludeHeaders...) {
		if values := req.Headers[http.CanonicalHeaderKey(name)]; len(values) > 0 {
			if headers == nil {
				headers = make(map[string][]string)
			}
			headers[name] = values
		}
	}
	body := req.Body
	if method != req.HTTPMethod() {
		body = nil
	}
	fingerprint := weburl.RequestFingerprint(method, u, body, headers)
	if req.DownloadHandler != "" {
		fingerprint = sha1.Sum(append(fingerprint[:], req.DownloadHandler...))
	}
	return hex.EncodeToString(fingerprint[:])
}

// A look is one request's at the cache.
type look struct {
	*httpCache
	req   *crawl.Request
	next  downloader.Handler
	kept  *httpcache.Entry // nil: nothing
	place httpcache.Place
}

func (l *look) fetch(ctx context.Context) (*crawl.Response, error) {
	offline := l.settings.HTTPCacheIgnoreMissing
	switch {
	case l.kept == nil:
		l.stats.Inc("httpcache/miss")
	case offline, l.req.RetryTimes == 0 && l.policy.Fresh(l.kept, l.req, l.now()):
		l.stats.Inc("httpcache/hit")
		return l.give()
	case l.req.RetryTimes > 0:
		// The answer that is kept may be the one that was of no use.
		l.kept = nil
	}
	switch {
	case offline:
		l.stats.Inc("httpcache/ignore")
		return nil, &crawl.Drop{Reason: DropNotCached}
	case l.policy.Only(l.req):
		l.req.DontRetry = true // the cache will have it no more next time
		return &crawl.Response{URL: l.req.URL, Status: http.StatusGatewayTimeout, Headers: http.Header{}, Flags: []string{crawl.FlagCached}, Request: l.req}, nil
	}
	return l.web(ctx)
}

// web asks the web, under a condition if something is kept.
func (l *look) web(ctx context.Context) (*crawl.Response, error) {
	asked := l.req
	if l.kept != nil {
		asked = l.req.Clone()
		l.policy.Condition(l.kept, asked)
	}
	answer, err := l.next.Fetch(ctx, asked)
	if err != nil {
		return l.failed(err)
	}
	if answer.Request == asked {
		answer.Request = l.req
	}
	if answer.Headers == nil {
		answer.Headers = http.Header{}
	}
	if answer.Headers.Get("Date") == "" {
		answer.Headers.Set("Date", l.now().UTC().Format(http.TimeFormat))
	}
	if l.kept == nil {
		l.stats.Inc("httpcache/firsthand")
		l.keep(ctx, answer)
		return answer, nil
	}
	switch l.policy.Judge(l.kept, l.req, answer, l.now()) {
	case httpcache.Renewed:
		l.put(ctx, l.kept)
		fallthrough
	case httpcache.Confirmed:
		l.stats.Inc("httpcache/revalidate")
		return l.give()
	}
	if l.req.HTTPMethod() == http.MethodHead {
		l.compare(ctx, answer)
		return answer, nil
	}
	l.stats.Inc("httpcache/invalidate")
	l.keep(ctx, answer)
	return answer, nil
}

// failed gives what is kept, stale as it is, where the web has failed.
func (l *look) failed(err error) (*crawl.Response, error) {
	var failure *crawl.Failure
	if l.kept == nil || !errors.As(err, &failure) || !slices.Contains(l.settings.RetryExceptions, failure.Reason) || !l.policy.Saves(l.kept, l.req, l.now()) {
		return nil, err
	}
	l.stats.Inc("httpcache/errorrecovery")
	return l.give()
}

// compare drops what is kept if a HEAD says that the page is another now.
func (l *look) compare(ctx context.Context, answer *crawl.Response) {
	if answer.Status != http.StatusOK || !l.kept.Differs(answer) {
		return
	}
	if err := l.store.Drop(context.WithoutCancel(ctx), l.place); err != nil {
		l.storeError(l.req, err)
		return
	}
	l.stats.Inc("httpcache/invalidate")
}

// keep keeps an answer, if it may be.
func (l *look) keep(ctx context.Context, answer *crawl.Response) {
	if slices.Contains(l.settings.HTTPCacheIgnoreHTTPCodes, answer.Status) || !l.policy.Keeps(l.req, answer, l.now()) {
		l.stats.Inc("httpcache/uncacheable")
		return
	}
	if l.put(ctx, l.policy.Entry(answer, l.now())) {
		l.stats.Inc("httpcache/store")
	}
}

// put writes an entry, also when the request is given up on: its answer is here.
func (l *look) put(ctx context.Context, e *httpcache.Entry) bool {
	if err := l.store.Keep(context.WithoutCancel(ctx), l.place, l.req.Headers, e); err != nil {
		l.storeError(l.req, err)
		return false
	}
	return true
}

// give answers with what is kept.
func (l *look) give() (*crawl.Response, error) {
	resp := l.policy.Given(l.kept, l.now())
	if l.req.HTTPMethod() == http.MethodHead {
		resp.Body = nil
	}
	if most := handlers.Maxsize(l.req, l.settings.DownloadMaxsize); most > 0 && int64(len(resp.Body)) > most {
		return nil, &crawl.Failure{
			Reason: handlers.ReasonTooLarge, Message: fmt.Sprintf("%d bytes in the HTTP cache, the limit is %d", len(resp.Body), most), Request: l.req,
		}
	}
	resp.Request = l.req
	resp.Flags = append(resp.Flags, crawl.FlagCached)
	return resp, nil
}
