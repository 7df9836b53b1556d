package spider_test

import (
	"context"
	"fmt"
	"net/url"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

func ExamplePage_FormRequest() {
	parse := func(_ context.Context, page *spider.Page, out *spider.Output) error {
		req, err := page.FormRequest(extract.FormOptions{
			FormID:   "login",
			FormData: url.Values{"user": {"demo"}, "password": {"demo"}},
		})
		if err != nil {
			return err
		}
		req.Callback = "account"
		out.Request(req)
		return nil
	}
	s := spider.Spider{Name: "books", Parse: parse, Callbacks: map[string]spider.Callback{"account": parse}}
	form := `<form id="login" method="post" action="/login"><input name="user"><input type="password" name="password"></form>`
	for _, r := range requestsOf(s, "https://books.example/", form) {
		fmt.Println(r.Method, r.URL, string(r.Body), r.Callback)
	}
	// Output: POST https://books.example/login password=demo&user=demo account
}

func Example_bodies() {
	search := crawl.NewFormRequest("https://books.example/search", url.Values{"q": {"emma"}})

	next, err := crawl.NewJSONRequest("https://books.example/api/list", map[string]any{"page": 2})

	fmt.Println(search.Method, search.URL, string(search.Body))
	fmt.Println(next.Method, next.URL, string(next.Body), err)
	// Output:
	// POST https://books.example/search q=emma
	// POST https://books.example/api/list {"page":2} <nil>
}

// requestsOf gives a page to a spider and collects the requests that come.
func requestsOf(s spider.Spider, address, body string) (requests []*crawl.Request) {
	registry, err := spider.NewRegistry(s)
	if err != nil {
		panic(err)
	}
	bound, err := registry.Get(s.Name)
	if err != nil {
		panic(err)
	}
	req := &crawl.Request{URL: address}
	page := spider.NewPage(&crawl.Response{URL: address, Status: 200, Body: []byte(body), Request: req}, bound, crawl.Job{}, nil)
	for result, err := range spider.NewChain(bound, new(stats.Collector)).Process(context.Background(), page) {
		if err != nil {
			panic(err)
		}
		if r := result.Request; r != nil {
			requests = append(requests, r)
		}
	}
	return requests
}
