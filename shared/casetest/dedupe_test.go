package casetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/topology"
)

type raceCase struct {
	Legs int
	URL  string
}

type raceWant struct {
	Accepted int
	Stat     map[string]int
}

// race lets so many processes find one link at once. First they only admit it;
// then whole parse functions read pages that have it, and the stat is looked at.
func race(t *testing.T, c reported) {
	var in raceCase
	var want raceWant
	decode(t, c, &in, &want)
	s := newStack(t)
	var mu sync.Mutex
	var sum scheduler.Admission
	var legs sync.WaitGroup
	for n := range in.Legs {
		legs.Go(func() {
			// Each has a scheduler of its own, as a process of its own has.
			one := scheduler.New(scheduler.Ports{
				Rows: s.store.Frontier(), Items: s.store.Items(), Jobs: s.store.Jobs(), Queue: s.store.Queue(), Blobs: s.store.Blobs(), Jars: s.store.Jars(), Now: time.Now,
			})
			req := &crawl.Request{URL: in.URL}
			unit, err := scheduler.NewIdentifier(unitN(n)).Unit(req)
			var a scheduler.Admission
			if err == nil {
				a, err = one.Admit(t.Context(), jobA, []scheduler.Child{{Parent: unitN(n), Unit: unit, Request: req}})
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			sum.New, sum.Seen, sum.Again = sum.New+a.New, sum.Seen+a.Seen, sum.Again+a.Again
		})
	}
	legs.Wait()
	filtered := want.Stat["dupefilter/filtered"]
	if sum != (scheduler.Admission{New: want.Accepted, Seen: filtered}) {
		t.Errorf("admitted %+v, want %d new and %d seen", sum, want.Accepted, filtered)
	}
	if got := len(s.receive(t, queue.Request)); got != want.Accepted {
		t.Errorf("%d requests were sent, want %d", got, want.Accepted)
	}
	racingPages(t, in.Legs, want)
}

// racingPages parses pages with one link between them, each in a process of its
// own, all at once.
func racingPages(t *testing.T, pages int, want raceWant) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t)
		site := worldtest.Site{"/x": "item x"}
		var start []string
		for n := range pages {
			start = append(start, fmt.Sprintf("/%d", n))
			site[start[n]] = "link /x"
		}
		w := s.world(t, worldtest.Options{Site: site, Start: start})
		w.Start()
		pumpUntil(t, s, w, queue.Page, pages)
		all := takeAll(t, s, queue.Page)
		var working sync.WaitGroup
		for k, parse := range processes(w, len(all)) {
			working.Go(func() { w.Work(queue.Page, parse, all[k:k+1]) })
		}
		working.Wait()
		job := w.Finish()
		stats, err := w.ReadStats(t.Context(), job.UID)
		if err != nil {
			t.Fatal(err)
		}
		for key, n := range want.Stat {
			if got := stats[key]; got != float64(n) {
				t.Errorf("stat %s = %v, want %d", key, got, n)
			}
		}
		if w.Fetched["/x"] != want.Accepted || len(w.Delivered) != want.Accepted {
			t.Errorf("fetched %d times, exported %d times; want %d", w.Fetched["/x"], len(w.Delivered), want.Accepted)
		}
	})
}

// pumpUntil works a world, without reading its pages, until n messages wait in
// a queue.
func pumpUntil(t *testing.T, s *stack, w *worldtest.World, name queue.Name, n int) {
	t.Helper()
	steps := []struct {
		from   queue.Name
		handle func(context.Context, queue.Name, []queue.Delivery) []string
	}{{queue.Control, w.Control}, {queue.Request, w.Fetch}}
	for range 100 {
		if len(s.backend.Messages(s.QueueName(string(name)))) >= n {
			return
		}
		for _, step := range steps {
			batch, err := s.store.Queue().Receive(t.Context(), step.from, "", 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(batch) > 0 {
				w.Work(step.from, step.handle, batch)
			}
		}
	}
	t.Fatalf("%d messages do not come to wait in queue %s", n, name)
}

// takeAll receives what is due and deletes nothing.
func takeAll(t *testing.T, s *stack, from queue.Name) []queue.Delivery {
	t.Helper()
	var all []queue.Delivery
	for {
		some, err := s.store.Queue().Receive(t.Context(), from, "", 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(some) == 0 {
			return all
		}
		all = append(all, some...)
	}
}

type redeliveryCase struct {
	Times int
	Items int `json:"page_items"`
}

type redeliveryWant struct {
	Items, Stored int
	Stat          map[string]int
}

// redelivery delivers one page to two workers at once, and then again when it is
// done, at last without saying that it came before. All other messages of the
// crawl come twice as well.
func redelivery(t *testing.T, c reported) {
	var in redeliveryCase
	var want redeliveryWant
	decode(t, c, &in, &want)
	if in.Times < 2 {
		t.Fatalf("a page that comes %d times is not delivered again", in.Times)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t)
		site := worldtest.Site{"/": "link /next\n", "/next": ""}
		var names []string
		for n := range in.Items {
			names = append(names, fmt.Sprint("item ", n))
			site["/"] += fmt.Sprintf("item item %d\n", n)
		}
		w := s.world(t, worldtest.Options{Site: site})
		w.Duplicate = func(queue.Delivery) bool { return true }
		w.Start()
		pumpUntil(t, s, w, queue.Page, 1)
		page := takeAll(t, s, queue.Page)[:1]
		var both sync.WaitGroup
		for _, parse := range processes(w, 2) {
			both.Go(func() { w.Work(queue.Page, parse, page) })
		}
		both.Wait()
		before := s.work()
		for range in.Times - 2 {
			w.Restart()
			page[0].Receives++
			w.Work(queue.Page, w.Parse, page)
		}
		if diff := cmp.Diff(before, s.work()); diff != "" {
			t.Errorf("a page that was done makes work (-before +then):\n%s", diff)
		}
		page[0].Receives = 1 // a count that SQS does not promise to be right
		w.Work(queue.Page, w.Parse, page)
		job := w.Finish()
		checkRedelivered(t, w, job, names, want)
	})
}

// processes are the parse stages of n processes over a world's ports. All are
// made before any works, since the world has one engine at a time.
func processes(w *worldtest.World, n int) []func(context.Context, queue.Name, []queue.Delivery) []string {
	var stages []func(context.Context, queue.Name, []queue.Delivery) []string
	for range n {
		w.Restart()
		stages = append(stages, w.Parse)
	}
	return stages
}

// work counts what was written and what waits in the queues, but for control's,
// which may be asked to look once more.
func (s *stack) work() map[string]int {
	work := map[string]int{}
	for _, op := range []string{"dynamodb.PutItem", "dynamodb.BatchWriteItem", "s3.PutObject"} {
		work[op] = s.backend.Calls()[op]
	}
	for _, q := range s.Queues {
		if q.Name != topology.QueueControl {
			work[q.Name] = len(s.backend.Messages(s.QueueName(q.Name)))
		}
	}
	return work
}

func checkRedelivered(t *testing.T, w *worldtest.World, job crawl.Job, names []string, want redeliveryWant) {
	t.Helper()
	if len(w.Delivered) != want.Items {
		t.Errorf("%d items in the feed, want %d", len(w.Delivered), want.Items)
	}
	if diff := cmp.Diff(names, slices.Sorted(slices.Values(w.Delivered))); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	stats, err := w.ReadStats(t.Context(), job.UID)
	if err != nil {
		t.Fatal(err)
	}
	for key, n := range want.Stat {
		if got := stats[key]; got != float64(n) {
			t.Errorf("stat %s = %v, want %d", key, got, n)
		}
	}
	stored := 0
	for shard := range frontier.Shards {
		rows, err := w.Base().Rows.Scan(t.Context(), job.UID, shard, nil, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.State == frontier.Done && r.Items > 0 {
				stored++
			}
		}
	}
	if stored != want.Stored || w.Fetched["/next"] != 1 {
		t.Errorf("the page is stored %d times and its link fetched %d times, want %d and once", stored, w.Fetched["/next"], want.Stored)
	}
	if job.State != crawl.JobFinished {
		t.Errorf("the job is %s, want finished", job.State)
	}
}
