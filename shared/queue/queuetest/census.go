package queuetest

import (
	"slices"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/queue"
)

// census is the family's census, if it takes one.
func (h Harness) census(t *testing.T) queue.Census {
	t.Helper()
	census, ok := h.Queue.(queue.Census)
	if !ok {
		t.Skip("the family takes no census")
	}
	return census
}

func (h Harness) wantOutstanding(t *testing.T, want int, job crawl.JobUID, from ...queue.Name) {
	t.Helper()
	got, err := h.census(t).Outstanding(t.Context(), job, from...)
	if err != nil || got != want {
		t.Fatalf("job %s has %d messages outstanding on %q (%v), want %d", job, got, from, err, want)
	}
}

func (h Harness) wantDiscarded(t *testing.T, want int, from queue.Name, job crawl.JobUID) {
	t.Helper()
	got, err := h.census(t).Discard(t.Context(), from, job)
	if err != nil || got != want {
		t.Fatalf("discarded %d messages of job %s from %s (%v), want %d", got, job, from, err, want)
	}
}

func delayed(job crawl.JobUID, body string) queue.Message {
	m := message(job, body)
	m.Delay = time.Minute
	return m
}

func testCensus(t *testing.T, h Harness) {
	h.wantOutstanding(t, 0, jobA)
	for _, name := range append(queue.Requests(), queue.Page, queue.Item) {
		h.send(t, name, message(jobA, "due"))
	}
	h.send(t, queue.Request, delayed(jobA, "delayed"), message(jobB, "other"))
	h.send(t, queue.Control, message(jobA, "control"))
	h.wantOutstanding(t, 7, jobA)
	h.wantOutstanding(t, 1, jobB)

	held := h.collect(t, queue.Page, jobA, 1)
	h.wantOutstanding(t, 7, jobA)
	h.giveBack(t, queue.Page, time.Hour, held...)
	h.wantOutstanding(t, 7, jobA)
	h.delete(t, queue.Item, h.collect(t, queue.Item, jobA, 1)...)
	h.wantOutstanding(t, 6, jobA)
}

func testCensusOfSome(t *testing.T, h Harness) {
	h.send(t, queue.Request, message(jobA, "due"), delayed(jobA, "delayed"), message(jobB, "other"))
	h.send(t, queue.Page, messages(jobA, "page", 3)...)
	h.collect(t, queue.Page, jobA, 3)
	h.wantOutstanding(t, 2, jobA, queue.Request)
	h.wantOutstanding(t, 3, jobA, queue.Page)
	h.wantOutstanding(t, 0, jobA, queue.Item)
	h.wantOutstanding(t, 5, jobA, queue.Request, queue.Page, queue.Item)
	h.wantOutstanding(t, 2, jobA, queue.Requests()...)
}

func testDiscard(t *testing.T, h Harness) {
	h.wantDiscarded(t, 0, queue.Request, jobA)
	h.send(t, queue.Request, messages(jobA, "held", 2)...)
	held := h.collect(t, queue.Request, jobA, 2)
	h.send(t, queue.Request, message(jobA, "due"), delayed(jobA, "delayed"), message(jobA, "returned"))
	for _, d := range h.collect(t, queue.Request, jobA, 2) {
		h.giveBack(t, queue.Request, 2*time.Second, d)
	}
	h.wantDiscarded(t, 3, queue.Request, jobA)
	h.wantDiscarded(t, 0, queue.Request, jobA)
	h.wantOutstanding(t, 2, jobA)
	h.Advance(time.Second)
	h.none(t, queue.Request, both)

	// What was held can be deleted and returned, and has kept its body.
	h.delete(t, queue.Request, held[0])
	h.giveBack(t, queue.Request, 0, held[1])
	again := h.collect(t, queue.Request, both, 1)
	if string(again[0].Body) != string(held[1].Body) {
		t.Errorf("%q came back as %q", held[1].Body, again[0].Body)
	}
	// Nobody holds it any more when its time is over; none of the others,
	// whose delays are over too, comes.
	h.Advance(max(h.Visibility, time.Minute))
	h.wantDiscarded(t, 1, queue.Request, jobA)
	h.delete(t, queue.Request, again...)
	h.wantOutstanding(t, 0, jobA)
	h.none(t, queue.Request, both)
}

func testDiscardApart(t *testing.T, h Harness) {
	h.send(t, queue.Request, message(jobB, "other job"), message(jobA, "discarded"), message(jobB, "its second"))
	h.send(t, queue.RequestLow, message(jobA, "other queue"))
	h.wantDiscarded(t, 1, queue.Request, jobA)
	if got := sorted(h.collect(t, queue.Request, both, 2)); !slices.Equal(got, []string{"its second", "other job"}) {
		t.Errorf("the other job's messages are %q", got)
	}
	if got := bodies(h.collect(t, queue.RequestLow, both, 1)); got[0] != "other queue" {
		t.Errorf("the other queue's message is %q", got)
	}
	// What is sent after it arrives.
	h.send(t, queue.Request, message(jobA, "new"))
	if got := bodies(h.collect(t, queue.Request, both, 1)); got[0] != "new" {
		t.Errorf("received %q, want the new one", got)
	}
}

func testDiscardMany(t *testing.T, h Harness) {
	h.census(t)
	h.send(t, queue.Request, messages(jobA, "m", 2500)...)
	h.send(t, queue.Request, message(jobB, "other"))
	h.wantDiscarded(t, 2500, queue.Request, jobA)
	h.wantOutstanding(t, 0, jobA)
	h.wantOutstanding(t, 1, jobB)
}
