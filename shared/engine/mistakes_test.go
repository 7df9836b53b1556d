package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/spider"
)

// badItem is an item that does not encode.
func badItem(t *testing.T) *crawl.Item {
	t.Helper()
	item := new(crawl.Item)
	if err := item.Set("x", math.NaN()); err != nil {
		t.Fatal(err)
	}
	return item
}

// TestAMistakeOfTheSpiderFailsItsPageAlone: what was given before counts, the
// neighbours are not touched, and nothing is tried again.
func TestAMistakeOfTheSpiderFailsItsPageAlone(t *testing.T) {
	mistakes := map[string]func(t *testing.T, out *spider.Output){
		"a request that is nil":            func(_ *testing.T, out *spider.Output) { out.Request(nil) },
		"an item that is no object":        func(_ *testing.T, out *spider.Output) { out.Item(7) },
		"an item that does not encode":     func(t *testing.T, out *spider.Output) { out.Item(badItem(t)) },
		"a request whose meta has no JSON": func(_ *testing.T, out *spider.Output) { out.Request(badRequest()) },
	}
	for name, mistake := range mistakes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := worldtest.New(t, worldtest.Options{
					Site: worldtest.Site{"/": "link /bad\nlink /good", "/bad": "", "/good": "item good"}, NoCensus: true,
					Spider: func(s *spider.Spider) {
						good := s.Parse
						s.Parse = func(ctx context.Context, page *spider.Page, out *spider.Output) error {
							if !strings.HasSuffix(page.URL, "/bad") {
								return good(ctx, page, out)
							}
							out.Item(map[string]string{"name": "before"})
							mistake(t, out)
							return nil
						}
					},
				})
				begin := time.Now()
				if job := w.Run(); job.State != crawl.JobFinished {
					t.Errorf("job %s, want finished", job.State)
				}
				if row := w.Row("/bad"); row.State != frontier.Failed {
					t.Errorf("the page is %s, want failed", row.State)
				}
				wantItems(t, w, "before", "good")
				if took := time.Since(begin); took > 10*time.Second {
					t.Errorf("took %s: something was tried again", took)
				}
			})
		})
	}
}

func badRequest() *crawl.Request {
	return &crawl.Request{URL: worldtest.Host + "/x", Meta: crawl.Values{"f": func() {}}}
}

func TestAStartThatGivesNothingProperFailsTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{}, Spider: func(s *spider.Spider) {
			s.Start = func(context.Context, spider.Start) spider.Results {
				return func(yield func(crawl.Result, error) bool) { yield(crawl.Result{}, nil) }
			}
		}})
		if job := w.Run(); job.State != crawl.JobFailed || job.Reason != crawl.ReasonStartError {
			t.Errorf("job %s, %s; want failed, start_error", job.State, job.Reason)
		}
	})
}

func TestMistakesOfAPipeline(t *testing.T) {
	process := func(_ context.Context, _ pipeline.Key, item crawl.Item) (crawl.Item, error) { return item, nil }
	tests := []struct {
		name  string
		step  pipeline.Step
		state crawl.JobState
		items int
	}{
		{"opening fails", pipeline.Step{Name: "s", Process: process, Open: func(context.Context, crawl.Job) error { return errors.New("db down") }}, crawl.JobFailed, 0},
		{"opening panics", pipeline.Step{Name: "s", Process: process, Open: func(context.Context, crawl.Job) error { panic("no db") }}, crawl.JobFailed, 0},
		{"closing panics", pipeline.Step{Name: "s", Process: process, Close: func(context.Context, crawl.Job) error { panic("no db") }}, crawl.JobFinished, 1},
		{"a step panics", pipeline.Step{Name: "s", Process: func(context.Context, pipeline.Key, crawl.Item) (crawl.Item, error) { panic("oh") }}, crawl.JobFinished, 0},
		{"a step gives what does not encode", pipeline.Step{Name: "s", Process: func(_ context.Context, _ pipeline.Key, item crawl.Item) (crawl.Item, error) {
			return item, item.Set("x", math.Inf(1))
		}}, crawl.JobFinished, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "item a"}, Steps: []pipeline.Step{test.step}, NoCensus: true})
				begin := time.Now()
				job := w.Run()
				if job.State != test.state {
					t.Errorf("job %s (%s), want %s", job.State, job.Problem, test.state)
				}
				if len(w.Delivered) != test.items {
					t.Errorf("%d items, want %d", len(w.Delivered), test.items)
				}
				if took := time.Since(begin); took > 10*time.Second {
					t.Errorf("took %s: something was tried again", took)
				}
			})
		})
	}
}

func TestTheReasonOfACloseSpiderStands(t *testing.T) {
	for range 10 {
		synctest.Test(t, func(t *testing.T) {
			w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "item a\nclose enough"}})
			if job := w.Run(); job.Reason != "enough" {
				t.Errorf("reason %q, want enough", job.Reason)
			}
		})
	}
}

func TestAStoppedJobDoesNotWaitForDelayedRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := worldtest.Site{"/": ""}
		for k := range 50 {
			site["/"] += fmt.Sprintf("link /%d\n", k)
		}
		fetch := func(ctx context.Context, req *crawl.Request, next downloader.Handler) (*crawl.Response, error) {
			if strings.HasSuffix(req.URL, ".example/") {
				return next.Fetch(ctx, req)
			}
			return nil, &crawl.Later{At: time.Now().Add(10 * time.Minute), Why: "slot"}
		}
		w := worldtest.New(t, worldtest.Options{Site: site, Fetch: fetch})
		w.Start()
		for range 20 {
			w.Pump()
		}
		begin := time.Now()
		if err := w.Stop(t.Context(), w.Job.UID, crawl.ReasonCancelled); err != nil {
			t.Fatal(err)
		}
		if job := w.Finish(); job.State != crawl.JobCancelled {
			t.Errorf("job %s, want cancelled", job.State)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("closed after %s", took)
		}
	})
}

func TestWhatNeverEndsHearsOfAStop(t *testing.T) {
	endless := func(yield func(crawl.Result, error) bool) {
		for k := 0; ; k++ {
			time.Sleep(50 * time.Millisecond)
			if !yield(crawl.Result{Request: &crawl.Request{URL: fmt.Sprintf("%s/%d", worldtest.Host, k)}}, nil) {
				return
			}
		}
	}
	tests := map[string]func(s *spider.Spider){
		"a start": func(s *spider.Spider) {
			s.Start = func(context.Context, spider.Start) spider.Results { return endless }
		},
		"a page": func(s *spider.Spider) {
			s.Parse = func(_ context.Context, page *spider.Page, out *spider.Output) error {
				for res := range endless {
					if out.Stopped() {
						return nil
					}
					out.Item(map[string]string{"name": res.Request.URL})
				}
				return nil
			}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := worldtest.New(t, worldtest.Options{
					Site: worldtest.Site{"/": ""}, Spider: change, Settings: map[string]string{"CLOSESPIDER_TIMEOUT": "5"},
				})
				begin := time.Now()
				if job := w.Run(); job.Reason != "closespider_timeout" {
					t.Errorf("reason %q, want closespider_timeout", job.Reason)
				}
				if took := time.Since(begin); took > 2*time.Minute {
					t.Errorf("ended after %s", took)
				}
			})
		})
	}
}
