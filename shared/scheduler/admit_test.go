package scheduler_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/scheduler"
)

// The rules of admission, each with rows as they are and with reads that miss
// what was written last: the put decides, so both must end the same.
func TestAdmit(t *testing.T) {
	kids := func(parent string, names ...string) []scheduler.Child {
		var list []scheduler.Child
		for _, n := range names {
			list = append(list, child(parent, n))
		}
		return list
	}
	tests := []struct {
		name   string
		before func(*world) // then the process forgets everything
		admit  []scheduler.Child
		want   scheduler.Admission
		sent   []string
	}{
		{"nothing", nil, nil, scheduler.Admission{}, nil},
		{"new requests are sent", nil, kids("p", "a", "b"), scheduler.Admission{New: 2}, []string{"a", "b"}},
		{
			"a request that another parent gave before is seen", func(w *world) { w.admitted(child("q", "a")) },
			kids("p", "a", "b"), scheduler.Admission{New: 1, Seen: 1}, []string{"b"},
		},
		{
			"the owner rule: a queued request of the same parent is sent again", func(w *world) { w.admitted(child("p", "a")) },
			kids("p", "a", "b"), scheduler.Admission{New: 1, Again: 1}, []string{"a", "b"},
		},
		{
			"a request twice in one batch is one", nil,
			kids("p", "a", "b", "a", "a"), scheduler.Admission{New: 2, Seen: 2}, []string{"a", "b"},
		},
		{
			"a repeat in a batch is seen even where the first is sent again", func(w *world) { w.admitted(child("p", "a")) },
			kids("p", "a", "a"), scheduler.Admission{Again: 1, Seen: 1}, []string{"a"},
		},
		{
			"a parent's own request that another gave first is the other's", func(w *world) { w.admitted(child("q", "p")) },
			kids("p", "p"), scheduler.Admission{Seen: 1}, nil,
		},
	}
	for _, test := range tests {
		for world, opts := range map[string][]memory.FrontierOption{"": nil, ", read stale": {memory.Stale()}} {
			t.Run(test.name+world, func(t *testing.T) {
				w := newWorld(t, opts...)
				if test.before != nil {
					test.before(w)
					w.again()
				}
				got, err := w.admit(test.admit...)
				if err != nil {
					t.Fatal(err)
				}
				if got != test.want {
					t.Errorf("admission %+v, want %+v", got, test.want)
				}
				if diff := cmp.Diff(test.sent, w.units()); diff != "" {
					t.Errorf("sent (-want, +got):\n%s", diff)
				}
			})
		}
	}
}

func TestAClosedRequestOfTheSameParentIsNotSentAgain(t *testing.T) {
	for _, state := range []frontier.State{frontier.Done, frontier.Failed, frontier.Dropped} {
		w := newWorld(t)
		w.admitted(child("p", "a"))
		w.settle("a", state, "", 0)
		w.again()
		got, err := w.admit(child("p", "a"))
		if err != nil || got != (scheduler.Admission{Seen: 1}) {
			t.Errorf("%s: admission %+v, err %v; want it seen", state, got, err)
		}
		if sent := w.units(); len(sent) > 0 {
			t.Errorf("%s: sent %v", state, sent)
		}
	}
}

func TestAdmissionWritesWhatTheRowMustTell(t *testing.T) {
	w := newWorld(t)
	c := child("p", "a")
	c.Request.Priority, c.Request.Depth, c.Request.Meta = 7, 3, crawl.Values{"q": "<&>"}
	if _, err := w.admit(c); err != nil {
		t.Fatal(err)
	}
	row := w.row("a")
	const packed = `{"url":"http://example.com/a","meta":{"q":"<&>"},"priority":7,"depth":3}`
	want := frontier.Row{Unit: unit("a"), By: unit("p"), State: frontier.Queued, Priority: 7, Depth: 3, Req: []byte(packed)}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Errorf("row (-want, +got):\n%s", diff)
	}
	sent := w.sent()
	if len(sent) != 1 {
		t.Fatalf("%d messages, want 1", len(sent))
	}
	if s := sent[0]; string(s.Request.Req) != packed || s.Request.Priority != 7 || s.Request.Attempt != 0 || !s.Request.Turn.IsZero() || s.Lane != queue.RequestHigh {
		t.Errorf("message %+v", s)
	}
}

func TestRequestsGoToTheLaneOfTheirPriority(t *testing.T) {
	w := newWorld(t)
	for name, priority := range map[string]int{"high": 1, "normal": 0, "low": -9} {
		c := child("p", name)
		c.Request.Priority = priority
		if _, err := w.admit(c); err != nil {
			t.Fatal(err)
		}
	}
	lanes := map[string]queue.Name{}
	for _, s := range w.sent() {
		lanes[s.Unit] = s.Lane
	}
	want := map[string]queue.Name{"high": queue.RequestHigh, "normal": queue.Request, "low": queue.RequestLow}
	if diff := cmp.Diff(want, lanes); diff != "" {
		t.Errorf("lanes (-want, +got):\n%s", diff)
	}
}

func TestTheCacheSavesReads(t *testing.T) {
	w := newWorld(t)
	w.admitted(child("q", "theirs"))
	w.again()
	w.admitted(child("p", "a"), child("p", "theirs"))
	got, err := w.admit(child("p", "a"), child("x", "theirs"))
	if err != nil || got != (scheduler.Admission{Seen: 2}) {
		t.Errorf("admission %+v, err %v; want both seen", got, err)
	}
	if len(w.calls) > 0 {
		t.Errorf("calls %v, want none for what is known to be sent", w.calls)
	}
	// The cache is of one job.
	if got, err := w.Admit(t.Context(), "other job", []scheduler.Child{child("p", "a")}); err != nil || got.New != 1 {
		t.Errorf("another job's admission %+v, err %v; want it new", got, err)
	}
}

// A parent whose admission failed is delivered again, here to the same process:
// its children must be sent then, whatever had been done.
func TestWhatWasNotSentIsNotInTheCache(t *testing.T) {
	for name, call := range map[string]string{
		"the read fails": "get 3 eventually", "the put fails": "put 2", "the send fails": "send 2 to request",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.admitted(child("q", "theirs"))
			w.again()
			w.fail = failAt(call)
			children := []scheduler.Child{child("p", "a"), child("p", "b"), child("p", "theirs")}
			if _, err := w.admit(children...); !errors.Is(err, errPort) {
				t.Fatalf("err %v, want that %s", err, name)
			}
			if sent := w.units(); len(sent) > 0 {
				t.Fatalf("sent %v beside the error", sent)
			}
			w.fail = nil
			got, err := w.admit(children...)
			if err != nil || got.New+got.Again != 2 || got.Seen != 1 {
				t.Errorf("admission %+v, err %v; want two new or again, one seen", got, err)
			}
			if diff := cmp.Diff([]string{"a", "b"}, w.units()); diff != "" {
				t.Errorf("sent (-want, +got):\n%s", diff)
			}
		})
	}
}

// One lane may deliver when another does not.
func TestASendThatFailsForOneLaneLeavesAllOutOfTheCache(t *testing.T) {
	w := newWorld(t)
	high := child("p", "high")
	high.Request.Priority = 1
	w.fail = failAt("send 1 to request")
	if _, err := w.admit(high, child("p", "normal")); !errors.Is(err, errPort) {
		t.Fatalf("err %v, want the port's", err)
	}
	w.fail = nil
	w.sent()
	got, err := w.admit(high, child("p", "normal"))
	if err != nil || got != (scheduler.Admission{Again: 2}) {
		t.Errorf("admission %+v, err %v; want both again", got, err)
	}
	if diff := cmp.Diff([]string{"high", "normal"}, w.units()); diff != "" {
		t.Errorf("sent (-want, +got):\n%s", diff)
	}
}

// Another process puts a row between this one's read and its put.
func TestThePutDecides(t *testing.T) {
	for parent, want := range map[string]scheduler.Admission{"p": {Again: 1}, "q": {Seen: 1}} {
		w := newWorld(t)
		w.before = func(call string) {
			if call == "put 1" {
				w.before = nil
				other := scheduler.New(w.ports)
				if _, err := other.Admit(t.Context(), job, []scheduler.Child{child(parent, "a")}); err != nil {
					t.Error(err)
				}
			}
		}
		got, err := w.admit(child("p", "a"))
		if err != nil || got != want {
			t.Errorf("row of parent %s: admission %+v, err %v; want %+v", parent, got, err, want)
		}
		if by := name(w.row("a").By); by != parent {
			t.Errorf("row by %s, want %s: who put first owns it", by, parent)
		}
	}
}

func TestALargeRequestGoesToABlobAndComesBack(t *testing.T) {
	const around = 63 // what the packed request has beside the long text
	for _, size := range []int{0, 750 - around, 751 - around, 100_000} {
		w := newWorld(t)
		c := child("p", "a")
		c.Request.Meta = crawl.Values{"long": strings.Repeat("x", size)}
		c.Request.Body = []byte{0, '\n', 0xff}
		if _, err := w.admit(c); err != nil {
			t.Fatal(err)
		}
		row := w.row("a")
		if size == 0 && len(row.Req) != around {
			t.Fatalf("the packed request has %d bytes without the long text, not %d", len(row.Req), around)
		}
		// With its other attributes a row is to stay under one write unit.
		if len(row.Req) > 750 {
			t.Errorf("%d bytes of meta: the row's request has %d bytes, want at most 750", size, len(row.Req))
		}
		keys, err := w.blobs.List(t.Context(), "", "", 0)
		if err != nil || (len(keys) == 1) != (size+around > 750) {
			t.Errorf("%d bytes of meta: blobs %v, err %v", size, keys, err)
		}
		sent := w.sent()
		if len(sent) != 1 || string(sent[0].Request.Req) != string(row.Req) {
			t.Errorf("%d bytes of meta: the message says something else than the row: %+v", size, sent)
		}
		got, err := w.Unpack(t.Context(), job, row.Req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Request, got); diff != "" {
			t.Errorf("%d bytes of meta (-want, +got):\n%s", size, diff)
		}
	}
}

func TestUnpackErrors(t *testing.T) {
	w := newWorld(t)
	for _, packed := range []string{``, `[]`, `{"url":1}`, `{"blob":1}`, `{"blob":"requests/job/gone"}`, `{"blob":"../up"}`} {
		if req, err := w.Unpack(t.Context(), job, []byte(packed)); err == nil || req != nil || !strings.HasPrefix(err.Error(), "unpack a request: ") {
			t.Errorf("%s: request %v, err %v", packed, req, err)
		}
	}
}

func TestPutStartIsPutOnce(t *testing.T) {
	w := newWorld(t)
	for range 2 {
		if err := w.PutStart(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	tally, err := w.Tally(t.Context(), job)
	if err != nil || tally != (scheduler.Tally{Rows: 1, Queued: 1, Started: true}) {
		t.Errorf("tally %+v, err %v", tally, err)
	}
	if sent := w.units(); len(sent) > 0 {
		t.Errorf("sent %v, want nothing: the job's row does not stand yet", sent)
	}
}

// Who loses the put must not change the request of the row that stands.
func TestWhoLosesThePutLeavesTheLargeRequestAsItWas(t *testing.T) {
	large := func(parent string) scheduler.Child {
		c := child(parent, "a")
		c.Request.Callback = "of_" + parent
		c.Request.Meta = crawl.Values{"long": strings.Repeat("x", 1000)}
		return c
	}
	w := newWorld(t, memory.Stale())
	w.admitted(large("p"))
	w.again() // another process, whose read misses the row
	if got, err := w.admit(large("q")); err != nil || got != (scheduler.Admission{Seen: 1}) {
		t.Fatalf("admission %+v, err %v; want it seen", got, err)
	}
	row := w.row("a")
	req, err := w.Unpack(t.Context(), job, row.Req)
	if err != nil {
		t.Fatal(err)
	}
	if name(row.By) != "p" || req.Callback != "of_p" {
		t.Errorf("the row is by %s, and its request calls %s; want both of p", name(row.By), req.Callback)
	}
}

// A parent puts its children and dies before it sends them; another parent in
// the same process finds their rows; then the first one comes again there. What
// the process remembers must not keep it from sending them.
func TestInterleavingBWithAnotherParentBetween(t *testing.T) {
	w := newWorld(t)
	w.fail = failAt("send 2 to request")
	if _, err := w.admit(child("owner", "a"), child("owner", "b")); err == nil {
		t.Fatal("nothing went wrong")
	}
	w.fail = nil
	for range 2 { // the second time from memory
		if got, err := w.admit(child("other", "a"), child("other", "b")); err != nil || got != (scheduler.Admission{Seen: 2}) {
			t.Fatalf("the other parent: %+v, %v", got, err)
		}
	}
	if got, err := w.admit(child("owner", "a"), child("owner", "b")); err != nil || got != (scheduler.Admission{Again: 2}) {
		t.Errorf("the owner: %+v, %v; want both sent again", got, err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, w.units()); diff != "" {
		t.Errorf("sent (-want, +got):\n%s", diff)
	}
	// Now they are known to be sent.
	if got, err := w.admit(child("owner", "a"), child("other", "b")); err != nil || got != (scheduler.Admission{Seen: 2}) {
		t.Errorf("after that: %+v, %v", got, err)
	}
}

// Duplicates are told of wherever they are found: in the batch, in the cache,
// by the read and by the put.
func TestAdmitTellsOfDuplicates(t *testing.T) {
	for _, test := range []struct {
		name string
		same bool // the scheduler that admitted the first
		want []string
	}{
		{"in the cache", true, []string{"a", "a"}},
		{"by another process", false, []string{"a", "a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.admitted(child("p", "a"))
			s := w.Scheduler
			if !test.same {
				s = scheduler.New(w.ports)
			}
			var told []string
			got, err := s.AdmitTelling(t.Context(), job, []scheduler.Child{child("q", "a"), child("q", "b"), child("q", "a")}, func(c scheduler.Child) {
				told = append(told, name(c.Unit))
			})
			if err != nil || got != (scheduler.Admission{New: 1, Seen: 2}) {
				t.Errorf("admission %+v, err %v", got, err)
			}
			if diff := cmp.Diff(test.want, told); diff != "" {
				t.Errorf("told (-want, +got):\n%s", diff)
			}
		})
	}
}
