package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/api"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/memory"
)

// JOB-01: two projects over one store, each served by its own API.
func TestCancelHitsOnlyItsOwnProject(t *testing.T) {
	one := newService(t, func(c *api.Config) { c.Project = "p1" })
	two := newService(t, func(c *api.Config) { c.Project, c.Jobs, c.Engine = "p2", one.rows, one.engine })
	one.ok(t, "POST", "schedule.json", "project=p1&spider=s&jobid=j")
	two.ok(t, "POST", "schedule.json", "project=p2&spider=s&jobid=j")
	if ans := one.ok(t, "POST", "cancel.json", "project=p1&job=j"); ans["prevstate"] != "running" {
		t.Errorf("cancel: %v", ans)
	}
	if ans := two.ok(t, "GET", "status.json", "job=j&project=p2"); ans["currstate"] != "running" {
		t.Errorf("status: %v", ans)
	}
	job, err := one.rows.Find(t.Context(), "p2", "j")
	if err != nil || job.Stop != "" {
		t.Errorf("job of the other project: %+v, %v", job, err)
	}
	if ans := one.ok(t, "GET", "listjobs.json", ""); len(ans["running"].([]any)) != 1 {
		t.Errorf("listjobs.json: %v", ans)
	}
}

// JOB-03, with the answers' lengths checked in every test.
func TestErrorsOfTheAPI(t *testing.T) {
	s := newService(t)
	for k, c := range []struct{ method, endpoint, form, status string }{
		{"POST", "schedule.json", "", "error"},
		{"POST", "schedule.json", "project=p&spider=nope", "error"},
		{"POST", "schedule.json", "project=p&spider=s&setting=A%3Db%3Dc&jobid=set", "ok"},
		{"POST", "schedule.json", "project=p&spider=s&priority=x", "error"},
		{"GET", "listspiders.json", "project=p", "ok"},
		{"POST", "schedule.json", form("project", "p", "spider", "паук"), "ok"},
		{"POST", "schedule.json", form("project", "p", "spider", "паучок"), "error"},
	} {
		resp := call(s, c.method, c.endpoint, c.form)
		if ans := read(t, resp); resp.StatusCode != http.StatusOK || ans["status"] != c.status {
			t.Errorf("call %d: %d %v; want 200 %s", k, resp.StatusCode, ans, c.status)
		}
	}
	if diff := cmp.Diff(map[string]string{"A": "b=c"}, s.spec(t, "set").Settings); diff != "" {
		t.Errorf("settings: mismatch (-want, +got):\n%s", diff)
	}
}

// overWorld serves the engine of a world in memory.
func overWorld(w *worldtest.World) *service {
	return &service{API: api.New(api.Config{
		Engine: w.Engine, Jobs: w.Ports.Jobs, Project: "test", Version: "v1", Spiders: []string{"world"},
		NodeName: "node-1", Log: slog.New(slog.DiscardHandler),
	})}
}

// JOB-05: a job with 1,000 queued URLs, cancelled after 10 pages.
func TestCancelMeansNoMoreFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var links strings.Builder
		site := worldtest.Site{}
		for k := range 1000 {
			fmt.Fprintf(&links, "link /%d\n", k)
			site[fmt.Sprintf("/%d", k)] = fmt.Sprintf("item %d\nlink /more/%d", k, k)
		}
		site["/"] = links.String()
		w := worldtest.New(t, worldtest.Options{Site: site})
		s := overWorld(w)
		s.ok(t, "POST", "schedule.json", "project=test&spider=world&jobid=j")
		var err error
		if w.Job, err = w.Ports.Jobs.Find(t.Context(), "test", "j"); err != nil {
			t.Fatal(err)
		}
		for len(w.Fetched) < 10 {
			w.Pump()
		}
		for range 2 { // the second is harmless
			if ans := s.ok(t, "POST", "cancel.json", "project=test&job=j"); ans["prevstate"] != "running" {
				t.Errorf("cancel: %v", ans)
			}
		}
		before := len(w.Fetched)
		job := w.Finish()
		if after := len(w.Fetched); after != before {
			t.Errorf("%d pages were fetched after the job was cancelled", after-before)
		}
		if job.State != crawl.JobCancelled || job.Reason != crawl.ReasonCancelled {
			t.Errorf("state %s, reason %s", job.State, job.Reason)
		}
		ans := s.ok(t, "GET", "status.json", "job=j")
		want := map[string]any{"currstate": "finished", "state": "cancelled", "finish_reason": "cancelled"}
		if diff := cmp.Diff(want, ans); diff != "" {
			t.Errorf("status: mismatch (-want, +got):\n%s", diff)
		}
		if ans := s.ok(t, "POST", "cancel.json", "project=test&job=j"); ans["prevstate"] != nil {
			t.Errorf("cancel after the end: %v", ans)
		}
	})
}

// JOB-06: a crawl whose start failed is not listed like a good one.
func TestTheJobListShowsTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "close quota"}})
		s := overWorld(w)
		s.ok(t, "POST", "schedule.json", "project=test&spider=world&jobid=j")
		w.Job, _ = w.Ports.Jobs.Find(t.Context(), "test", "j")
		w.Finish()
		finished := s.ok(t, "GET", "listjobs.json", "project=test")["finished"].([]any)
		if len(finished) != 1 || finished[0].(map[string]any)["finish_reason"] != "quota" {
			t.Errorf("finished: %v", finished)
		}
	})
}

// The engine and the stores serve the API as they are.
var (
	_ api.Engine = (*worldtest.World)(nil)
	_ api.Jobs   = jobs.Store(nil)
	_ api.Jobs   = (*memory.Jobs)(nil)
)

// A world's jobs have the arguments that they were given.
func TestTheSameJobIDWithOtherArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := overWorld(worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "item a"}}))
		var got []any
		for _, args := range []string{"a=1&b=2", "b=2&a=1", "a=2"} {
			got = append(got, read(t, call(s, "POST", "schedule.json", "project=test&spider=world&jobid=j&"+args))["status"])
		}
		if want := []any{"ok", "ok", "error"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
