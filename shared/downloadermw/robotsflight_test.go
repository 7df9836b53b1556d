package downloadermw_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
)

func TestABatchForOneHostFetchesItsFileOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const batch = 16
		for name, file := range map[string]struct {
			h    downloader.Handler
			want string
		}{
			"a file":       {answer(200, nil, noPrivate), "drop robots"},
			"no host":      {fail(&crawl.Failure{Reason: "dns"}), "failure dns"},
			"no turn":      {fail(&crawl.Later{At: noon.Add(time.Minute), Queued: true, Why: "slot"}), "later"},
			"a middleware": {fail(&crawl.Drop{Reason: "no text files"}), "drop no text files"},
		} {
			w := newWorld(t, nil, file.h)
			w.web = func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
				time.Sleep(time.Second) // in the bubble's time, until all others wait
				return file.h.Fetch(ctx, req)
			}
			var all sync.WaitGroup
			var mu sync.Mutex
			queued := 0
			for n := range batch {
				all.Go(func() {
					req := &crawl.Request{URL: fmt.Sprintf("http://example.com/p/%d", n)}
					resp, err := w.h.Fetch(t.Context(), req)
					if got := outcome(resp, err); !strings.HasPrefix(got, file.want) {
						t.Errorf("%s: %s, want %s", name, got, file.want)
					}
					var failure *crawl.Failure
					if errors.As(err, &failure) && failure.Request != req {
						t.Errorf("%s: the failure is another request's", name)
					}
					var later *crawl.Later
					if errors.As(err, &later) && later.Queued {
						mu.Lock()
						queued++
						mu.Unlock()
					}
				})
			}
			all.Wait()
			if w.files() != 1 {
				t.Errorf("%s: %d files for a batch", name, w.files())
			}
			if want := strings.Count(name, "turn"); queued != want {
				t.Errorf("%s: %d requests keep a place in the line, want %d", name, queued, want)
			}
		}
	})
}

func TestWhoWaitsGoesOnWhenTheFirstIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, unscripted())
		w.web = func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Second):
				return answer(200, nil, noPrivate).Fetch(ctx, req)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			_, err := w.h.Fetch(ctx, &crawl.Request{URL: "http://example.com/1"})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the first: %v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if got := w.fetch("http://example.com/p"); got != "drop robots" {
				t.Errorf("the second: %s", got)
			}
		})
		impatient, stop := context.WithCancel(t.Context())
		all.Go(func() {
			_, err := w.h.Fetch(impatient, &crawl.Request{URL: "http://example.com/3"})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the third: %v", err)
			}
		})
		synctest.Wait()
		stop()
		synctest.Wait()
		cancel()
		all.Wait()
		if w.files() != 2 {
			t.Errorf("%d files", w.files())
		}
		if len(w.store.leases) != 0 {
			t.Errorf("leases %v", w.store.leases)
		}
	})
}
