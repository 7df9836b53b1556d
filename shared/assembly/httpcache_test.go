package assembly_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/assembly/machine"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

// What one job has fetched the next one finds, one of another spider too, and so
// do the commands for single pages. A job without the cache leaves none.
func TestTheHTTPCacheIsOfAllJobs(t *testing.T) {
	t.Chdir(t.TempDir())
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/c", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<h1>%s</h1>", r.URL.Path)
		if r.URL.Path == "/" {
			fmt.Fprint(w, "<a href=/a>a</a><a href=/b>b</a><a href=/moved>c</a>")
		}
	}))
	defer server.Close()
	set := map[string]string{"HTTPCACHE_ENABLED": "true", "DOWNLOAD_DELAY": "0", "ROBOTSTXT_OBEY": "false", "LOG_LEVEL": "ERROR"}

	p := spiders.Project()
	p.Definitions, p.Spiders = nil, nil
	for _, name := range []string{"first", "second"} {
		p.Spiders = append(p.Spiders, spider.Spider{
			Name: name, StartURLs: []string{server.URL + "/"},
			Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
				out.Item(map[string]any{"title": page.CSS("h1::text").Get(), "cached": page.HasFlag(crawl.FlagCached)})
				out.FollowSelection(page.CSS("a"), "")
				return nil
			},
		})
	}
	log := slog.New(slog.DiscardHandler)
	single := func(settings map[string]string) *crawl.Response {
		s, err := assembly.NewSingle(p, nil, crawl.JobSpec{Settings: settings}, log)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.Fetch(t.Context(), &crawl.Request{URL: server.URL + "/a"})
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	single(map[string]string{"DOWNLOAD_DELAY": "0", "ROBOTSTXT_OBEY": "false"})
	if _, err := os.Stat(assembly.StateDir); !os.IsNotExist(err) {
		t.Errorf("without a cache there is state: %v", err)
	}
	asked.Store(0)

	for k, name := range []string{"first", "second"} {
		m, err := machine.Open(machine.Options{Dir: assembly.StateDir, Project: p, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		feed := crawl.Feed{URI: name + ".jsonl", Format: "jsonl", Overwrite: true}
		job, _, err := m.Create(t.Context(), engine.Order{Project: "default", Name: name, Spec: crawl.JobSpec{Spider: name, Settings: set, Feeds: []crawl.Feed{feed}}})
		if err != nil {
			t.Fatal(err)
		}
		if job, err = m.Run(t.Context(), job.UID); err != nil || job.State != crawl.JobFinished {
			t.Fatalf("job %+v, err %v", job, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		items, err := os.ReadFile(feed.URI)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, path := range []string{"/", "/a", "/b", "/c"} {
			want = append(want, fmt.Sprintf(`{"cached":%v,"title":"%s"}`, k == 1, path))
		}
		if diff := cmp.Diff(want, sortedLines(string(items))); diff != "" {
			t.Errorf("%s: items (-want, +got):\n%s", name, diff)
		}
	}
	if got := single(set); !got.HasFlag(crawl.FlagCached) {
		t.Errorf("a single page: flags %v", got.Flags)
	}
	if n := asked.Load(); n != 5 {
		t.Errorf("the site was asked %d times, want 5", n)
	}
}

func sortedLines(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return lines
}
