package downloadermw_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/stats"
)

// V: 1,000 environments meet a new host at once. One of them fetches its
// robots.txt; the others come back and find it.
func TestInterleavingV(t *testing.T) {
	const environments = 1000
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewOrigins(time.Now)
		var mu sync.Mutex
		files, pages := 0, 0
		web := downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
			time.Sleep(300 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			resp := &crawl.Response{URL: req.URL, Status: 200, Request: req}
			if strings.HasSuffix(req.URL, "/robots.txt") {
				files++
				resp.Body = []byte("User-agent: *\nDisallow: /private/\n")
			} else {
				pages++
			}
			return resp, nil
		})
		begin := time.Now()
		var all sync.WaitGroup
		for range environments {
			all.Go(func() {
				// Each has its own cache, as a process of its own would.
				mw := downloadermw.NewRobots(store, time.Now).Middleware(with(t, nil), new(stats.Collector), noLog())
				h := mw(web)
				for {
					_, err := h.Fetch(t.Context(), &crawl.Request{URL: "http://new.example/p"})
					var later *crawl.Later
					if !errors.As(err, &later) {
						if err != nil {
							t.Error(err)
						}
						return
					}
					time.Sleep(time.Until(later.At))
				}
			})
		}
		all.Wait()
		if files != 1 || pages != environments {
			t.Errorf("robots.txt was fetched %d times and %d pages, want 1 and %d", files, pages, environments)
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("took %s, want some seconds", took)
		}
	})
}
