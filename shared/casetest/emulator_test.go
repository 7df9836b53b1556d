package casetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

// TestEMU02 runs a batch in which some messages always fail through our own
// runner: those come again after their visibility time-out and go to the
// dead-letter queue in the end; the good ones are gone after the first time.
func TestEMU02(t *testing.T) {
	var in struct {
		Batch, Fail int
		MaxReceive  int `json:"max_receive"`
	}
	var want struct{ DLQ, Deleted int }
	caseOf(t, "EMU-02", &in, &want)
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, quick, func(s *topology.Stack) {
			for i := range s.Queues {
				if s.Queues[i].MaxReceives > 0 {
					s.Queues[i].MaxReceives = in.MaxReceive
				}
			}
		})
		for n := range in.Batch {
			s.send(t, queue.Page, fmt.Append(nil, n))
		}
		begun, runs := time.Now(), map[string][]time.Duration{}
		l := &lambdas{s: s, invoked: func(inv invocation) {
			for _, r := range inv.records {
				runs[r.Body] = append(runs[r.Body], time.Since(begun))
			}
		}}
		ctx, cancel := context.WithCancel(t.Context())
		m := l.poll(ctx, t, topology.Parse, s.Function(topology.Parse).Sources[0], func(_ context.Context, event []byte) ([]byte, error) {
			return failSome(t, event, in.Fail), nil
		})
		hidden := s.Queue(topology.QueuePage).Visibility
		time.Sleep(hidden * time.Duration(in.MaxReceive+2))
		cancel()
		l.running.Wait()
		for n := range in.Batch {
			times := runs[fmt.Sprint(n)]
			if n >= in.Fail && len(times) != 1 {
				t.Errorf("good message %d was delivered %d times", n, len(times))
			}
			if n >= in.Fail {
				continue
			}
			if len(times) != in.MaxReceive {
				t.Errorf("message %d was delivered %d times, want %d", n, len(times), in.MaxReceive)
			}
			for k := 1; k < len(times); k++ {
				if gap := times[k] - times[k-1]; gap < hidden || gap > hidden+time.Second {
					t.Errorf("message %d came again after %s, want its visibility time-out %s", n, gap, hidden)
				}
			}
		}
		dead := len(s.backend.Messages(s.QueueName(topology.QueueDead)))
		if left := len(s.backend.Messages(s.QueueName(topology.QueuePage))); dead != want.DLQ || int(m.Stats().Deleted) != want.Deleted || left != 0 {
			t.Errorf("%d dead letters, %d deleted, %d left; want %d, %d and none", dead, m.Stats().Deleted, left, want.DLQ, want.Deleted)
		}
	})
}

// TestEMU03 sends a message to a queue that takes 1 MiB and to one that takes
// 256 KiB: what the queue says decides whether it travels in the bucket.
func TestEMU03(t *testing.T) {
	var in struct{ Bytes int }
	var want struct{ Uses string }
	caseOf(t, "EMU-03", &in, &want)
	for _, limit := range []int{in.Bytes / 2, in.Bytes + in.Bytes/2} {
		s := newStack(t)
		setAttribute(t, s, topology.QueuePage, want.Uses, fmt.Sprint(limit))
		body := strings.Repeat("x", in.Bytes)
		if got := s.through(t, []byte(body)); string(got) != body {
			t.Errorf("limit %d: %d bytes arrive, want %d", limit, len(got), in.Bytes)
		}
		claims := 0
		if in.Bytes > limit {
			claims = 1
		}
		if got := len(s.backend.Objects(s.BucketName())); got != claims {
			t.Errorf("limit %d: %d bodies lie in the bucket, want %d", limit, got, claims)
		}
	}
}

// TestEMU04 has an endpoint that deletes no row and does not know TTL at all:
// the stack is made there all the same, and nothing waits for a deletion.
func TestEMU04(t *testing.T) {
	var in struct {
		Offset int `json:"ttl_offset_s"`
	}
	var want struct{ OK bool }
	caseOf(t, "EMU-04", &in, &want)
	clock := newClock()
	bare := awstest.New(clock.Now)
	asked := false
	bare.SetHook(func(c *awstest.Call) awstest.Fault {
		if strings.HasSuffix(c.Op, "TimeToLive") {
			asked = true
			return awstest.Fault{Error: &awstest.Error{Status: 400, Code: "UnknownOperationException", Message: "no such operation"}}
		}
		return awstest.Fault{}
	})
	err := provision.Create(t.Context(), bare.Config(), topology.Default("cases"))
	if ok := err == nil; ok != want.OK || !asked {
		t.Errorf("created: %v, %v; want %v", ok, err, want.OK)
	}
	expired(t, clock, time.Duration(-in.Offset)*time.Second)
}

// TestEMU05 deploys more than once to our own emulation: the second time changes
// nothing, and each queue is polled by one mapping. A deployment that makes
// mappings by an API is that of the template.
func TestEMU05(t *testing.T) {
	var in struct{ Deploys int }
	var want struct{ Mappings int }
	caseOf(t, "EMU-05", &in, &want)
	s := newStack(t)
	s.send(t, queue.Page, []byte("stays"))
	queues, calls := s.backend.Queues(), s.backend.Calls()
	for range in.Deploys - 1 {
		if err := provision.Create(t.Context(), s.backend.Config(), s.Stack); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(queues, s.backend.Queues()); diff != "" {
		t.Errorf("queues (-first +then):\n%s", diff)
	}
	for op, n := range s.backend.Calls() {
		if strings.Contains(op, ".Create") && n != calls[op] {
			t.Errorf("%s is called %d times more", op, n-calls[op])
		}
	}
	if got := len(s.backend.Messages(s.QueueName(topology.QueuePage))); got != 1 {
		t.Errorf("%d messages after the deployments, want the one from before", got)
	}
	mappings := map[string]int{}
	for _, f := range s.Functions {
		for _, source := range f.Sources {
			mappings[source.Queue]++
		}
	}
	for _, q := range s.Queues {
		if mappings[q.Name] != want.Mappings {
			t.Errorf("queue %s has %d mappings, want %d", q.Name, mappings[q.Name], want.Mappings)
		}
	}
}

// TestEMU06 sends a request, and the same one again when it has been worked off
// and some seconds have passed. Our queues are standard ones and remove no
// duplicates (a FIFO queue would within 5 minutes); the rows do: the second one
// is not processed.
func TestEMU06(t *testing.T) {
	var in struct {
		ID  string `json:"dedup_id"`
		Gap int    `json:"gap_s"`
	}
	var want struct{ Processed int }
	caseOf(t, "EMU-06", &in, &want)
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t)
		path := "/" + in.ID
		// The second start holds the job open until it is looked at.
		w := s.world(t, worldtest.Options{Site: worldtest.Site{path: "item x", "/": ""}})
		w.Start()
		admit(t, w, w.Job.UID, &crawl.Request{URL: worldtest.Host + path})
		sent := takeAll(t, s, queue.Request)
		if len(sent) != 1 {
			t.Fatalf("%d requests were sent, want one", len(sent))
		}
		for _, gap := range []int{0, in.Gap} {
			time.Sleep(time.Duration(gap) * time.Second)
			w.Restart()
			w.Work(queue.Request, w.Fetch, sent)
			for _, page := range takeAll(t, s, queue.Page) {
				w.Work(queue.Page, w.Parse, []queue.Delivery{page})
			}
			s.sendAs(t, w.Job.UID, queue.Request, sent[0].Body)
		}
		job := w.Finish()
		if w.Fetched[path] != want.Processed || len(w.Delivered) != want.Processed || job.State != crawl.JobFinished {
			t.Errorf("fetched %d times, exported %d times, job %s; want %d and finished", w.Fetched[path], len(w.Delivered), job.State, want.Processed)
		}
	})
}

// failSome answers that those messages of an event failed whose body is a number
// below fail.
func failSome(t *testing.T, event []byte, fail int) []byte {
	t.Helper()
	var ev struct{ Records []record }
	if err := json.Unmarshal(event, &ev); err != nil {
		t.Error(err)
	}
	failures := []map[string]string{}
	for _, r := range ev.Records {
		if n, err := strconv.Atoi(r.Body); err != nil || n < fail {
			failures = append(failures, map[string]string{"itemIdentifier": r.MessageID})
		}
	}
	return mustJSON(t, map[string]any{"batchItemFailures": failures})
}

func (s *stack) sendAs(t *testing.T, job crawl.JobUID, to queue.Name, body []byte) {
	t.Helper()
	if err := s.store.Queue().Send(t.Context(), to, []queue.Message{{Job: job, Body: body}}); err != nil {
		t.Fatal(err)
	}
}
