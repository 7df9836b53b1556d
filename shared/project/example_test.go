package project_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/project"
)

func render(_ context.Context, url string) ([]byte, error) {
	return []byte("<p>rendered " + url), nil
}

func handlers(env project.Env) (map[string]downloader.Handler, error) {
	return map[string]downloader.Handler{
		"browser": downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
			html, err := render(ctx, req.URL)
			if err != nil {
				return nil, &crawl.Failure{Reason: "browser", Message: err.Error(), Request: req}
			}
			return &crawl.Response{
				URL: req.URL, Status: 200, Headers: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
				Body: html, Request: req,
			}, nil
		}),
	}, nil
}

// A project brings a handler of its own, which a request names in its
// DownloadHandler.
func ExampleProject_handlers() {
	p := project.Project{Name: "default", Handlers: handlers}

	own, err := p.Handlers(project.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	req := &crawl.Request{URL: "http://example.com/"}
	req.DownloadHandler = "browser"
	resp, err := own[req.DownloadHandler].Fetch(context.Background(), req)
	fmt.Println(string(resp.Body), err)
	// Output: <p>rendered http://example.com/ <nil>
}
