package local_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/local"
)

// crashSite has links that meet, requests that are not filtered, an error after
// output, a missing page, a page without items, and pages that want a cookie which
// is too long for its request; crashItems are its items.
var (
	crashSite = worldtest.Site{
		"/":  "cookie " + worldtest.LongCookie + "\nitem start\nlink /a\nlink /b\nlink /gone",
		"/a": "needs " + worldtest.LongCookie + "\nitem a\nlink /b\nagain /d",
		"/b": "link /a\nagain /d\nlink /error", "/d": "item d", "/error": "item before\nlink /late\nerror", "/late": "item late",
	}
	crashItems = []string{"a", "before", "d", "d", "late", "start"}
)

// TestCrashOverSQLite crashes a crawl over this package as package engine's tests
// crash one over package memory: each port call is a transaction of its own.
func TestCrashOverSQLite(t *testing.T) {
	run := func(t *testing.T, plan map[int]worldtest.Fault) (problem string, calls int) {
		t.Helper()
		faults := &worldtest.Faults{Plan: plan}
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			store, err := local.Open(dir, local.Options{Clock: time.Now, Visibility: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			w := worldtest.New(t, worldtest.Options{
				Site: crashSite, NoCensus: true,
				Base: &worldtest.Ports{
					Queue: store.Queue(), Rows: store.Frontier(), Items: store.Items(), Jobs: store.Jobs(),
					Blobs: store.Blobs(), Jars: store.Jars(), Dead: store.Dead(),
				},
				Wrap: faults.Around,
			})
			job := w.Run()
			calls = faults.Calls()
			if job.State != crawl.JobFinished {
				problem = fmt.Sprintf("job %s, %s", job.State, job.Problem)
			}
			if diff := cmp.Diff(crashItems, slices.Sorted(slices.Values(w.Delivered))); diff != "" {
				problem += "\nitems (-want, +got):\n" + diff
			}
		})
		if problem != "" {
			problem = fmt.Sprintf("%v: %s", faults.Log(), problem)
		}
		return problem, calls
	}
	_, calls := run(t, nil)
	point, reached := 0, 0
	for n := range calls {
		for _, fault := range worldtest.AllFaults {
			if point++; point%13 != 0 {
				continue // package memory is crashed at every one
			}
			reached++
			if problem, _ := run(t, map[int]worldtest.Fault{n: fault}); problem != "" {
				t.Fatal(problem)
			}
		}
	}
	t.Logf("%d of %d points reached, at %d port calls", reached, point, calls)
}
