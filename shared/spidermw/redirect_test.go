package spidermw_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/spider"
)

// The Referer in a whole crawl: none for the start and where it is redirected
// to, the page for its links, what redirected for a redirected link.
func TestRefererInACrawl(t *testing.T) {
	var mu sync.Mutex
	told := make(map[string]string)
	site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		told[r.URL.Path] = r.Header.Get("Referer")
		mu.Unlock()
		switch r.URL.Path {
		case "/":
			http.Redirect(w, r, "/home", http.StatusFound)
		case "/moved":
			http.Redirect(w, r, "/target", http.StatusFound)
		}
	})
	s := spider.Spider{
		Name: "s", StartURLs: []string{worldtest.Host + "/"},
		Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
			out.Follow("/link", "end")
			out.Follow("/moved", "end")
			out.Follow("/secret", "end", func(req *crawl.Request) { req.ReferrerPolicy = "no-referrer" })
			return nil
		},
		Callbacks: map[string]spider.Callback{"end": func(context.Context, *spider.Page, *spider.Output) error { return nil }},
	}
	worldtest.CrawlSite(t, s, site, worldtest.CrawlOptions{})
	want := map[string]string{
		"/robots.txt": "", "/": "", "/home": "", "/link": worldtest.Host + "/home", "/moved": worldtest.Host + "/home",
		"/target": worldtest.Host + "/moved", "/secret": "",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
