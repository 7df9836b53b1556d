package casetest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

// A sitemapFile is a sitemap as a server sends it.
type sitemapFile struct {
	URL     string
	Headers map[string]string
	Body    string
	BodyB64 []byte `json:"body_b64"`
	Options struct {
		Alternates bool `json:"sitemap_alternate_links"`
	}
	Robots  string // of the same site
	Variant string // another body, of which the same is expected
	Gen     *struct {
		Type   string
		Levels int
	}
}

// sitemaps is what a case of one file expects.
type sitemaps struct {
	URLs        []string
	Sitemaps    []string // of Robots
	MustInclude []string `json:"must_include"`
	MaxSeconds  float64  `json:"max_seconds"`
	MaxMiB      float64  `json:"max_mib"`
	FileReads   *int     `json:"file_reads"`
}

func sitemapCase(t *testing.T, c reported) {
	var file sitemapFile
	var want sitemaps
	decode(t, c, &file, &want)
	if file.Gen != nil {
		if file.Gen.Type != "billion_laughs" {
			t.Fatalf("nobody makes a file of type %q", file.Gen.Type)
		}
		file.Body = laughs(file.Gen.Levels)
	}
	bodies := []string{file.Body + string(file.BodyB64)}
	if file.Variant != "" {
		bodies = append(bodies, file.Variant)
	}
	for _, body := range bodies {
		secret := filepath.Join(t.TempDir(), "passwd")
		if want.FileReads != nil {
			if err := os.WriteFile(secret, []byte("root:x:0"), 0o600); err != nil {
				t.Fatal(err)
			}
			body = strings.ReplaceAll(body, "/etc/passwd", filepath.ToSlash(secret))
		}
		var got []string
		var used bounds
		opened := openings(t, secret, func() { used = measured(func() { got = readSitemap(t, file, body) }) })
		used.check(t, want)
		if want.FileReads != nil && opened != *want.FileReads {
			t.Errorf("the file outside was opened %d times, want %d", opened, *want.FileReads)
		}
		if want.URLs != nil && !cmp.Equal(want.URLs, got) {
			t.Errorf("URLs (-want +got):\n%s", cmp.Diff(want.URLs, got))
		}
		for _, url := range want.MustInclude {
			if !slices.Contains(got, url) {
				t.Errorf("%s is not in %q", url, got)
			}
		}
		if strings.Contains(strings.Join(got, " "), "root:") {
			t.Errorf("the file outside is in %q", got)
		}
	}
	if file.Robots != "" {
		robots := sitemapFile{URL: "http://example.com/robots.txt", Headers: map[string]string{"Content-Type": "text/plain"}}
		if diff := cmp.Diff(want.Sitemaps, readSitemap(t, robots, file.Robots)); diff != "" {
			t.Errorf("sitemaps of robots.txt (-want +got):\n%s", diff)
		}
	}
}

func sitemapMany(t *testing.T, c reported) {
	var in struct{ Cases []sitemapFile }
	var want sitemaps
	decode(t, c, &in, &want)
	for i, file := range in.Cases {
		if diff := cmp.Diff(want.URLs, readSitemap(t, file, file.Body+string(file.BodyB64))); diff != "" {
			t.Errorf("file %d: URLs (-want +got):\n%s", i, diff)
		}
	}
	if len(in.Cases) == 0 {
		t.Error("the case has no file")
	}
}

// laughs is a sitemap of entities that are made of one another.
func laughs(levels int) string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE u [<!ENTITY a "aaaaaaaaaa">`)
	for n := 1; n < levels; n++ {
		fmt.Fprintf(&b, `<!ENTITY %c "%s">`, 'a'+n, strings.Repeat(fmt.Sprintf("&%c;", 'a'+n-1), 10))
	}
	fmt.Fprintf(&b, "]><urlset><url><loc>http://example.com/&%c;</loc></url><url><loc>http://example.com/ok</loc></url></urlset>", 'a'+levels-1)
	return b.String()
}

// readSitemap has the leg read a file that the downloader has received, and
// returns the URLs that it asks for.
func readSitemap(t *testing.T, file sitemapFile, body string) []string {
	t.Helper()
	page := received(t, file.URL, "sitemap", file.Headers, body)
	s := spider.Spider{
		Parse: func(context.Context, *spider.Page, *spider.Output) error { return nil },
		Legs:  []spider.Leg{legs.Sitemap{SitemapAlternateLinks: file.Options.Alternates}.Leg()},
	}
	var urls []string
	for _, res := range results(t, s, page) {
		urls = append(urls, res.Request.URL)
	}
	return urls
}

// received is the page of a response after the downloader's middlewares.
func received(t *testing.T, url, callback string, headers map[string]string, body string) *spider.Page {
	t.Helper()
	resp := &crawl.Response{URL: url, Status: http.StatusOK, Body: []byte(body), Headers: http.Header{}}
	for name, value := range headers {
		resp.Headers.Set(name, value)
	}
	defaults, err := settings.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	unpack := downloadermw.HTTPCompression(defaults, new(stats.Collector), slog.New(slog.DiscardHandler), nil)
	handler := downloader.Chain(downloader.HandlerFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) { return resp, nil }), unpack)
	req := &crawl.Request{URL: url, Callback: callback}
	if resp, err = handler.Fetch(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	resp.Request = req
	return spider.NewPage(resp, nil, crawl.Job{}, nil)
}

// results are what a spider gives for a page.
func results(t *testing.T, s spider.Spider, page *spider.Page) []crawl.Result {
	t.Helper()
	s.Name = "case"
	registry, err := spider.NewRegistry(s)
	if err != nil {
		t.Fatal(err)
	}
	if page.Spider, err = registry.Get(s.Name); err != nil {
		t.Fatal(err)
	}
	var all []crawl.Result
	for res, err := range spider.NewChain(page.Spider, new(stats.Collector)).Process(t.Context(), page) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, res)
	}
	return all
}

// bounds are the time and the memory that something took.
type bounds struct {
	took      time.Duration
	allocated uint64 // in all, also what was given back
}

func measured(do func()) (b bounds) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	do()
	b.took = time.Since(begin)
	runtime.ReadMemStats(&after)
	b.allocated = after.TotalAlloc - before.TotalAlloc
	return b
}

func (b bounds) check(t *testing.T, want sitemaps) {
	t.Helper()
	if want.MaxSeconds > 0 && b.took.Seconds() > want.MaxSeconds {
		t.Errorf("it took %v, want at most %v s", b.took, want.MaxSeconds)
	}
	if mib := float64(b.allocated) / (1 << 20); want.MaxMiB > 0 && mib > want.MaxMiB {
		t.Errorf("it took %.1f MiB, want at most %v", mib, want.MaxMiB)
	}
}

// feedTitles has the XML feed leg read a feed, and returns its titles.
func feedTitles(t *testing.T, body []byte) []string {
	t.Helper()
	page := received(t, "http://example.com/feed.xml", "", map[string]string{"Content-Type": "application/rss+xml"}, string(body))
	s := spider.Spider{Legs: []spider.Leg{legs.XMLFeed{Fields: legs.FieldList{{Name: "title", XPath: "title/text()"}}}.Leg()}}
	var titles []string
	for _, res := range results(t, s, page) {
		title, _ := res.Item.Get("title")
		text, _ := title.(string)
		titles = append(titles, text)
	}
	return titles
}

func feedCase(t *testing.T, c reported) {
	var in struct {
		Body []byte `json:"body_b64"`
	}
	var want struct{ Titles []json.RawMessage }
	decode(t, c, &in, &want)
	got := feedTitles(t, in.Body)
	if len(got) != len(want.Titles) {
		t.Fatalf("titles %q, want %d", got, len(want.Titles))
	}
	for i, raw := range want.Titles {
		var any []string // one of these
		if json.Unmarshal(raw, &any) != nil {
			any = make([]string, 1)
			if err := json.Unmarshal(raw, &any[0]); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Contains(any, got[i]) {
			t.Errorf("title %q, want one of %q", got[i], any)
		}
	}
}

func feedMany(t *testing.T, c reported) {
	var in struct {
		Bodies [][]byte `json:"bodies_b64"`
	}
	var want struct{ Items []struct{ Title string } }
	decode(t, c, &in, &want)
	var titles []string
	for _, item := range want.Items {
		titles = append(titles, item.Title)
	}
	for i, body := range in.Bodies {
		if diff := cmp.Diff(titles, feedTitles(t, body)); diff != "" {
			t.Errorf("feed %d: titles (-want +got):\n%s", i, diff)
		}
	}
	if len(in.Bodies) == 0 || len(titles) == 0 {
		t.Error("the case has no feed, or expects nothing")
	}
}
