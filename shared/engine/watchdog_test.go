package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/queue"
)

// lossy loses the messages that lose says.
type lossy struct {
	worldtest.Queue
	lose func(to queue.Name, m queue.Message) bool
}

func (q lossy) Send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	kept := slices.DeleteFunc(slices.Clone(msgs), func(m queue.Message) bool { return q.lose(to, m) })
	return q.Queue.Send(ctx, to, kept)
}

func losing(lose func(to queue.Name, m queue.Message) bool) func(worldtest.Ports) worldtest.Ports {
	return func(p worldtest.Ports) worldtest.Ports {
		p.Queue = lossy{p.Queue, lose}
		return p
	}
}

// TestLostMessagesAreSentAgain loses every second message once the crawl has
// begun, in every queue that can be made good from the rows.
func TestLostMessagesAreSentAgain(t *testing.T) {
	for _, noCensus := range []bool{false, true} {
		name := "with an exact count"
		if noCensus {
			name = "by time-outs"
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				lose := func(to queue.Name, _ queue.Message) bool {
					n++
					return to != queue.Item && n%2 == 0 && n < 60
				}
				w := worldtest.New(t, worldtest.Options{
					Site: tree(20), Start: []string{"/0"}, NoCensus: noCensus, Wrap: losing(lose),
				})
				w.Run()
				if diff := cmp.Diff(names(20), slices.Sorted(slices.Values(w.Delivered))); diff != "" {
					t.Errorf("items (-want, +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAUnitThatNoMessageReachesIsLostAfterThreeRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lose := func(to queue.Name, m queue.Message) bool {
			return to == queue.Request && strings.Contains(string(m.Body), "/gone")
		}
		site := worldtest.Site{"/": "item start\nlink /gone\nlink /here", "/here": "item here"}
		begin := time.Now()
		w := worldtest.New(t, worldtest.Options{Site: site, NoCensus: true, Wrap: losing(lose)})
		job := w.Run()
		if job.State != crawl.JobFinished {
			t.Errorf("job %s, want finished", job.State)
		}
		if took := time.Since(begin); took < time.Hour || took > 2*time.Hour {
			t.Errorf("took %s, want about three rounds of 20 min", took)
		}
		if diff := cmp.Diff([]string{"here", "start"}, slices.Sorted(slices.Values(w.Delivered))); diff != "" {
			t.Errorf("items (-want, +got):\n%s", diff)
		}
		if !strings.Contains(w.Dump(), "failed lost") {
			t.Errorf("no unit failed as lost:\n%s", w.Dump())
		}
	})
}
