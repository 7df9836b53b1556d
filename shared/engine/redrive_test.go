package engine_test

import (
	"testing"
	"testing/synctest"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
)

func TestRedriveOfAnEndedJobIsANewOneOfItsFailedUnits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := worldtest.Site{"/": "item start\nlink /a\nlink /b", "/a": "error", "/b": "item b"}
		w := worldtest.New(t, worldtest.Options{Site: site})
		first := w.Run()
		wantItems(t, w, "start", "b")

		site["/a"] = "item a\nlink /c"
		site["/c"] = "item c"
		next, n, err := w.Redrive(t.Context(), first)
		if err != nil || n != 1 || next.UID == first.UID {
			t.Fatalf("redrive: job %s, %d units, %v; want a new job of one unit", next.UID, n, err)
		}
		w.Job = next
		if job := w.Finish(); job.State != crawl.JobFinished {
			t.Errorf("the new job is %s", job.State)
		}
		wantItems(t, w, "a", "c")
		if _, n, err := w.Redrive(t.Context(), w.Job); n != 0 || err != nil {
			t.Errorf("redrive of a job without failures: %d units, %v", n, err)
		}
	})
}

func TestRedriveOfARunningJobIsANewUnitOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := tree(200)
		site["/2"] = "error"
		w := worldtest.New(t, worldtest.Options{Site: site, Start: []string{"/0"}})
		w.Start()
		for w.Row("/2").State != "failed" {
			w.Pump()
		}
		site["/2"] = tree(200)["/2"]
		job, n, err := w.Redrive(t.Context(), w.Job)
		if err != nil || n != 1 || job.UID != w.Job.UID {
			t.Fatalf("redrive: job %s, %d units, %v; want one unit of the same job", job.UID, n, err)
		}
		if _, n, err := w.Redrive(t.Context(), job); err != nil || n != 0 {
			t.Errorf("a second redrive at once: %d units, %v; want none", n, err)
		}
		w.Finish()
		wantItems(t, w, names(200)...)
	})
}
