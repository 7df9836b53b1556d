package cookies_test

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/cookies"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// What follows stands in docs/cookies.md.

func Account() spider.Spider {
	return spider.Spider{
		Name:      "account",
		StartURLs: []string{"https://shop.example/login"},
		Parse:     logIn,
		Callbacks: map[string]spider.Callback{"orders": readOrders},
	}
}

func logIn(_ context.Context, page *spider.Page, out *spider.Output) error {
	req, err := page.FormRequest(extract.FormOptions{
		FormData: url.Values{"user": {"demo"}, "password": {page.Args["password"]}},
	})
	if err != nil {
		return err
	}
	req.Callback = "orders"
	out.Request(req)
	return nil
}

func readOrders(_ context.Context, page *spider.Page, out *spider.Output) error {
	for row := range page.CSS("tr.order").Each() {
		out.Item(map[string]any{"order": row.CSS("td::text").Get()})
	}
	out.FollowSelection(page.CSS("a.next"), "orders")
	return nil
}

func begin(_ context.Context, start spider.Start) spider.Results {
	return func(yield func(crawl.Result, error) bool) {
		yield(crawl.Result{Request: &crawl.Request{
			URL:     "https://shop.example/orders",
			Cookies: []crawl.Cookie{{Name: "session", Value: start.Args["session"]}},
		}}, nil)
	}
}

func shelves(_ context.Context, page *spider.Page, out *spider.Output) error {
	for _, country := range []string{"de", "fr"} {
		out.Follow("/country/"+country, "shelf", func(req *crawl.Request) {
			req.CookieJar = country
		})
	}
	return nil
}

func shelf(_ context.Context, page *spider.Page, out *spider.Output) error {
	out.FollowAll(page.CSS("li.next a::attr(href)").All(), "shelf", func(req *crawl.Request) {
		req.CookieJar = page.Request.CookieJar
	})
	return nil
}

func withToken(page *spider.Page, req *crawl.Request) error {
	jars, err := cookies.Parse(page.Request.Jars)
	if err != nil {
		return err
	}
	u, err := weburl.Parse(page.URL)
	if err != nil {
		return err
	}
	for _, c := range jars.For(page.Request.CookieJar, u, time.Now()) {
		if c.Name == "XSRF-TOKEN" {
			req.SetHeader("X-XSRF-TOKEN", c.Value)
		}
	}
	return nil
}

// The page's code ends here.

func TestCodeOfTheDocsIsThis(t *testing.T) {
	page, err := os.ReadFile("../../docs/cookies.md")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("docs_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("the page has no code")
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(string(self), code) {
			t.Errorf("not compiled here:\n%s", code)
		}
	}
}

func TestSpidersOfTheDocsWork(t *testing.T) {
	if _, err := spider.NewRegistry(Account(), spider.Spider{
		Name: "shop", Start: begin, Parse: shelves, Callbacks: map[string]spider.Callback{"shelf": shelf},
	}); err != nil {
		t.Error(err)
	}
	jars := take(t, cookies.Jars{}, "https://shop.example/", "XSRF-TOKEN=x")
	req := &crawl.Request{URL: "https://shop.example/", Progress: crawl.Progress{Jars: jars.String()}}
	page := spider.NewPage(&crawl.Response{URL: req.URL, Request: req}, nil, crawl.Job{}, nil)
	next := new(crawl.Request)
	if err := withToken(page, next); err != nil {
		t.Error(err)
	}
	if got := next.Headers.Get("X-XSRF-TOKEN"); got != "x" {
		t.Errorf("the header is %q", got)
	}
}
