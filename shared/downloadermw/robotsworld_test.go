package downloadermw_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/origins"
	"github.com/skitterhq/skitter/shared/stats"
)

// A fakeStore keeps rows and leases in maps.
type fakeStore struct {
	mu     sync.Mutex
	now    func() time.Time
	rows   map[string]origins.Row
	leases map[string]time.Time
	calls  []string
	broken error
	leased func() // what happens elsewhere meanwhile
}

func (s *fakeStore) call(name string) (func(), error) {
	s.mu.Lock()
	s.calls = append(s.calls, name)
	return s.mu.Unlock, s.broken
}

func (s *fakeStore) Get(_ context.Context, origin string) (origins.Row, bool, error) {
	unlock, err := s.call("get")
	defer unlock()
	row := s.rows[origin]
	return row, row.Status != 0, err
}

func (s *fakeStore) Lease(_ context.Context, origin string, until time.Time) (bool, error) {
	unlock, err := s.call("lease")
	defer unlock()
	if err != nil || s.leases[origin].After(s.now()) {
		return false, err
	}
	s.leases[origin] = until
	if s.leased != nil {
		s.leased()
	}
	return true, nil
}

func (s *fakeStore) Put(ctx context.Context, origin string, row origins.Row) error {
	unlock, err := s.call("put")
	defer unlock()
	if err == nil && ctx.Err() == nil {
		s.rows[origin] = row
		delete(s.leases, origin)
	}
	return err
}

// A robotsWorld is a store, a clock and a web in which a Robots works.
type robotsWorld struct {
	t     *testing.T
	clock time.Time
	store *fakeStore
	stats stats.Collector
	asked []*crawl.Request // in the order they were fetched
	web   func(ctx context.Context, req *crawl.Request) (*crawl.Response, error)
	mw    *downloadermw.Robots
	h     downloader.Handler
}

// newWorld makes a world in which all pages exist, and robots.txt is what web
// says.
func newWorld(t *testing.T, settings map[string]any, web downloader.Handler) *robotsWorld {
	w := &robotsWorld{t: t, clock: noon, web: web.Fetch}
	now := func() time.Time { return w.clock }
	w.store = &fakeStore{now: now, rows: map[string]origins.Row{}, leases: map[string]time.Time{}}
	w.mw = downloadermw.NewRobots(w.store, now)
	w.h = w.job(settings)
	return w
}

// job is another job's chain in the same process.
func (w *robotsWorld) job(settings map[string]any) downloader.Handler {
	return w.mw.Middleware(with(w.t, settings), &w.stats, noLog())(downloader.HandlerFunc(
		func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
			w.asked = append(w.asked, req)
			if strings.HasSuffix(req.URL, "/robots.txt") {
				return w.web(ctx, req)
			}
			return answer(200, nil, "page").Fetch(ctx, req)
		}))
}

func (w *robotsWorld) fetch(url string) string {
	w.t.Helper()
	return outcome(w.h.Fetch(w.t.Context(), &crawl.Request{URL: url}))
}

// files counts the robots.txt that were fetched.
func (w *robotsWorld) files() int {
	n := 0
	for _, req := range w.asked {
		if strings.HasSuffix(req.URL, "/robots.txt") {
			n++
		}
	}
	return n
}

const noPrivate = "User-agent: *\nDisallow: /p\nCrawl-delay: 3\n\nUser-agent: other\nDisallow: /q\n"

func unscripted() downloader.Handler { return fail(errors.New("not scripted")) }
