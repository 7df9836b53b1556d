package local

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
	"github.com/skitterhq/skitter/shared/queue"
)

func count(t *testing.T, s *Store, table string) int64 {
	t.Helper()
	q := s.writer.conn.Stmt(`SELECT count(*) FROM ` + table)
	q.Next()
	n := q.ColInt(0)
	if err := q.End(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBodiesComeAndGoWithTheirMessages sends bodies that lie in their rows and
// such that lie apart, around the size where they part.
func TestBodiesComeAndGoWithTheirMessages(t *testing.T) {
	ctx := t.Context()
	s := openHere(t)
	q := s.Queue()
	sizes := []int{0, 1, largeBody - 1, largeBody, largeBody + 1, 200_000}
	send := func(job crawl.JobUID) {
		for _, size := range sizes {
			msg := queue.Message{Job: job, Body: bytes.Repeat([]byte("x"), size)}
			if err := q.Send(ctx, queue.Page, []queue.Message{msg}); err != nil {
				t.Fatal(err)
			}
		}
	}
	send("a")
	got, err := q.Receive(ctx, queue.Page, "a", 10)
	if err != nil || len(got) != len(sizes) {
		t.Fatalf("received %d (%v), want %d", len(got), err, len(sizes))
	}
	var receipts []string
	for i, d := range got {
		receipts = append(receipts, d.Receipt)
		if len(d.Body) != sizes[i] {
			t.Errorf("message %d has %d bytes, want %d", i, len(d.Body), sizes[i])
		}
	}
	send("b")
	if n := count(t, s, "bodies"); n != 6 {
		t.Errorf("%d bodies lie apart, want 6", n)
	}
	if n, err := q.Discard(ctx, queue.Page, "b"); err != nil || n != len(sizes) {
		t.Errorf("discarded %d (%v), want %d", n, err, len(sizes))
	}
	if n := count(t, s, "bodies"); n != 3 {
		t.Errorf("%d bodies are left after Discard, want 3", n)
	}
	if err := q.Delete(ctx, queue.Page, receipts); err != nil {
		t.Fatal(err)
	}
	if messages, bodies := count(t, s, "messages"), count(t, s, "bodies"); messages+bodies != 0 {
		t.Errorf("%d messages and %d bodies are left", messages, bodies)
	}
}

// TestReceiveOfAllJobsKeepsTheOrder interleaves jobs, whose messages lie apart.
func TestReceiveOfAllJobsKeepsTheOrder(t *testing.T) {
	ctx := t.Context()
	s := openHere(t)
	q := s.Queue()
	var want []string
	for i := range 30 {
		body := string(rune('A' + i))
		want = append(want, body)
		job := crawl.JobUID([]string{"c", "a", "b", "", "d"}[i%5])
		if err := q.Send(ctx, queue.Request, []queue.Message{{Job: job, Body: []byte(body)}}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for range 5 {
		ds, err := q.Receive(ctx, queue.Request, "", 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range ds {
			got = append(got, string(d.Body))
			if want := []string{"c", "a", "b", "", "d"}[(d.Body[0]-'A')%5]; string(d.Job) != want {
				t.Errorf("%s is of job %q, want %q", d.Body, d.Job, want)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("received %q, want %q", got, want)
	}
}

// TestReceiveTakesNoMoreThanItGives has messages of one due time, of which only
// some are asked for.
func TestReceiveTakesNoMoreThanItGives(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s, err := Open(t.TempDir(), Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 10 {
		if err := s.Queue().Send(t.Context(), queue.Request, []queue.Message{{Job: "a", Body: []byte("x")}}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, n := range []int{0, 3, -1, 1, 4, 10} {
		got, err := s.Queue().Receive(t.Context(), queue.Request, "a", n)
		if err != nil || len(got) > max(n, 0) {
			t.Fatalf("received %d of %d (%v)", len(got), n, err)
		}
		for _, d := range got {
			if d.Receives != 1 || seen[d.ID] {
				t.Errorf("message %s came again, for the %dth time", d.ID, d.Receives)
			}
			seen[d.ID] = true
		}
	}
	if len(seen) != 10 {
		t.Errorf("received %d messages, want 10", len(seen))
	}
}

// TestANumberThatWasNotCommittedIsForgotten fails a transaction that has given
// a job its number, and gives the number to another.
func TestANumberThatWasNotCommittedIsForgotten(t *testing.T) {
	ctx := context.Background()
	s := openHere(t)
	give := func(name string, fail error) (number int64, err error) {
		err = s.writer.do(ctx, func(c *sqlite.Conn) (err error) {
			if number, err = s.writer.numbers.give(c, name); err != nil {
				return err
			}
			return fail
		})
		return number, err
	}
	why := errors.New("fails after it")
	lost, err := give("first", why)
	if !errors.Is(err, why) {
		t.Fatalf("error %v", err)
	}
	second, err := give("second", nil)
	if err != nil || second != lost {
		t.Fatalf("second has number %d (%v), want the %d that was not kept", second, err, lost)
	}
	first, err := give("first", nil)
	if err != nil || first == second {
		t.Errorf("first and second have numbers %d and %d (%v)", first, second, err)
	}
	again, err := give("first", nil)
	if err != nil || again != first || s.writer.numbers.known["first"] != first {
		t.Errorf("first has number %d (%v) and then %d, and %d is remembered", first, err, again, s.writer.numbers.known["first"])
	}
}

func TestReceiptsThatAreNone(t *testing.T) {
	good := (&receipt{job: 1, due: 2, id: 3, receives: 4, large: 1}).String()
	for _, bad := range []string{"", "/", "1/2/3/4", good + "/1", "1/2/3/4/é", "1/2/3/4/"} {
		if _, err := parseReceipt(bad); err == nil {
			t.Errorf("receipt %q was taken", bad)
		}
	}
	if r, err := parseReceipt(good); err != nil || r.String() != good {
		t.Errorf("receipt %q comes back as %q (%v)", good, r.String(), err)
	}
}

func TestAStaleDeleteLeavesTheBody(t *testing.T) {
	s := openHere(t)
	q := s.Queue()
	if err := sendBig(t, s); err != nil {
		t.Fatal(err)
	}
	stale := ""
	for range 2 {
		got, err := q.Receive(t.Context(), queue.Page, "job", 1)
		if err != nil || len(got) != 1 || len(got[0].Body) != 100_000 {
			t.Fatalf("received %d messages (%v), want one of 100,000 bytes", len(got), err)
		}
		if stale != "" {
			return
		}
		stale = got[0].Receipt
		if err := q.Return(t.Context(), queue.Page, []string{stale}, 0); err != nil {
			t.Fatal(err)
		}
		if err := q.Delete(t.Context(), queue.Page, []string{stale}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNextDueIsTheFirstOfAllJobs has the earliest message in neither the first
// job nor the last.
func TestNextDueIsTheFirstOfAllJobs(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s, err := Open(t.TempDir(), Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, job := range []crawl.JobUID{"a", "b", "c"} { // numbered in this order
		delay := []time.Duration{3, 1, 2}[i]
		msg := queue.Message{Job: job, Delay: delay * time.Minute}
		if err := s.Queue().Send(t.Context(), queue.Request, []queue.Message{msg}); err != nil {
			t.Fatal(err)
		}
	}
	for job, want := range map[crawl.JobUID]time.Duration{"": 1, "a": 3, "b": 1, "c": 2} {
		at, err := s.Queue().NextDue(t.Context(), queue.Request, job)
		if err != nil || !at.Equal(now.Add(want*time.Minute)) {
			t.Errorf("next due of job %q is %s (%v), want in %d minutes", job, at, err, want)
		}
	}
}
