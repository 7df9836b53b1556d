package api_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/api"
	"github.com/skitterhq/skitter/shared/crawl"
)

func TestSchedule(t *testing.T) {
	s := newService(t)
	ans := s.ok(t, "POST", "schedule.json", form(
		"project", "p", "spider", "s", "jobid", "j", "_version", "v1.2", "priority", "1.5",
		"setting", "DOWNLOAD_DELAY=2", "setting", "A=b=c", "setting", "EMPTY=",
		"_start_url", "HTTP://Shop.Example/a b", "_start_url", "https://shop.example/2",
		"category", "books", "category", "second", "pages", "", "имя", "значение",
		"start_url", "http://shop.example/arg", "project", "other",
	))
	if diff := cmp.Diff(map[string]any{"jobid": "j"}, ans); diff != "" {
		t.Errorf("answer: mismatch (-want, +got):\n%s", diff)
	}
	want := crawl.JobSpec{
		Spider:    "s",
		Args:      map[string]string{"category": "books", "pages": "", "имя": "значение", "start_url": "http://shop.example/arg"},
		Settings:  map[string]string{"DOWNLOAD_DELAY": "2", "A": "b=c", "EMPTY": ""},
		StartURLs: []string{"http://shop.example/a%20b", "https://shop.example/2"},
	}
	if diff := cmp.Diff(want, s.spec(t, "j")); diff != "" {
		t.Errorf("specification: mismatch (-want, +got):\n%s", diff)
	}
	if job := s.job(t, "j"); job.Project != "p" || job.Spider != "s" {
		t.Errorf("job %+v", job)
	}
}

func TestScheduleMakesUpAJobID(t *testing.T) {
	s := newService(t)
	first := s.ok(t, "POST", "schedule.json", "project=p&spider=s")["jobid"].(string)
	second := s.ok(t, "POST", "schedule.json", "project=p&spider=s&_version=")["jobid"].(string)
	if first == second || len(first) != 24 {
		t.Errorf("jobids %q and %q: want two, of 24 digits", first, second)
	}
	if diff := cmp.Diff(crawl.JobSpec{Spider: "s"}, s.spec(t, first)); diff != "" {
		t.Errorf("specification: mismatch (-want, +got):\n%s", diff)
	}
}

func TestScheduleTwiceIsOneJob(t *testing.T) {
	s := newService(t)
	for range 2 {
		if ans := s.ok(t, "POST", "schedule.json", "project=p&spider=s&jobid=j&a=1"); ans["jobid"] != "j" {
			t.Errorf("answer %v", ans)
		}
	}
	if list, err := s.rows.List(t.Context(), "p", 0); err != nil || len(list) != 1 {
		t.Errorf("%d jobs (%v), want 1", len(list), err)
	}
	if n := strings.Count(s.log.String(), "job scheduled"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, s.log)
	}
}

// The form is what counts where the query names the same.
func TestTheFormReplacesTheQuery(t *testing.T) {
	s := newService(t)
	s.ok(t, "POST", "schedule.json?jobid=query&setting=A%3D1&extra=q", "project=p&spider=s&jobid=form&setting=B%3D2")
	want := crawl.JobSpec{Spider: "s", Settings: map[string]string{"B": "2"}, Args: map[string]string{"extra": "q"}}
	if diff := cmp.Diff(want, s.spec(t, "form")); diff != "" {
		t.Errorf("mismatch (-want, +got):\n%s", diff)
	}
}

func TestScheduleShowsWhatTheCheckFinds(t *testing.T) {
	s := newService(t, func(c *api.Config) {
		c.Check = func(spec crawl.JobSpec) error {
			if _, ok := spec.Args["panic"]; ok {
				panic("no such category")
			}
			if _, ok := spec.Settings["DEPTH_LIMT"]; ok {
				return errors.New("the job: unknown setting DEPTH_LIMT; did you mean DEPTH_LIMIT?")
			}
			return nil
		}
	})
	for arg, message := range map[string]string{
		"setting=DEPTH_LIMT%3D1": "the job: unknown setting DEPTH_LIMT; did you mean DEPTH_LIMIT?",
		"panic=1":                "panic: no such category",
	} {
		want := map[string]any{"status": "error", "message": message}
		if diff := cmp.Diff(want, read(t, call(s, "POST", "schedule.json", "project=p&spider=s&"+arg))); diff != "" {
			t.Errorf("%s: mismatch (-want, +got):\n%s", arg, diff)
		}
	}
	s.ok(t, "POST", "schedule.json", "project=p&spider=s&setting=DEPTH_LIMIT%3D1")
}

// A job whose first message could not be sent is there: the caller must not
// start another.
func TestAJobThatBeginsLateIsScheduled(t *testing.T) {
	s := newService(t)
	s.engine.lateErr = errors.New("queue is not there")
	if ans := s.ok(t, "POST", "schedule.json", "project=p&spider=s&jobid=j"); ans["jobid"] != "j" {
		t.Errorf("answer %v", ans)
	}
	if !strings.Contains(s.log.String(), "queue is not there") {
		t.Errorf("log %q", s.log)
	}
}

// Names get into logs, where a line is one event.
func TestNamesCannotForgeLogLines(t *testing.T) {
	s := newService(t)
	name := "<img src=x onerror=1> 100% job=other"
	s.ok(t, "POST", "schedule.json", form("project", "p", "spider", "паук", "jobid", name))
	s.ok(t, "POST", "cancel.json", form("project", "p", "job", name))
	if lines := strings.Count(s.log.String(), "\n"); lines != 2 {
		t.Errorf("%d log lines:\n%s", lines, s.log)
	}
	if s.job(t, name).Spider != "паук" {
		t.Errorf("job %+v", s.job(t, name))
	}
}

func TestCancel(t *testing.T) {
	s := newService(t)
	for name, job := range map[string]crawl.Job{
		"running":   {State: crawl.JobRunning},
		"stopping":  {State: crawl.JobRunning, Stop: "quota"},
		"closing":   {State: crawl.JobClosing, Reason: "finished"},
		"paused":    {State: crawl.JobPaused},
		"finished":  {State: crawl.JobFinished, Reason: "finished"},
		"failed":    {State: crawl.JobFailed, Reason: "start_error"},
		"cancelled": {State: crawl.JobCancelled, Reason: "cancelled"},
	} {
		job.Name = name
		s.put(t, job)
	}
	for _, c := range []struct {
		job  string
		prev any
		stop string
	}{
		{"running", "running", "cancelled"},
		{"running", "running", "cancelled"}, // again
		{"stopping", "running", "quota"},
		{"closing", "running", "cancelled"}, // the fake leaves nothing alone
		{"paused", "pending", "cancelled"},
		{"finished", nil, ""},
		{"failed", nil, ""},
		{"cancelled", nil, ""},
	} {
		ans := s.ok(t, "POST", "cancel.json", "project=p&signal=KILL&job="+c.job)
		if diff := cmp.Diff(map[string]any{"prevstate": c.prev}, ans); diff != "" {
			t.Errorf("%s: mismatch (-want, +got):\n%s", c.job, diff)
		}
		if got := s.job(t, c.job).Stop; got != c.stop {
			t.Errorf("%s: stop %q, want %q", c.job, got, c.stop)
		}
	}
	for _, job := range []string{"none", "..%2Fx", ""} {
		if ans := s.ok(t, "POST", "cancel.json", "project=p&job="+job); ans["prevstate"] != nil {
			t.Errorf("job %q: %v", job, ans)
		}
	}
}
