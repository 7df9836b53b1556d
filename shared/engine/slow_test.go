package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/spider"
)

// A page whose callback takes longer than an invocation comes along as far as
// one goes, and is then given up on: each slice goes over what the last ones
// gave. What it gave counts, and is neither lost nor doubled.
func TestAPageThatTakesTooLongIsGivenUpOn(t *testing.T) {
	const timeout, each = 20 * time.Second, time.Second
	synctest.Test(t, func(t *testing.T) {
		var slices atomic.Int64
		w := worldtest.New(t, worldtest.Options{
			Site: worldtest.Site{"/": "link /slow\nitem start", "/slow": ""}, NoCensus: true, Timeout: timeout,
			Spider: func(s *spider.Spider) {
				small := s.Parse
				s.Parse = func(ctx context.Context, page *spider.Page, out *spider.Output) error {
					if page.Response.URL != worldtest.Host+"/slow" {
						return small(ctx, page, out)
					}
					slices.Add(1)
					for k := range 200 {
						time.Sleep(each)
						out.Item(map[string]string{"name": fmt.Sprint(k)})
					}
					return nil
				}
			},
		})
		begun := time.Now()
		if job := w.Run(); job.Reason != crawl.ReasonFinished {
			t.Errorf("the job ended with %s", job.Reason)
		}
		if row := w.Row("/slow"); row.State != frontier.Failed || row.Why != "too-slow" {
			t.Errorf("the page is %s, %s", row.State, row.Why)
		}
		// 20 s less the margin of a fifth.
		if n := len(w.Delivered); n != 1+17 {
			t.Errorf("%d items, want that of the start and what a slice has time for", n)
		}
		if took := time.Since(begun); slices.Load() > 4 || took > 5*time.Minute {
			t.Errorf("%d slices, %s", slices.Load(), took)
		}
	})
}

// A page that gives a little more in each slice ends, too.
func TestAPageOfManySlicesEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slices atomic.Int64
		w := worldtest.New(t, worldtest.Options{
			Site: worldtest.Site{"/": ""}, NoCensus: true, Timeout: 20 * time.Second,
			Spider: func(s *spider.Spider) {
				s.Parse = func(_ context.Context, _ *spider.Page, out *spider.Output) error {
					n := int(slices.Add(1))
					for k := range 1000 {
						if k == n {
							time.Sleep(17 * time.Second)
						}
						out.Item(map[string]string{"name": fmt.Sprint(k)})
					}
					return nil
				}
			},
		})
		w.Run()
		if row := w.Row("/"); row.State != frontier.Failed || row.Why != "too-slow" || row.Items != len(w.Delivered) {
			t.Errorf("the page is %s, %s, of %d items %d are delivered", row.State, row.Why, row.Items, len(w.Delivered))
		}
		if n := slices.Load(); n != 100 {
			t.Errorf("%d slices, want 100", n)
		}
	})
}

// A count that was lost keeps all from asking for the last look: the sweep asks
// once nothing has moved for a minute, and not only when any message would have
// shown itself.
func TestALostCountCostsAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := false
		w := worldtest.New(t, worldtest.Options{
			Site: worldtest.Site{"/": "link /a\nitem start", "/a": "item a"}, NoCensus: true,
			Wrap: func(p worldtest.Ports) worldtest.Ports {
				p.Jobs = forgetful{p.Jobs, func(delta jobs.Counts) bool {
					lost = lost || delta["frontier/settled"] > 0
					return delta["frontier/settled"] > 0
				}}
				return p
			},
		})
		begun := time.Now()
		w.Run()
		if took := time.Since(begun); !lost || took > 3*time.Minute {
			t.Errorf("lost a count %v, took %s", lost, took)
		}
	})
}

// forgetful loses counts, as a crash before they are added does.
type forgetful struct {
	jobs.Store
	loses func(jobs.Counts) bool
}

func (f forgetful) Add(ctx context.Context, uid crawl.JobUID, stage jobs.Stage, delta jobs.Counts) (jobs.Counts, error) {
	if f.loses(delta) {
		delta = jobs.Counts{}
	}
	return f.Store.Add(ctx, uid, stage, delta)
}

// A job whose rows are gone is not called finished.
func TestAJobWhoseRowsAreGoneFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{
			Site: worldtest.Site{"/": "item a"}, NoCensus: true,
			Wrap: func(p worldtest.Ports) worldtest.Ports {
				p.Rows = emptied{p.Rows}
				return p
			},
		})
		if job := w.Run(); job.State != crawl.JobFailed || job.Problem != "the rows of its work are gone" {
			t.Errorf("the job is %s: %s", job.State, job.Problem)
		}
	})
}

// emptied has no rows when they are read.
type emptied struct{ frontier.Store }

func (emptied) Get(context.Context, crawl.JobUID, []crawl.UnitID, frontier.Consistency) (map[crawl.UnitID]frontier.Row, error) {
	return nil, nil
}

func (emptied) Scan(context.Context, crawl.JobUID, int, *crawl.UnitID, int) ([]frontier.Row, error) {
	return nil, nil
}
