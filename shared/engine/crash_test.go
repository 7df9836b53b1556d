package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
)

// crashRun runs the crawl with faults and reports what is wrong with its end,
// and how many port calls there were. The stages are in one process, or apart.
func crashRun(t *testing.T, apart bool, plan map[int]worldtest.Fault) (problem string, calls int) {
	t.Helper()
	faults := &worldtest.Faults{Plan: plan}
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: worldtest.CrashSite, Wrap: faults.Around, NoCensus: true, Apart: apart})
		job := w.Run()
		calls = faults.Calls()
		if job.State != crawl.JobFinished || job.Reason != crawl.ReasonFinished || job.Problem != "" {
			problem = fmt.Sprintf("job %s, %s, %s", job.State, job.Reason, job.Problem)
		}
		if len(plan) == 1 && w.Revived > 0 {
			problem += fmt.Sprintf("\n%d requests had to be sent again by the sweep, though the owner rule reaches them at once", w.Revived)
		}
		if diff := cmp.Diff(worldtest.CrashItems, slices.Sorted(slices.Values(w.Delivered))); diff != "" {
			problem += fmt.Sprintf("\nitems (-want, +got):\n%s\nrows:\n%s", diff, w.Dump())
		}
	})
	if problem != "" {
		problem = fmt.Sprintf("%v: %s", faults.Log(), problem)
	}
	return problem, calls
}

func TestCrashAtEveryPortCall(t *testing.T) {
	_, calls := crashRun(t, true, nil)
	points, reached := 0, 0
	for n := range calls {
		for _, fault := range worldtest.AllFaults {
			if points++; testing.Short() && points%17 != 0 {
				continue
			}
			reached++
			if problem, _ := crashRun(t, true, map[int]worldtest.Fault{n: fault}); problem != "" {
				t.Fatal(problem)
			}
		}
	}
	t.Logf("%d of %d points reached, at %d port calls", reached, points, calls)
	if reached < 300 && !testing.Short() {
		t.Errorf("%d points reached, want at least 300", reached)
	}
}

func TestCrashesInPairs(t *testing.T) {
	pairs := uint64(200)
	if testing.Short() {
		pairs = 10
	}
	if text := os.Getenv("SKITTER_PAIRS"); text != "" { // make test/crash
		var err error
		if pairs, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SKITTER_PAIRS: %v", err)
		}
	}
	_, calls := crashRun(t, true, nil)
	for seed := range pairs {
		r := rand.New(rand.NewPCG(seed, 1))
		plan := make(map[int]worldtest.Fault, 2)
		for len(plan) < 2 {
			plan[r.IntN(calls*3/2)] = worldtest.AllFaults[r.IntN(len(worldtest.AllFaults))]
		}
		if problem, _ := crashRun(t, seed%2 == 0, plan); problem != "" {
			t.Fatalf("seed %d: %s", seed, problem)
		}
	}
}
