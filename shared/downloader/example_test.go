package downloader_test

import (
	"context"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
)

// The first middleware sees a request first and its response last.
func ExampleChain() {
	noted := func(name string) downloader.Middleware {
		return func(next downloader.Handler) downloader.Handler {
			return downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
				fmt.Println(name, "sees the request")
				resp, err := next.Fetch(ctx, req)
				fmt.Println(name, "sees the response")
				return resp, err
			})
		}
	}
	web := downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		fmt.Println("fetched", req.URL)
		return &crawl.Response{URL: req.URL, Status: 200, Request: req}, nil
	})

	h := downloader.Chain(web, noted("retry"), noted("cache"), noted("stats"))
	resp, err := h.Fetch(context.Background(), &crawl.Request{URL: "http://example.com/"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Status)
	// Output:
	// retry sees the request
	// cache sees the request
	// stats sees the request
	// fetched http://example.com/
	// stats sees the response
	// cache sees the response
	// retry sees the response
	// 200
}

// Hooks is a middleware as Scrapy has them.
func ExampleHooks() {
	token := downloader.Hooks{
		ProcessRequest: func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
			req.SetHeader("Authorization", "Bearer secret")
			return nil, nil // go on
		},
		ProcessResponse: func(_ context.Context, _ *crawl.Request, resp *crawl.Response) (*crawl.Response, error) {
			if resp.Status == 401 {
				return nil, &crawl.Drop{Reason: "no-access"}
			}
			return resp, nil
		},
	}
	web := downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		fmt.Println(req.Headers.Get("Authorization"))
		return &crawl.Response{Status: 401, Request: req}, nil
	})

	_, err := downloader.Chain(web, token.Middleware()).Fetch(context.Background(), &crawl.Request{URL: "http://example.com/"})
	fmt.Println(err)
	// Output:
	// Bearer secret
	// dropped: no-access
}
