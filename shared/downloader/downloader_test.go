package downloader_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
)

var (
	errNet  = errors.New("connection refused")
	errHook = errors.New("hook")
)

// An answer is what a hook or a handler returns.
type answer struct {
	resp string // the response's URL; empty: none
	err  error
}

func (a answer) give(req *crawl.Request) (*crawl.Response, error) {
	if a.resp == "" {
		return nil, a.err
	}
	return &crawl.Response{URL: a.resp, Status: 200, Request: req}, a.err
}

func TestHooks(t *testing.T) {
	later := &crawl.Later{At: time.Unix(1, 0), Why: "slot"}
	wrapped := fmt.Errorf("below: %w", later)
	goOn := &answer{}
	tests := []struct {
		name string
		// What the hooks and the handler below give; a nil hook is not there.
		request, response, exception *answer
		web                          answer

		calls []string
		want  answer
	}{
		{
			name: "without hooks a response passes", web: answer{resp: "web"},
			calls: []string{"web"}, want: answer{resp: "web"},
		},
		{
			name: "without hooks an error passes", web: answer{err: errNet},
			calls: []string{"web"}, want: answer{err: errNet},
		},
		{
			name: "a request hook lets the request go down", request: goOn, web: answer{resp: "web"},
			calls: []string{"request", "web"}, want: answer{resp: "web"},
		},
		{
			name: "a request hook's response is the answer", request: &answer{resp: "cache"}, web: answer{resp: "web"},
			calls: []string{"request"}, want: answer{resp: "cache"},
		},
		{
			name: "a request hook's response passes the response hook", request: &answer{resp: "cache"}, response: &answer{resp: "changed"},
			calls: []string{"request", "response of cache"}, want: answer{resp: "changed"},
		},
		{
			name: "a request hook's error ends it", request: &answer{err: errHook}, response: &answer{resp: "unused"}, web: answer{resp: "web"},
			calls: []string{"request"}, want: answer{err: errHook},
		},
		{
			name: "a request hook's error is seen by the exception hook", request: &answer{err: errHook}, exception: &answer{err: errNet},
			calls: []string{"request", "exception hook"}, want: answer{err: errNet},
		},
		{
			name: "an error counts more than the response beside it", request: &answer{resp: "cache", err: errHook}, response: &answer{resp: "unused"},
			calls: []string{"request"}, want: answer{err: errHook},
		},
		{
			name: "a response hook puts another response in its place", response: &answer{resp: "changed"}, web: answer{resp: "web"},
			calls: []string{"web", "response of web"}, want: answer{resp: "changed"},
		},
		{
			name: "a response hook's error is not seen by its own exception hook", response: &answer{err: errHook}, exception: &answer{resp: "unused"},
			web:   answer{resp: "web"},
			calls: []string{"web", "response of web"}, want: answer{err: errHook},
		},
		{
			name: "a response hook does not see an error", response: &answer{resp: "unused"}, web: answer{err: errNet},
			calls: []string{"web"}, want: answer{err: errNet},
		},
		{
			name: "an exception hook does not see a response", exception: &answer{resp: "unused"}, web: answer{resp: "web"},
			calls: []string{"web"}, want: answer{resp: "web"},
		},
		{
			name: "an exception hook puts another error in its place", exception: &answer{err: errHook}, web: answer{err: errNet},
			calls: []string{"web", "exception connection refused"}, want: answer{err: errHook},
		},
		{
			name: "an exception hook's response is the answer as it is", exception: &answer{resp: "saved"}, response: &answer{resp: "unused"}, web: answer{err: errNet},
			calls: []string{"web", "exception connection refused"}, want: answer{resp: "saved"},
		},
		{
			name: "an exception hook sees a drop", exception: &answer{err: errHook}, web: answer{err: &crawl.Drop{Reason: "robots"}},
			calls: []string{"web", "exception dropped: robots"}, want: answer{err: errHook},
		},
		{
			name: "a Later passes untouched", request: goOn, response: &answer{resp: "unused"}, exception: &answer{resp: "unused"}, web: answer{err: later},
			calls: []string{"request", "web"}, want: answer{err: later},
		},
		{
			name: "a wrapped Later passes untouched", exception: &answer{err: errHook}, web: answer{err: wrapped},
			calls: []string{"web"}, want: answer{err: wrapped},
		},
		{
			name: "a request hook's own Later passes untouched", request: &answer{err: later}, exception: &answer{err: errHook},
			calls: []string{"request"}, want: answer{err: later},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var calls []string
			asked := &crawl.Request{URL: "http://example.com/"}
			note := func(req *crawl.Request, call string) {
				if req != asked {
					t.Errorf("%s gets another request", call)
				}
				calls = append(calls, call)
			}
			var hooks downloader.Hooks
			if test.request != nil {
				hooks.ProcessRequest = func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
					note(req, "request")
					return test.request.give(req)
				}
			}
			if test.response != nil {
				hooks.ProcessResponse = func(_ context.Context, req *crawl.Request, resp *crawl.Response) (*crawl.Response, error) {
					note(req, "response of "+resp.URL)
					return test.response.give(req)
				}
			}
			if test.exception != nil {
				hooks.ProcessException = func(_ context.Context, req *crawl.Request, err error) (*crawl.Response, error) {
					note(req, "exception "+err.Error())
					return test.exception.give(req)
				}
			}
			web := downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
				note(req, "web")
				return test.web.give(req)
			})
			resp, err := downloader.Chain(web, hooks.Middleware()).Fetch(t.Context(), asked)
			if diff := cmp.Diff(test.calls, calls); diff != "" {
				t.Errorf("calls (-want, +got):\n%s", diff)
			}
			got := answer{err: err}
			if resp != nil {
				got.resp = resp.URL
			}
			if got != test.want {
				t.Errorf("answer %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestAChainOfNothingIsItsHandler(t *testing.T) {
	web := downloader.HandlerFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) { return nil, errNet })
	if _, err := downloader.Chain(web).Fetch(t.Context(), &crawl.Request{}); !errors.Is(err, errNet) {
		t.Errorf("err %v, want %v", err, errNet)
	}
}

// An outer middleware may save what an inner one's response hook refused.
func TestAnErrorPassesUpThroughAllThatIsAbove(t *testing.T) {
	var calls []string
	hooks := func(name string, saves bool) downloader.Middleware {
		return downloader.Hooks{
			ProcessResponse: func(_ context.Context, _ *crawl.Request, resp *crawl.Response) (*crawl.Response, error) {
				calls = append(calls, name+" response")
				if name == "inner" {
					return nil, errHook
				}
				return resp, nil
			},
			ProcessException: func(_ context.Context, req *crawl.Request, err error) (*crawl.Response, error) {
				calls = append(calls, name+" exception")
				if saves {
					return answer{resp: name}.give(req)
				}
				return nil, err
			},
		}.Middleware()
	}
	web := downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		return answer{resp: "web"}.give(req)
	})
	h := downloader.Chain(web, hooks("outer", false), hooks("saver", true), hooks("middle", false), hooks("inner", false))
	resp, err := h.Fetch(t.Context(), &crawl.Request{})
	if err != nil || resp.URL != "saver" {
		t.Errorf("response %+v, err %v", resp, err)
	}
	want := []string{"inner response", "middle exception", "saver exception", "outer response"}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want, +got):\n%s", diff)
	}
}

// The context reaches whoever dials: it carries the place in the line.
func TestTheContextGoesDown(t *testing.T) {
	type key struct{}
	web := downloader.HandlerFunc(func(ctx context.Context, _ *crawl.Request) (*crawl.Response, error) {
		return &crawl.Response{URL: ctx.Value(key{}).(string)}, nil
	})
	ctx := context.WithValue(t.Context(), key{}, "told")
	resp, err := downloader.Chain(web, downloader.Hooks{}.Middleware()).Fetch(ctx, &crawl.Request{})
	if err != nil || resp.URL != "told" {
		t.Errorf("response %+v, err %v", resp, err)
	}
}
