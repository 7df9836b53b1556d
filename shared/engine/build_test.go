package engine_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
)

var errNoSpider = errors.New(`unknown spider "world"`)

// A job that its build cannot run fails with the reason, and does not wait for
// ever: here for a spider that was there when it was started.
func TestAJobThatCannotBeBuiltFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "item a"}})
		w.Start()
		w.Restart()
		w.Build = func(crawl.Job, crawl.JobSpec) (*engine.Runtime, error) { return nil, errNoSpider }
		job := w.Finish()
		if job.State != crawl.JobFailed || !strings.Contains(job.Problem, errNoSpider.Error()) {
			t.Errorf("the job is %s: %s", job.State, job.Problem)
		}
	})
}

// A name that is taken leaves nothing of the second job behind.
func TestARefusedJobLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "item a"}})
		w.Start()
		other := w.Order("job")
		other.Spec.Args = map[string]string{"a": "b"}
		if _, _, err := w.Create(t.Context(), other); err == nil {
			t.Fatal("a job of that name was started")
		}
		keys, err := w.Base().Blobs.List(t.Context(), "jobs/", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := "jobs/" + string(w.Job.UID) + "/spec.json"; len(keys) != 1 || keys[0] != want {
			t.Errorf("blobs %v, want %s alone", keys, want)
		}
	})
}
