package spiders_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/site"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

// A chain is a site of pages /1, /2, … each of which links to the next. /2 has
// moved to /two. It keeps the headers that each page was asked with.
type chain struct {
	length int

	mu    sync.Mutex
	asked map[string]http.Header
}

func (c *chain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	if c.asked == nil {
		c.asked = make(map[string]http.Header)
	}
	c.asked[r.URL.Path] = r.Header.Clone()
	c.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/")
	if path == "two" {
		path = "2"
	} else if path == "2" {
		http.Redirect(w, r, "/two", http.StatusFound)
		return
	}
	n, err := strconv.Atoi(path)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, "<p>A page")
	if n < c.length {
		fmt.Fprintf(w, "<a href=/%d>next</a>", n+1)
	}
}

// crawlChain has a spider of the project's own lists follow a chain. Its items
// say which pages the tokenizer read.
func crawlChain(t *testing.T, c *chain, settings map[string]string) worldtest.Crawl {
	t.Helper()
	p := spiders.Project()
	p.Spiders = append(p.Spiders, spider.Spider{
		Name: "chain", AllowedDomains: []string{"world.example"}, StartURLs: []string{worldtest.Host + "/1", "http://elsewhere.example/"},
		Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			for href := range page.CSS("a").Each() {
				out.Follow(href.Attr("href"), "")
			}
			out.Item(map[string]any{"path": strings.TrimPrefix(page.URL, worldtest.Host), "tokenized": page.Document().Tokenized()})
			return nil
		},
	})
	return worldtest.CrawlProject(t, p, "chain", c, worldtest.CrawlOptions{Settings: settings})
}

func TestTheProjectLogsItsProgress(t *testing.T) {
	got := crawlChain(t, &chain{length: 20}, nil)
	if line := regexp.MustCompile(`Crawled \d+ pages \(at \d+ pages/min\), scraped \d+ items`); !line.MatchString(got.Log) {
		t.Errorf("no line of progress in the log:\n%s", got.Log)
	}
	got = crawlChain(t, &chain{length: 20}, map[string]string{"LOGSTATS_INTERVAL": "0"})
	if strings.Contains(got.Log, "Crawled") {
		t.Errorf("progress in the log, where none is wanted:\n%s", got.Log)
	}
}

func TestTheProjectClosesJobsAtALimit(t *testing.T) {
	got := crawlChain(t, &chain{length: 100}, map[string]string{"CLOSESPIDER_ITEMCOUNT": "3"})
	if got.Job.Reason != "closespider_itemcount" {
		t.Errorf("the job ended with %s", got.Job.Reason)
	}
}

func TestTheProjectSendsHeaders(t *testing.T) {
	c := &chain{length: 3}
	crawlChain(t, c, map[string]string{"USER_AGENT": "tester"})
	for path, want := range map[string]string{
		"/1": "", "/2": worldtest.Host + "/1", "/two": worldtest.Host + "/2", "/3": worldtest.Host + "/two",
	} {
		if got := c.asked[path].Get("Referer"); got != want {
			t.Errorf("%s was asked for with the Referer %q, want %q", path, got, want)
		}
		for _, name := range []string{"Accept", "Accept-Language", "Accept-Encoding"} {
			if c.asked[path].Get(name) == "" {
				t.Errorf("%s was asked for without %s", path, name)
			}
		}
		if got := c.asked[path].Get("User-Agent"); got != "tester" {
			t.Errorf("%s was asked for by %q", path, got)
		}
	}
}

func TestTheProjectCountsDepths(t *testing.T) {
	for verbose, want := range map[string]map[string]any{
		"false": {"request_depth_max": 3.0},
		"true": {
			"request_depth_max": 3.0, "request_depth_count/0": 1.0, "request_depth_count/1": 1.0,
			"request_depth_count/2": 1.0, "request_depth_count/3": 1.0,
		},
	} {
		got := make(map[string]any)
		for key, n := range crawlChain(t, &chain{length: 4}, map[string]string{"DEPTH_STATS_VERBOSE": verbose}).Final {
			if strings.HasPrefix(key, "request_depth") {
				got[key] = n
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("DEPTH_STATS_VERBOSE=%s (-want +got):\n%s", verbose, diff)
		}
	}
}

func TestTheProjectParsesPagesUpToASize(t *testing.T) {
	for size, want := range map[string]string{"1": "true", "1000": "false"} {
		got := crawlChain(t, &chain{length: 1}, map[string]string{"PARSE_MAXSIZE": size})
		if diff := cmp.Diff([]string{`{"path":"/1","tokenized":` + want + `}`}, got.Items); diff != "" {
			t.Errorf("PARSE_MAXSIZE=%s (-want +got):\n%s", size, diff)
		}
	}
}

func TestTheProjectObeysRobotsTxtAndAllowedDomains(t *testing.T) {
	shop, err := site.New(site.Options{Pages: 4})
	if err != nil {
		t.Fatal(err)
	}
	p := spiders.Project()
	p.Spiders = append(p.Spiders, spider.Spider{
		Name: "nosy", AllowedDomains: []string{"world.example"}, StartURLs: []string{worldtest.Host + "/p/1"},
		Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			out.Follow("/private/secret", "")
			out.Request(&crawl.Request{URL: "http://elsewhere.example/"})
			return nil
		},
	})
	got := worldtest.CrawlProject(t, p, "nosy", shop, worldtest.CrawlOptions{})
	if diff := cmp.Diff([]string{"/p/1"}, got.Paths()); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if got.Stats["robotstxt/forbidden"] != 1 || got.Stats["offsite/filtered"] != 1 || got.Stats["scheduler/enqueued"] != 2 {
		t.Errorf("stats %v, want one forbidden, one filtered and none enqueued that leaves the domains", got.Stats)
	}
}

func TestTheProjectsSpidersCrawlTheBuiltInSite(t *testing.T) {
	builtIn, err := site.New(site.Options{Pages: 30})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		start string
		items int
	}{
		"shop": {"/", 30}, "shop-yaml": {"/", 30}, "quotes": {"/quotes/", 110}, "quotes-yaml": {"/quotes/", 110},
	} {
		t.Run(name, func(t *testing.T) {
			got := worldtest.CrawlProject(t, spiders.Project(), name, builtIn, worldtest.CrawlOptions{StartURLs: []string{worldtest.Host + want.start}})
			if len(got.Items) != want.items {
				t.Errorf("%d items, want %d", len(got.Items), want.items)
			}
		})
	}
}
