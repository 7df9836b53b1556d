package aws_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

// crashWhole is the variable that has every point tried, and many pairs, if it
// is "all"; any other text tries the points that have it in their description.
const crashWhole = "SKITTER_AWS_CRASH"

// mostCrashProblems are how many points may fail before the rest is left out.
const mostCrashProblems = 20

// A crash is a crawl with faults: what is wrong with its end, what there was of
// requests, and which faults there were.
type crash struct {
	problem  string
	requests map[string]int
	happened []string
	// died says that there was something in the dead-letter queue.
	died bool
}

// crashRun runs the crawl of [worldtest.CrashSite] over a stack of its own.
func crashRun(t *testing.T, stale time.Duration, plan ...point) crash {
	t.Helper()
	var c crash
	synctest.Test(t, func(t *testing.T) {
		inside := awstest.New(time.Now, awstest.Stale(stale))
		stack := topology.Default("crash")
		if err := provision.Create(t.Context(), inside.Config(), stack); err != nil {
			t.Fatal(err)
		}
		faults, cfg := inject(inside, stack, plan...)
		store := aws.New(aws.Config{AWS: cfg, Stack: stack, Now: time.Now})
		defer func() {
			if t.Failed() { // it gave up
				t.Logf("after %v", faults.happened())
			}
		}()
		w := crashWorld(t, store, stack, func(from queue.Name) time.Time {
			due := inside.NextDue(stack.QueueName(string(from)))
			c.died = c.died || from == queue.Dead && !due.IsZero()
			return due
		})
		job := w.Run()
		c.requests, c.happened = faults.counted(), faults.happened()
		c.problem = crashProblem(t, w, job, plan)
		c.problem += crashLeavings(t, w, store, stack, inside)
		w.Wait() // one may be held up by a fault still
	})
	if c.problem != "" {
		c.problem = fmt.Sprintf("%v:\n%s", c.happened, c.problem)
	}
	return c
}

// crashWorld is a world over a stack, with the times that it has in the cloud.
func crashWorld(t *testing.T, store *aws.Store, stack topology.Stack, due func(queue.Name) time.Time) *worldtest.World {
	t.Helper()
	for _, q := range stack.Queues { // a warm process knows its queues
		if _, err := store.Queue().Receive(t.Context(), queue.Name(q.Name), "", 1); err != nil {
			t.Fatal(err)
		}
	}
	return worldtest.New(t, worldtest.Options{
		Site: worldtest.CrashSite, NoCensus: true, Apart: true, Redrives: true, Sweep: stack.Times.Sweep,
		Due:        due,
		InlineBody: 30, // the longer pages go to the bucket
		Base: &worldtest.Ports{
			Queue: uncounted{Queue: store.Queue()}, Rows: store.Frontier(), Items: store.Items(),
			Jobs: store.Jobs(), Blobs: store.Blobs(), Jars: store.Jars(), Dead: store.Dead(),
		},
		Engine: func(c *engine.Config) {
			c.Quiet, c.Still, c.Linger, c.Looks = stack.Times.Quiet, stack.Times.Still, stack.Times.Linger, stack.Times.Looks
		},
	})
}

// uncounted are queues as SQS has them: nobody is to ask them for what they do
// not know.
type uncounted struct {
	*aws.Queue
	queue.Bell
	queue.Census
}

// crashProblem says what is wrong with a job's end. Of single faults, those that
// an adapter bears cost it no time; any other ends a delivery, whose messages
// wait for their visibility time-out, or takes a counter or a look away, which
// the watchdog makes good after its time. No request needs it.
func crashProblem(t *testing.T, w *worldtest.World, job crawl.Job, plan []point) (problem string) {
	t.Helper()
	if job.State != crawl.JobFinished || job.Reason != crawl.ReasonFinished || job.Problem != "" {
		problem = fmt.Sprintf("job %s, %s, %s\n", job.State, job.Reason, job.Problem)
	}
	if took := job.Ended.Sub(job.Created); len(plan) == 1 && plan[0].fault.bearable() && took > time.Minute {
		problem += fmt.Sprintf("it took %s, though the adapter bears the fault\n", took)
	}
	if len(plan) == 1 && w.Revived > 0 {
		problem += fmt.Sprintf("%d requests had to be sent again by the sweep, though the owner rule reaches them at once\n", w.Revived)
	}
	if diff := cmp.Diff(worldtest.CrashItems, slices.Sorted(slices.Values(w.Delivered))); diff != "" {
		problem += fmt.Sprintf("items (-want, +got):\n%s\nrows:\n%s\n", diff, w.Dump())
	}
	return problem
}

// crashLeavings works off what an ended job has left in the queues, and says
// what cannot be, and what died.
func crashLeavings(t *testing.T, w *worldtest.World, store *aws.Store, stack topology.Stack, inside *awstest.Backend) (problem string) {
	t.Helper()
	left := func() (names []string) {
		for _, q := range stack.Queues {
			for range inside.Messages(stack.QueueName(q.Name)) {
				names = append(names, q.Name)
			}
		}
		return names
	}
	for begin := time.Now(); len(left()) > 0; w.Pump() {
		if time.Since(begin) > 6*time.Hour {
			return fmt.Sprintf("messages are left in the queues %v\n", left())
		}
	}
	letters, err := store.Dead().List(t.Context(), w.Job.UID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range letters {
		problem += fmt.Sprintf("a dead letter of %s: %s\n", l.From, l.Reason)
	}
	return problem
}

// crashPoints are all single faults of a crawl without faults, in an order that
// spreads the requests.
func crashPoints(t *testing.T) []point {
	t.Helper()
	whole := crashRun(t, 0)
	if whole.problem != "" {
		t.Fatal(whole.problem)
	}
	var points []point
	for _, name := range slices.Sorted(maps.Keys(whole.requests)) {
		for nth := range whole.requests[name] {
			for _, f := range faultsOf(name) {
				points = append(points, point{name, nth, f})
			}
		}
	}
	return points
}

func TestCrashAtEveryRequest(t *testing.T) {
	points := crashPoints(t)
	which, step := os.Getenv(crashWhole), 1
	switch {
	case which != "" && which != "all":
		points = slices.DeleteFunc(points, func(p point) bool { return !strings.Contains(p.String(), which) })
	case which == "" && testing.Short():
		step = 370
	case which == "":
		step = 37
	}
	tried, reached, wrong := 0, 0, 0
	for i := step - 1; i < len(points) && wrong < mostCrashProblems; i += step {
		tried++
		c := crashRun(t, 0, points[i])
		if len(c.happened) > 0 {
			reached++
		}
		if c.problem != "" {
			wrong++
			t.Errorf("%s: %s", points[i], c.problem)
		}
	}
	t.Logf("%d of %d points reached, %d tried", reached, len(points), tried)
	if which == "all" && reached < 300 {
		t.Errorf("%d points reached, want at least 300", reached)
	}
}

// Items that cannot be written for an hour go to the dead-letter queue, from
// there back to their own, and are there in the end.
func TestItemsOutliveAnHourWithoutTheirTable(t *testing.T) {
	c := crashRun(t, 0, point{"dynamodb.BatchWriteItem items", 0, throttledForHours})
	if c.problem != "" {
		t.Error(c.problem)
	}
	if !c.died {
		t.Error("no message was in the dead-letter queue, want some there: the test tests nothing")
	}
}

func TestCrashInPairsOfRequests(t *testing.T) {
	pairs := uint64(10)
	switch {
	case os.Getenv(crashWhole) != "":
		pairs = 500
	case testing.Short():
		pairs = 2
	}
	points := crashPoints(t)
	for seed := range pairs {
		r := rand.New(rand.NewPCG(seed, 1))
		// Reads that miss what was just written are no fault of their own.
		stale := time.Duration(seed%2) * time.Second
		plan := []point{points[r.IntN(len(points))], points[r.IntN(len(points))]}
		if c := crashRun(t, stale, plan...); c.problem != "" {
			t.Errorf("seed %d: %s", seed, c.problem)
		}
	}
}
