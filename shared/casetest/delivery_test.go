package casetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/topology"
)

type batchCase struct {
	Records  json.RawMessage
	Outcomes map[string]string
	Template bool
}

type batchWant struct {
	Response  json.RawMessage
	Error     *string
	Template  []string
	Failures  []string
	Processed []string
}

// sqsBatch works one batch through SQS, the event source mapping and Lambda's
// handler. Records are names, or pairs of a group and a name.
func sqsBatch(t *testing.T, c reported) {
	var in batchCase
	var want batchWant
	decode(t, c, &in, &want)
	var names []string
	var grouped [][2]string
	switch {
	case json.Unmarshal(in.Records, &names) == nil:
		plainBatch(t, in, want, names)
	case json.Unmarshal(in.Records, &grouped) == nil:
		groupedBatch(t, in, want, grouped)
	default:
		t.Fatalf("records of no known form: %s", in.Records)
	}
}

// plainBatch has a stage that fails what is to fail. The response names it and
// nothing else, without an error, and the queue keeps it alone. That the
// deployed mapping reads such a response (FunctionResponseTypes) is checked
// where the template is made; ours always does.
func plainBatch(t *testing.T, in batchCase, want batchWant, names []string) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t)
		f := s.Function(topology.Parse)
		host := lambdahost.New(lambdahost.Config{
			Stack: s.Stack, Function: f.Name, Open: s.store.Queue().Open, Log: nowhere(), Now: time.Now,
			Stage: func(_ context.Context, _ queue.Name, batch []queue.Delivery) (failed []string) {
				for _, d := range batch {
					if in.Outcomes[string(d.Body)] != "ok" {
						failed = append(failed, d.ID)
					}
				}
				return failed
			},
		})
		for _, name := range names {
			s.send(t, queue.Page, []byte(name))
		}
		inv := s.once(t, f, host)
		if (inv.err == nil) != (want.Error == nil) {
			t.Errorf("error %v, want %v", inv.err, want.Error)
		}
		response := string(inv.response)
		for _, r := range inv.records {
			response = strings.ReplaceAll(response, r.MessageID, r.Body)
		}
		if diff := cmp.Diff(anyJSON(t, want.Response), anyJSON(t, []byte(response))); diff != "" {
			t.Errorf("response (-want +got):\n%s", diff)
		}
		if in.Template && !slices.Equal(want.Template, []string{"ReportBatchItemFailures"}) {
			t.Errorf("response types %v: the mapping knows ReportBatchItemFailures alone", want.Template)
		}
		var left, failing []string
		for _, m := range s.backend.Messages(s.QueueName(topology.QueuePage)) {
			left = append(left, m.Body)
		}
		for _, name := range names {
			if in.Outcomes[name] != "ok" {
				failing = append(failing, name)
			}
		}
		if !slices.Equal(slices.Sorted(slices.Values(left)), slices.Sorted(slices.Values(failing))) {
			t.Errorf("the queue keeps %v, want %v", left, failing)
		}
	})
}

// groupedBatch has the groups of a batch be jobs, as they are on our queues:
// those are standard ones, whose groups share turns and promise no order. What
// the case asks for holds for jobs: where one of a job's messages cannot be
// worked because the job's own row is out of reach, none of that job's is worked
// and all come again, and the other job's are done.
func groupedBatch(t *testing.T, in batchCase, want batchWant, records [][2]string) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t)
		site := worldtest.Site{}
		for _, r := range records {
			site["/"+r[1]] = ""
		}
		w := s.world(t, worldtest.Options{Site: site})
		jobs, broken := map[string]crawl.JobUID{}, map[crawl.JobUID]bool{}
		name := map[crawl.UnitID]string{}
		for _, r := range records {
			group := r[0]
			if jobs[group] == "" {
				job, _, err := w.Create(t.Context(), w.Order(group))
				if err != nil {
					t.Fatal(err)
				}
				jobs[group] = job.UID
			}
			name[admit(t, w, jobs[group], &crawl.Request{URL: worldtest.Host + "/" + r[1]})] = r[1]
			if in.Outcomes[r[1]] == "error" {
				broken[jobs[group]] = true
			}
		}
		s.backend.SetHook(func(c *awstest.Call) awstest.Fault {
			for uid := range broken {
				if c.Op == "dynamodb.GetItem" && bytes.Contains(c.Body, []byte(uid)) {
					return awstest.Fault{Error: awstest.Unavailable(c.Op)}
				}
			}
			return awstest.Fault{}
		})
		f := s.Function(topology.Fetch)
		inv := s.once(t, f, s.host(w, f.Name))
		if inv.err != nil {
			t.Fatal(inv.err)
		}
		failed := inv.failed(t)
		var failures, processed []string
		for _, r := range inv.records {
			n := name[r.unit(t)]
			if slices.Contains(failed, r.MessageID) {
				failures = append(failures, n)
			}
			if w.Fetched["/"+n] > 0 {
				processed = append(processed, n)
			}
		}
		if diff := cmp.Diff(want.Failures, failures); diff != "" {
			t.Errorf("failures (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want.Processed, processed); diff != "" {
			t.Errorf("processed (-want +got):\n%s", diff)
		}
		for _, q := range s.backend.Queues() {
			if strings.HasSuffix(q, ".fifo") {
				t.Errorf("queue %s is FIFO: the handler would have to keep its order", q)
			}
		}
	})
}

// once polls the queue of a function that has messages until its first
// invocation is over and applied.
func (s *stack) once(t *testing.T, f topology.Function, host *lambdahost.Host) invocation {
	t.Helper()
	l := &lambdas{s: s}
	ctx, cancel := context.WithCancel(t.Context())
	for _, source := range f.Sources {
		l.poll(ctx, t, f.Name, source, host.Invoke)
	}
	time.Sleep(time.Minute) // less than any message is hidden
	cancel()
	l.running.Wait()
	if n := len(l.invocations()); n != 1 {
		t.Fatalf("%d invocations, want one with the whole batch", n)
	}
	return l.invocations()[0]
}

// admit admits a request as a child of the job's start, and sends it.
func admit(t *testing.T, w *worldtest.World, job crawl.JobUID, req *crawl.Request) crawl.UnitID {
	t.Helper()
	unit, err := scheduler.NewIdentifier(crawl.StartUnit).Unit(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Scheduler.Admit(t.Context(), job, []scheduler.Child{{Parent: crawl.StartUnit, Unit: unit, Request: req}}); err != nil {
		t.Fatal(err)
	}
	return unit
}

type sendCase struct {
	Sizes []int
	Limit int
	IDs   []string
}

type sendWant struct {
	MaxBatchBytes int    `json:"max_batch_bytes"`
	Oversize      string // "claim_check_or_error_once": here it is a claim check
	OK            bool
}

// sqsSend sends messages of some sizes, or with texts that would be no entry
// IDs. What goes over the wire is judged, and everything arrives as it was.
func sqsSend(t *testing.T, c reported) {
	var in sendCase
	var want sendWant
	decode(t, c, &in, &want)
	if len(in.Sizes)+len(in.IDs) == 0 || len(in.Sizes) > 0 && want.MaxBatchBytes == 0 || len(in.IDs) > 0 && !want.OK {
		t.Fatal("the case says neither sizes nor IDs, or not what is right")
	}
	s := newStack(t)
	if in.Limit > 0 {
		setAttribute(t, s, topology.QueueRequest, "MaximumMessageSize", fmt.Sprint(in.Limit))
	}
	wire := &sentBatches{}
	s.backend.SetHook(wire.note)
	var bodies [][]byte
	for n, size := range in.Sizes {
		bodies = append(bodies, bytes.Repeat([]byte{byte('a' + n%26)}, size))
	}
	for _, id := range in.IDs {
		bodies = append(bodies, []byte(id))
	}
	s.send(t, queue.Request, bodies...)
	s.backend.SetHook(nil)
	wire.judge(t, want.MaxBatchBytes)
	long := 0
	for _, body := range bodies {
		if in.Limit > 0 && len(body) > in.Limit {
			long++
		}
	}
	if got := len(s.backend.Objects(s.BucketName())); got != long {
		t.Errorf("%d bodies lie in the bucket, want the %d that are too long", got, long)
	}
	var arrived [][]byte
	for _, d := range s.receive(t, queue.Request) {
		arrived = append(arrived, d.Body)
	}
	slices.SortFunc(bodies, bytes.Compare)
	slices.SortFunc(arrived, bytes.Compare)
	if !slices.EqualFunc(bodies, arrived, bytes.Equal) {
		t.Errorf("%d messages arrived, want the %d that were sent, as they were", len(arrived), len(bodies))
	}
}

type skewCase struct {
	Messages []struct {
		V        int
		Callback string
		Extra    string
	}
}

type skewWant struct{ Outcomes []string }

// messageSkew has messages of another version among good ones. Those that
// cannot be understood come to the dead letters after the receives that the
// queue allows, each with its reason, and the job ends.
func messageSkew(t *testing.T, c reported) {
	var in skewCase
	var want skewWant
	decode(t, c, &in, &want)
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, quick)
		site := worldtest.Site{"/": ""}
		for n := range in.Messages {
			site[fmt.Sprintf("/%d", n)] = fmt.Sprintf("item %d", n)
		}
		w := s.world(t, worldtest.Options{Site: site})
		w.Start()
		units, number := make([]crawl.UnitID, len(in.Messages)), map[crawl.UnitID]int{}
		for n, m := range in.Messages {
			req := &crawl.Request{URL: fmt.Sprintf("%s/%d", worldtest.Host, n), Callback: m.Callback}
			if m.Callback == "parse" {
				req.Callback = "" // the spider's Parse, by its name in the case
			}
			units[n] = admit(t, w, w.Job.UID, req)
			number[units[n]] = n
		}
		for _, d := range s.receive(t, queue.Request) {
			m := in.Messages[number[record{Body: string(d.Body)}.unit(t)]]
			s.send(t, queue.Request, skewed(t, d.Body, m.V, m.Extra))
		}
		l := &lambdas{s: s}
		if job := l.crawl(t, w); job.State != crawl.JobFinished {
			t.Errorf("the job is %s, want finished", job.State)
		}
		for n, outcome := range want.Outcomes {
			row := w.Row(fmt.Sprintf("/%d", n))
			got := fmt.Sprintf("%s %s", row.State, row.Why)
			switch {
			case row.State == frontier.Done:
				got = "ok"
			case row.State == frontier.Failed && row.Why != "" && row.Why != "lost":
				got = "dead_letter"
			}
			if got != outcome {
				t.Errorf("message %d: %s, want %s", n, got, outcome)
			}
		}
		checkLetters(t, s, l, w, in, units)
	})
}

// checkLetters checks that a message of an unknown version was delivered as
// often as its queue allows, and is kept once.
func checkLetters(t *testing.T, s *stack, l *lambdas, w *worldtest.World, in skewCase, units []crawl.UnitID) {
	t.Helper()
	letters, err := s.store.Dead().List(t.Context(), w.Job.UID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for n, m := range in.Messages {
		if m.V == 1 {
			continue
		}
		kept, deliveries := 0, 0
		for _, letter := range letters {
			if letter.Unit == units[n] && letter.Reason != "" {
				kept++
			}
		}
		for _, inv := range l.invocations() {
			for _, r := range inv.records {
				if inv.function == topology.Fetch && r.unit(t) == units[n] {
					deliveries++
				}
			}
		}
		if most := s.Queue(topology.QueueRequest).MaxReceives; kept != 1 || deliveries != most {
			t.Errorf("message %d was delivered %d times and kept %d times, want %d and once", n, deliveries, kept, most)
		}
	}
}

// skewed makes a message one of another build: of another version, or with a
// field in header, payload and request that this build does not know.
func skewed(t *testing.T, body []byte, version int, extra string) []byte {
	t.Helper()
	head, payload, _ := bytes.Cut(body, []byte("\n"))
	var h, p map[string]any
	if err := json.Unmarshal(head, &h); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		t.Fatal(err)
	}
	h["v"] = version
	if extra != "" {
		h["extra"], p["extra"], p["req"].(map[string]any)["extra"] = extra, extra, extra
	}
	return slices.Concat(mustJSON(t, h), []byte("\n"), mustJSON(t, p))
}
