package casetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/queue"
)

func unitN(n int) crawl.UnitID { return crawl.RepeatUnit(crawl.StartUnit, [20]byte{}, n) }

type awsBatchCase struct {
	Puts          int
	Unprocessed   []int
	DuplicateKeys int `json:"duplicate_keys"`
	Gets          int
}

type awsBatchWant struct{ Calls, Stored int }

// awsBatch writes items in batches of which some entries come back, and reads
// rows in batches of which some keys come back. Items are written in packs, so
// there are no more calls than the case says, and there may be fewer. It runs in
// virtual time, since what comes back is tried again after a pause.
func awsBatch(t *testing.T, c reported) {
	var in awsBatchCase
	var want awsBatchWant
	decode(t, c, &in, &want)
	const op = "dynamodb.BatchWriteItem"
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t)
		begun, before := time.Now(), s.backend.Calls()[op]
		s.backend.SetHook(leaving(op, in.Unprocessed))
		if err := s.store.Items().Put(t.Context(), jobA, itemRows(t, in.Puts, in.DuplicateKeys, 1)); err != nil {
			t.Fatal(err)
		}
		calls := s.backend.Calls()[op] - before
		if want.Calls > 0 && calls > want.Calls {
			t.Errorf("%d calls, want at most %d", calls, want.Calls)
		}
		if again := left(in.Unprocessed); calls < 1+again || again > 0 && time.Since(begun) == 0 {
			t.Errorf("%d calls within %s: what was left is to be sent again after a pause", calls, time.Since(begun))
		}
		checkItems(t, s, in.DuplicateKeys, want.Stored)
		readBatch(t, s, max(in.Gets, in.Puts), in.Unprocessed)
		if len(in.Unprocessed) > 0 {
			neverDone(t, s)
		}
	})
	synctest.Test(t, func(t *testing.T) { manyPacks(t, in) })
}

// manyPacks writes so much more that it takes more packs than one call takes;
// the backend refuses a call of more than 25.
func manyPacks(t *testing.T, in awsBatchCase) {
	const op, more = "dynamodb.BatchWriteItem", 20
	s := newStack(t)
	s.backend.SetHook(leaving(op, in.Unprocessed))
	before := s.backend.Calls()[op]
	rows := itemRows(t, more*in.Puts, more*in.DuplicateKeys, 5000)
	if err := s.store.Items().Put(t.Context(), jobA, rows); err != nil {
		t.Fatal(err)
	}
	if calls := s.backend.Calls()[op] - before; calls < 2 {
		t.Errorf("%d calls, want several", calls)
	}
	s.backend.SetHook(nil)
	checkItems(t, s, more*in.DuplicateKeys, len(rows)-max(more*in.DuplicateKeys-1, 0))
}

// left is how many answers leave something.
func left(unprocessed []int) (n int) {
	for _, u := range unprocessed {
		if u > 0 {
			n++
		}
	}
	return n
}

// leaving leaves entries of an operation's next calls undone: as many as the
// list says, the first ones.
func leaving(op string, counts []int) awstest.Hook {
	var mu sync.Mutex
	calls := 0
	return func(c *awstest.Call) awstest.Fault {
		if c.Op != op {
			return awstest.Fault{}
		}
		mu.Lock()
		defer mu.Unlock()
		n := 0
		if calls < len(counts) {
			n = counts[calls]
		}
		calls++
		return awstest.Fault{Refuse: func(i int) bool { return i < n }}
	}
}

// itemRows are n rows of size bytes or more, of which the first dup have one key.
func itemRows(t *testing.T, n, dup, size int) []items.Row {
	t.Helper()
	rows := make([]items.Row, n)
	for i := range rows {
		item, err := crawl.NewItem(map[string]string{"n": strconv.Itoa(i), "text": incompressible(size)})
		if err != nil {
			t.Fatal(err)
		}
		unit := unitN(i)
		if i < dup {
			unit = unitN(0)
		}
		rows[i] = items.Row{Key: items.Key{Unit: unit, Run: "run"}, State: items.Stored, Item: item}
	}
	return rows
}

// checkItems checks how many items are there, and that of those of one key the
// last one is.
func checkItems(t *testing.T, s *stack, dup, want int) {
	t.Helper()
	found := map[crawl.UnitID]string{}
	for shard := range frontier.Shards {
		for row, err := range s.store.Items().Scan(t.Context(), jobA, shard) {
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := found[row.Unit]; twice {
				t.Errorf("the item of unit %s is there twice", row.Unit)
			}
			n, _ := row.Item.Get("n")
			found[row.Unit] = fmt.Sprint(n)
		}
	}
	if len(found) != want {
		t.Errorf("%d items are stored, want %d", len(found), want)
	}
	if dup > 0 && found[unitN(0)] != strconv.Itoa(dup-1) {
		t.Errorf("item %s stands for %d of one key, want the last", found[unitN(0)], dup)
	}
}

// readBatch reads n rows, a hundred keys a call, of which some keys come back.
func readBatch(t *testing.T, s *stack, n int, unprocessed []int) {
	t.Helper()
	var rows []frontier.Row
	var units []crawl.UnitID
	for i := range n {
		units = append(units, unitN(i))
		rows = append(rows, frontier.Row{Unit: unitN(i), State: frontier.Queued})
	}
	if _, err := s.store.Frontier().Put(t.Context(), jobA, rows); err != nil {
		t.Fatal(err)
	}
	s.backend.SetHook(leaving("dynamodb.BatchGetItem", unprocessed))
	before := s.backend.Calls()["dynamodb.BatchGetItem"]
	got, err := s.store.Frontier().Get(t.Context(), jobA, units, frontier.Strong)
	if err != nil || len(got) != n {
		t.Errorf("%d rows are read (%v), want %d", len(got), err, n)
	}
	if calls, want := s.backend.Calls()["dynamodb.BatchGetItem"]-before, (n+99)/100+left(unprocessed); calls != want {
		t.Errorf("%d reads, want %d", calls, want)
	}
}

// neverDone leaves an entry for ever: when time is over that is an error, and
// so the message comes again.
func neverDone(t *testing.T, s *stack) {
	t.Helper()
	s.backend.SetHook(func(c *awstest.Call) awstest.Fault {
		return awstest.Fault{Refuse: func(i int) bool { return i == 0 }}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := s.store.Items().Put(ctx, jobA, itemRows(t, 2, 0, 1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an item that is never stored: %v, want the end of the time", err)
	}
	s.backend.SetHook(nil)
}

type ttlCase struct {
	Offset int `json:"ttl_offset_s"` // of the row's expiry from the clock, in seconds
}

type ttlWant struct {
	Read any
	Put  string
}

// ttl lets rows expire that nothing deletes.
func ttl(t *testing.T, c reported) {
	var in ttlCase
	var want ttlWant
	decode(t, c, &in, &want)
	if want.Read != nil || want.Put != "ok" || in.Offset >= 0 {
		t.Fatal("the case wants something else of an expired row than that it is absent")
	}
	expired(t, newClock(), time.Duration(-in.Offset)*time.Second)
}

// expired checks that a row is absent for readers and writers some time after
// it has expired, although it stands there still.
func expired(t *testing.T, clock *clock, past time.Duration, changes ...func(*stack)) {
	t.Helper()
	s := newStackAt(t, clock.Now)
	for _, change := range changes {
		change(s)
	}
	job := crawl.Job{
		UID: jobA, Project: "p", Name: "n", State: crawl.JobRunning, Created: clock.Now(), Latest: clock.Now().Add(time.Hour),
	}
	if _, _, err := s.store.Jobs().Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	rows := []frontier.Row{{Unit: unitN(1), State: frontier.Queued}}
	put := func(want string) {
		stands, err := s.store.Frontier().Put(t.Context(), jobA, rows)
		if got := map[bool]string{true: "ok", false: "there is one"}[err == nil && stands[0] == nil]; got != want {
			t.Errorf("put: %s (%v), want %s", got, err, want)
		}
	}
	read := func(want bool) {
		for _, how := range []frontier.Consistency{frontier.Eventual, frontier.Strong} {
			got, err := s.store.Frontier().Get(t.Context(), jobA, []crawl.UnitID{unitN(1)}, how)
			if _, there := got[unitN(1)]; err != nil || there != want {
				t.Errorf("the row is read: %v (%v), want %v", there, err, want)
			}
		}
	}
	put("ok")
	put("there is one")
	read(true)
	lease := func(want bool) {
		if got, err := s.store.Jobs().Lease(t.Context(), "sweep", 60); err != nil || got != want {
			t.Errorf("lease: %v (%v), want %v", got, err, want)
		}
		origin, err := s.store.Origins().Lease(t.Context(), "https://example.com:443", clock.Now().Add(time.Minute))
		if err != nil || origin != want {
			t.Errorf("lease of robots.txt: %v (%v), want %v", origin, err, want)
		}
	}
	lease(true)
	clock.Advance(time.Minute - time.Second)
	lease(false) // the worker is dead, and the time not over
	clock.Advance(time.Second + past)
	lease(true)

	written := clock.Now()
	clock.Set(job.Latest.Add(s.Times.Retention + past))
	read(false)
	clock.Set(written)
	read(true) // so it was there all the time
	clock.Set(job.Latest.Add(s.Times.Retention + past))
	put("ok")
}

// A clock is moved by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = at
}

func (c *clock) Advance(d time.Duration) { c.Set(c.Now().Add(d)) }

type counterCase struct {
	Add       int
	Timeout   bool `json:"timeout_after_apply"`
	Redeliver bool
}

type counterWant struct{ Ledger int }

// counter crawls so many pages while the answers of writes are lost, so that the
// SDK sends them again, and while messages come twice. What says how much work
// is left is no counter but the rows, each closed once: it is exact. Counters
// (package jobs) may drift, and nothing believes them.
func counter(t *testing.T, c reported) {
	var in counterCase
	var want counterWant
	decode(t, c, &in, &want)
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t)
		site := worldtest.Site{}
		var paths []string
		for n := range in.Add {
			paths = append(paths, fmt.Sprintf("/%d", n))
			site[paths[n]] = fmt.Sprintf("item %d", n)
		}
		w := s.world(t, worldtest.Options{Site: site, Start: paths})
		if in.Redeliver {
			w.Duplicate = func(queue.Delivery) bool { return true }
		}
		lost := 0
		if in.Timeout {
			s.backend.SetHook(func(c *awstest.Call) awstest.Fault {
				// Every other call is the SDK's second try.
				write := c.Op == "dynamodb.PutItem" || c.Op == "dynamodb.UpdateItem"
				if write && c.N%2 == 1 {
					lost++
					return awstest.Fault{Lost: true}
				}
				return awstest.Fault{}
			})
		}
		job := w.Run()
		s.backend.SetHook(nil)
		if in.Timeout && lost == 0 {
			t.Error("no answer was lost")
		}
		tally, err := w.Scheduler.Tally(t.Context(), job.UID)
		if err != nil || tally.Done != want.Ledger || tally.Queued != 0 || tally.Stored != want.Ledger {
			t.Errorf("ledger %+v (%v), want %d done and stored, none queued", tally, err, want.Ledger)
		}
		if job.State != crawl.JobFinished || len(w.Delivered) != want.Ledger {
			t.Errorf("the job is %s with %d items, want finished with %d", job.State, len(w.Delivered), want.Ledger)
		}
		settleTwice(t, s, in.Timeout)
	})
}

// settleTwice settles one unit twice: the first one wins, though the answer
// that says so is lost, and the second does not.
func settleTwice(t *testing.T, s *stack, lose bool) {
	t.Helper()
	if _, err := s.store.Frontier().Put(t.Context(), jobA, []frontier.Row{{Unit: unitN(1), State: frontier.Queued}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		first := true
		s.backend.SetHook(func(c *awstest.Call) awstest.Fault {
			lost := lose && first && c.Op == "dynamodb.UpdateItem"
			first = first && !lost
			return awstest.Fault{Lost: lost}
		})
		won, err := s.store.Frontier().Settle(t.Context(), jobA, []frontier.Settlement{
			{Unit: unitN(1), State: frontier.Done, Outcome: frontier.Outcome{Run: "run"}},
		})
		if err != nil || won[0] != want {
			t.Errorf("settled by this call: %v (%v), want %v", won, err, want)
		}
	}
}

// incompressible is text of some length that hardly gets shorter.
func incompressible(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(rand.Text())
	}
	return b.String()[:n]
}
