package api_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/api"
	"github.com/skitterhq/skitter/shared/crawl"
)

func TestWhatIsDeployed(t *testing.T) {
	s := newService(t)
	for _, c := range []struct {
		endpoint, query, field string
		want                   []any
	}{
		{"listprojects.json", "", "projects", []any{"p"}},
		{"listversions.json", "project=p", "versions", []any{"v1.2"}},
		{"listversions.json", "project=q", "versions", []any{}},
		{"listspiders.json", "project=p", "spiders", []any{"quotes", "s", "паук"}},
		{"listspiders.json", "project=p&_version=v1.2", "spiders", []any{"quotes", "s", "паук"}},
	} {
		if diff := cmp.Diff(map[string]any{c.field: c.want}, s.ok(t, "GET", c.endpoint, c.query)); diff != "" {
			t.Errorf("%s?%s: mismatch (-want, +got):\n%s", c.endpoint, c.query, diff)
		}
	}
	none := newService(t, func(c *api.Config) { c.Spiders = nil })
	if diff := cmp.Diff(map[string]any{"spiders": []any{}}, none.ok(t, "GET", "listspiders.json", "project=p")); diff != "" {
		t.Errorf("no spiders: mismatch (-want, +got):\n%s", diff)
	}
}

// fill makes a job in each state.
func fill(t *testing.T, s *service) {
	t.Helper()
	begun := noon.Add(-time.Hour)
	s.put(t, crawl.Job{Name: "r", State: crawl.JobRunning, Created: begun.Add(5 * time.Microsecond)})
	s.put(t, crawl.Job{Name: "c", State: crawl.JobClosing, Reason: "finished", Created: begun})
	s.put(t, crawl.Job{Name: "w", State: crawl.JobPaused, Created: begun})
	s.engine.specs[s.job(t, "w").UID] = crawl.JobSpec{Spider: "s", Args: map[string]string{"a": "1"}, Settings: map[string]string{"A": "2"}}
	s.put(t, crawl.Job{Name: "good", State: crawl.JobFinished, Reason: "finished", Created: begun.Add(2), Ended: noon.Add(-time.Minute)})
	s.put(t, crawl.Job{Name: "bad", State: crawl.JobFailed, Reason: "start_error", Problem: "no bucket", Created: begun.Add(1), Ended: noon.In(time.FixedZone("", 3600))})
	s.put(t, crawl.Job{Name: "cut", State: crawl.JobCancelled, Reason: "cancelled", Created: begun.Add(3), Ended: noon.Add(-time.Second)})
}

func TestListJobs(t *testing.T) {
	s := newService(t)
	fill(t, s)
	type o = map[string]any
	const begun = "2026-11-30 11:00:00.000000"
	ended := func(name, state, reason, end string) o {
		return o{
			"id": name, "project": "p", "spider": "s", "state": state, "finish_reason": reason,
			"start_time": begun, "end_time": end, "log_url": nil, "items_url": nil,
		}
	}
	bad := ended("bad", "failed", "start_error", "2026-11-30 12:00:00.000000")
	bad["problem"] = "no bucket"
	want := o{
		"pending": []any{o{
			"id": "w", "project": "p", "spider": "s", "state": "paused", "version": nil,
			"settings": o{"A": "2"}, "args": o{"a": "1"},
		}},
		"running": []any{
			o{"id": "r", "project": "p", "spider": "s", "state": "running", "pid": nil, "start_time": "2026-11-30 11:00:00.000005", "log_url": nil, "items_url": nil},
			o{"id": "c", "project": "p", "spider": "s", "state": "closing", "finish_reason": "finished", "pid": nil, "start_time": begun, "log_url": nil, "items_url": nil},
		},
		"finished": []any{
			bad,
			ended("cut", "cancelled", "cancelled", "2026-11-30 11:59:59.000000"),
			ended("good", "finished", "finished", "2026-11-30 11:59:00.000000"),
		},
	}
	for _, query := range []string{"", "project=p"} {
		if diff := cmp.Diff(want, s.ok(t, "GET", "listjobs.json", query)); diff != "" {
			t.Errorf("listjobs.json?%s: mismatch (-want, +got):\n%s", query, diff)
		}
	}
	if diff := cmp.Diff(o{"pending": 1., "running": 2., "finished": 3.}, s.ok(t, "GET", "daemonstatus.json", "")); diff != "" {
		t.Errorf("daemonstatus.json: mismatch (-want, +got):\n%s", diff)
	}
}

func TestNoJobs(t *testing.T) {
	s := newService(t)
	none := map[string]any{"pending": []any{}, "running": []any{}, "finished": []any{}}
	if diff := cmp.Diff(none, s.ok(t, "GET", "listjobs.json", "project=p")); diff != "" {
		t.Errorf("mismatch (-want, +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"pending": 0., "running": 0., "finished": 0.}, s.ok(t, "GET", "daemonstatus.json", "")); diff != "" {
		t.Errorf("mismatch (-want, +got):\n%s", diff)
	}
}

// A paused job of a spider that is gone hides no other job.
func TestAJobThatCannotBeRunIsListed(t *testing.T) {
	s := newService(t)
	fill(t, s)
	s.engine.runtimeErr = errors.New("unknown spider")
	entry := s.ok(t, "GET", "listjobs.json", "")["pending"].([]any)[0].(map[string]any)
	if entry["id"] != "w" || len(entry["args"].(map[string]any)) != 0 || len(entry["settings"].(map[string]any)) != 0 {
		t.Errorf("entry %v", entry)
	}
}

func TestNotAllThatEndedAreListed(t *testing.T) {
	s := newService(t)
	for k := range 101 {
		s.put(t, crawl.Job{
			Name: fmt.Sprint(k), State: crawl.JobFinished, Reason: "finished",
			Created: noon.Add(time.Duration(k)), Ended: noon.Add(time.Duration(k) * time.Second),
		})
		s.put(t, crawl.Job{Name: fmt.Sprint("running-", k), State: crawl.JobRunning, Created: noon})
	}
	ans := s.ok(t, "GET", "listjobs.json", "")
	finished, running := ans["finished"].([]any), ans["running"].([]any)
	if len(finished) != 100 || len(running) != 101 {
		t.Errorf("%d finished, %d running; want 100, 101", len(finished), len(running))
	}
	if last := finished[0].(map[string]any)["id"]; last != "100" {
		t.Errorf("first of the finished is %v, want the last that ended", last)
	}
	if ans := s.ok(t, "GET", "status.json", "job=0"); ans["currstate"] != "finished" {
		t.Errorf("status of one that is not listed: %v", ans)
	}
}

func TestStatus(t *testing.T) {
	s := newService(t)
	fill(t, s)
	type o = map[string]any
	for job, want := range map[string]o{
		"r":    {"currstate": "running", "state": "running"},
		"c":    {"currstate": "running", "state": "closing", "finish_reason": "finished"},
		"w":    {"currstate": "pending", "state": "paused"},
		"good": {"currstate": "finished", "state": "finished", "finish_reason": "finished"},
		"bad":  {"currstate": "finished", "state": "failed", "finish_reason": "start_error", "problem": "no bucket"},
		"cut":  {"currstate": "finished", "state": "cancelled", "finish_reason": "cancelled"},
		"none": {"currstate": nil},
	} {
		for _, query := range []string{"job=" + job, "project=p&job=" + job} {
			if diff := cmp.Diff(want, s.ok(t, "GET", "status.json", query)); diff != "" {
				t.Errorf("status.json?%s: mismatch (-want, +got):\n%s", query, diff)
			}
		}
	}
}
