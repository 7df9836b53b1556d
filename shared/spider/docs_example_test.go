package spider_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spidermw"
	"github.com/skitterhq/skitter/shared/stats"
)

// The code of docs/spiders.md, from here to the tests.

func Library() spider.Spider {
	return spider.Spider{
		Name:           "library",
		AllowedDomains: []string{"library.example"},
		StartURLs:      []string{"http://library.example/shelf/1"},
		Parse:          readShelf,
		Callbacks:      map[string]spider.Callback{"book": readBook},
		Errbacks:       map[string]spider.Errback{"missing": missing},
		Settings:       map[string]any{"DOWNLOAD_DELAY": "500ms", "DEPTH_LIMIT": 5},
	}
}

func readShelf(_ context.Context, page *spider.Page, out *spider.Output) error {
	shelf := page.CSS("h1::text").Get()
	for row := range page.CSS("li.book").Each() {
		out.FollowSelection(row.CSS("a"), "book", func(req *crawl.Request) {
			req.Errback = "missing"
			req.CBKwargs = crawl.Values{"shelf": shelf}
		})
	}
	out.FollowSelection(page.CSS("li.next a"), "")
	return nil
}

func readBook(_ context.Context, page *spider.Page, out *spider.Output) error {
	out.Item(map[string]any{
		"title": page.CSS("h1::text").Get(),
		"shelf": page.CBKwargs().String("shelf"),
		"url":   page.URL,
	})
	return nil
}

func missing(_ context.Context, page *spider.Page, out *spider.Output) error {
	var status *spidermw.StatusError
	var failure *crawl.Failure
	switch {
	case errors.As(page.Failure, &status):
		out.Item(map[string]any{"url": page.URL, "status": status.Status})
	case errors.As(page.Failure, &failure):
		out.Item(map[string]any{"url": page.URL, "failed": failure.Reason})
	}
	return nil
}

func CheckedLibrary() spider.Spider {
	s := Library()
	s.Contracts = []spider.Contract{
		{
			URL:      "http://library.example/shelf/1",
			Items:    spider.Exactly(0),
			Requests: spider.AtLeast(1),
		},
		{
			URL:      "http://library.example/book/1",
			Callback: "book",
			CBKwargs: crawl.Values{"shelf": "Shelf 1"},
			Items:    spider.Between(1, 3),
			Scrapes:  []string{"title", "shelf"},
			Check:    sameAddress,
		},
	}
	return s
}

// sameAddress wants each item to name the page that it comes from.
func sameAddress(page *spider.Page, items []crawl.Item, _ []*crawl.Request) error {
	for _, item := range items {
		if url, _ := item.Get("url"); url != page.URL {
			return fmt.Errorf("the item's url is %v", url)
		}
	}
	return nil
}

func AllShelves() spider.Spider {
	s := Library()
	s.Name = "all-shelves"
	s.CheckArgs = func(args map[string]string) error {
		if _, err := strconv.Atoi(args["shelves"]); err != nil {
			return fmt.Errorf("-a shelves=%s: want a number", args["shelves"])
		}
		return nil
	}
	s.Start = func(_ context.Context, start spider.Start) spider.Results {
		return func(yield func(crawl.Result, error) bool) {
			n, err := strconv.Atoi(start.Args["shelves"])
			if err != nil {
				yield(crawl.Result{}, err)
				return
			}
			for k := range n {
				req := &crawl.Request{URL: fmt.Sprintf("http://library.example/shelf/%d", k+1)}
				if !yield(crawl.Result{Request: req}, nil) {
					return
				}
			}
		}
	}
	return s
}

func Town() spider.Spider {
	return spider.Spider{
		Name:      "town",
		StartURLs: []string{"http://library.example/shelf/1"},
		Legs:      []spider.Leg{Library().AsLeg()},
	}
}

// NoDrafts is a spider middleware that drops items whose title begins with a
// word, on their way from the spider to the engine.
func NoDrafts(word string, st *stats.Collector) spider.Middleware {
	return spider.Middleware{
		Name: "NoDrafts",
		ProcessOutput: func(_ context.Context, _ *spider.Page, r spider.Results) spider.Results {
			return func(yield func(crawl.Result, error) bool) {
				for res, err := range r {
					if err == nil && res.Item != nil {
						title, _ := res.Item.Get("title")
						if text, _ := title.(string); strings.HasPrefix(text, word) {
							st.Inc("drafts/dropped_count")
							continue
						}
					}
					if !yield(res, err) {
						return
					}
				}
			}
		},
	}
}

// Tolerant has a page whose callback fails give an item instead.
func Tolerant() spider.Middleware {
	return spider.Middleware{
		Name: "Tolerant",
		ProcessException: func(_ context.Context, page *spider.Page, err error) (spider.Results, bool) {
			return func(yield func(crawl.Result, error) bool) {
				item, err := crawl.NewItem(map[string]any{"url": page.URL, "error": err.Error()})
				yield(crawl.Result{Item: &item}, err)
			}, true
		},
	}
}

// StopWhenSold is an extension that closes the job at the first item that is
// sold out, and says at the end what there was.
func StopWhenSold(log *slog.Logger) extension.Extension {
	return extension.Extension{
		Name: "StopWhenSold",
		ItemScraped: func(_ context.Context, _ pipeline.Key, item crawl.Item) error {
			if sold, _ := item.Get("sold"); sold == true {
				return &crawl.CloseSpider{Reason: "sold-out"}
			}
			return nil
		},
		SpiderClosed: func(_ context.Context, job crawl.Job, stats map[string]any) error {
			log.Info("closed", "reason", job.Reason, "items", stats["item_scraped_count"])
			return nil
		},
	}
}

func listeners(env project.Env) ([]extension.Extension, error) {
	return []extension.Extension{StopWhenSold(env.Log)}, nil
}

// libraryServer has two shelves; book 3 is not there.
func libraryServer() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/shelf/1", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<h1>Poetry</h1><li class="book"><a href="/book/1">1</a></li><li class="next"><a href="/shelf/2">more</a></li>`)
	})
	mux.HandleFunc("/shelf/2", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<h1>Drama</h1><li class="book"><a href="/book/2">2</a></li><li class="book"><a href="/book/3">3</a></li>`)
	})
	for k, title := range []string{"Raven", "Faust"} {
		mux.HandleFunc(fmt.Sprintf("/book/%d", k+1), func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "<h1>%s</h1>", title) })
	}
	return mux
}

func TestSpidersOfTheDocsCrawl(t *testing.T) {
	want := []string{
		`{"shelf":"Drama","title":"Faust","url":"http://library.example/book/2"}`,
		`{"shelf":"Poetry","title":"Raven","url":"http://library.example/book/1"}`,
		`{"status":404,"url":"http://library.example/book/3"}`,
	}
	tests := []struct {
		spider spider.Spider
		args   map[string]string
		want   []string
	}{
		{Library(), nil, want},
		{CheckedLibrary(), nil, want},
		{Town(), nil, want},
		{AllShelves(), map[string]string{"shelves": "2"}, want},
	}
	for _, test := range tests {
		t.Run(test.spider.Name, func(t *testing.T) {
			got := worldtest.CrawlSite(t, test.spider, libraryServer(), worldtest.CrawlOptions{Args: test.args})
			if diff := cmp.Diff(test.want, got.Items); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
	if err := AllShelves().CheckArgs(map[string]string{"shelves": "many"}); err == nil {
		t.Error("a number that is none is taken")
	}
}

func TestContractsOfTheDocs(t *testing.T) {
	c := CheckedLibrary().Contracts[1]
	for url, want := range map[string]int{"http://library.example/book/1": 0, "http://library.example/book/2": 1} {
		item, err := crawl.NewItem(map[string]any{"title": "Raven", "shelf": "Shelf 1", "url": url})
		if err != nil {
			t.Fatal(err)
		}
		page := spider.NewPage(&crawl.Response{URL: c.URL, Request: c.Request()}, nil, crawl.Job{}, nil)
		if errs := c.Verify(page, []crawl.Item{item}, nil); len(errs) != want {
			t.Errorf("an item of %s: %v", url, errs)
		}
	}
}

func TestMiddlewaresOfTheDocs(t *testing.T) {
	var w world
	w.mws = []spider.Middleware{NoDrafts("Draft", &w.stats), Tolerant()}
	s := spider.Spider{Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
		out.Item(map[string]string{"n": "1", "title": "Draft of a book"})
		out.Item(map[string]string{"n": "2", "title": "A book"})
		return errBroken
	}}
	got, err := process(t, w.chain(t, s), newPage("", nil))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "output", got, []string{"2", ""})
	if n := w.stats.Take()["drafts/dropped_count"]; n != 1 {
		t.Errorf("%d drafts", n)
	}
}

func TestExtensionOfTheDocs(t *testing.T) {
	list, err := listeners(project.Env{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := extension.NewChain(new(stats.Collector), slog.New(slog.DiscardHandler), list...)
	if err != nil {
		t.Fatal(err)
	}
	for _, sold := range []bool{false, true} {
		item, err := crawl.NewItem(map[string]any{"sold": sold})
		if err != nil {
			t.Fatal(err)
		}
		if closes := c.ItemScraped(t.Context(), pipeline.Key{}, item); (closes != nil) != sold {
			t.Errorf("sold %v: %v", sold, closes)
		}
	}
	c.SpiderClosed(t.Context(), crawl.Job{}, nil)
}

func Offers(_ context.Context, page *spider.Page, out *spider.Output) error {
	offers := page.CSS("li.offer::text").All()
	if len(offers) == 0 && page.RetriesLeft > 0 {
		return page.Retry("empty-list")
	}
	out.Item(map[string]any{"url": page.URL, "offers": offers})
	return nil
}

func TestOffersAreAskedForAgain(t *testing.T) {
	asked := 0
	site := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if asked++; asked > 2 {
			fmt.Fprint(w, "<ul><li class=offer>tea</ul>")
		}
	})
	s := spider.Spider{StartURLs: []string{worldtest.Host + "/"}, Parse: Offers}
	c := worldtest.CrawlSite(t, s, site, worldtest.CrawlOptions{Settings: map[string]string{"ROBOTSTXT_OBEY": "false"}})
	if diff := cmp.Diff([]string{`{"offers":["tea"],"url":"http://world.example/"}`}, c.Items); diff != "" {
		t.Errorf("items (-want, +got):\n%s", diff)
	}
	if c.Stats["retry/reason_count/empty-list"] != 2 || asked != 3 {
		t.Errorf("asked %d times; stats %v", asked, c.Stats)
	}
}

func TestTheGoOfDocsSpidersIsHere(t *testing.T) {
	page, err := os.ReadFile("../../docs/spiders.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.ReadFile("docs_example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 6 {
		t.Errorf("docs/spiders.md has %d blocks of Go", len(blocks))
	}
	code := strings.ReplaceAll(string(here), "\n\t", "\n")
	for _, b := range blocks {
		if !strings.Contains(code, strings.ReplaceAll(b[1], "\n\t", "\n")) {
			t.Errorf("docs/spiders.md has Go that is not here:\n%s", b[1])
		}
	}
}

// The tables of the page have every field of the contracts.
func TestDocsSpidersHasEveryHook(t *testing.T) {
	page, err := os.ReadFile("../../docs/spiders.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range fieldsOf(spider.Spider{}, spider.Middleware{}, spider.Leg{}, extension.Extension{}, crawl.Options{}) {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/spiders.md does not tell of %s", name)
		}
	}
}

// fieldsOf are the names of the exported fields of structs.
func fieldsOf(structs ...any) []string {
	var names []string
	for _, s := range structs {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(s)) {
			if f.IsExported() {
				names = append(names, f.Name)
			}
		}
	}
	return names
}
