package queuetest

import (
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/queue"
)

// bell is the family's bell, if it has one.
func (h Harness) bell(t *testing.T) queue.Bell {
	t.Helper()
	bell, ok := h.Queue.(queue.Bell)
	if !ok {
		t.Skip("the family has no bell")
	}
	return bell
}

func rung(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func testBell(t *testing.T, h Harness) {
	bell := h.bell(t)
	first, second := bell.Wait(queue.Request), bell.Wait(queue.Request)
	other := bell.Wait(queue.Page)
	if rung(first) || rung(second) || rung(other) {
		t.Fatal("the bell rang before a message was sent")
	}
	h.send(t, queue.Request, message(jobA, "m"))
	if !rung(first) || !rung(second) {
		t.Error("the bell did not ring for all that wait")
	}
	if rung(other) {
		t.Error("the bell of another queue rang")
	}
	if rung(bell.Wait(queue.Request)) {
		t.Error("the bell rings for those who come after the message")
	}

	// Whoever waits in the background is woken.
	woken := make(chan struct{})
	again := bell.Wait(queue.Request)
	go func() { <-again; close(woken) }()
	h.send(t, queue.Request, message(jobA, "m"))
	<-woken
}

func testBellReturn(t *testing.T, h Harness) {
	bell := h.bell(t)
	h.send(t, queue.Request, message(jobA, "m"))
	d := h.collect(t, queue.Request, both, 1)
	c := bell.Wait(queue.Request)
	h.giveBack(t, queue.Request, 0, d...)
	if !rung(c) {
		t.Error("the bell did not ring when a message was returned")
	}
}

func (h Harness) nextDue(t *testing.T, job crawl.JobUID) time.Time {
	t.Helper()
	at, err := h.bell(t).NextDue(t.Context(), queue.Request, job)
	if err != nil {
		t.Fatalf("next due: %v", err)
	}
	return at
}

func testNextDue(t *testing.T, h Harness) {
	if at := h.nextDue(t, both); !at.IsZero() {
		t.Fatalf("next due %s with no message, want zero", at)
	}
	h.send(t, queue.Request, message(jobA, "now"))
	now := h.nextDue(t, both)
	if now.IsZero() {
		t.Fatal("a message is due, next due is zero")
	}

	// A held message does not count, and one that is delayed does.
	held := h.collect(t, queue.Request, both, 1)[0]
	if at := h.nextDue(t, both); !at.IsZero() {
		t.Errorf("next due %s while the only message is held, want zero", at)
	}
	m := message(jobA, "later")
	m.Delay = queue.MaxDelay
	h.send(t, queue.Request, m)
	if got, want := h.nextDue(t, both), now.Add(queue.MaxDelay); h.Exact && !got.Equal(want) {
		t.Errorf("next due %s, want %s", got, want)
	}

	// What was returned, or held for too long, counts again.
	h.giveBack(t, queue.Request, time.Second, held)
	if got, want := h.nextDue(t, both), now.Add(time.Second); h.Exact && !got.Equal(want) {
		t.Errorf("next due %s after a return, want %s", got, want)
	}
	h.Advance(time.Second)
	h.collect(t, queue.Request, both, 1)
	h.Advance(h.Visibility)
	if got, latest := h.nextDue(t, both), now.Add(time.Second+h.Visibility); got.IsZero() || h.Exact && got.After(latest) {
		t.Errorf("next due %s after the visibility time-out, want a time by %s", got, latest)
	}
}

func testNextDueJob(t *testing.T, h Harness) {
	h.send(t, queue.Request, message(jobA, "a"))
	now := h.nextDue(t, jobA)
	if at := h.nextDue(t, jobB); !at.IsZero() {
		t.Errorf("next due of a job without messages is %s, want zero", at)
	}
	m := message(jobB, "b")
	m.Delay = time.Minute
	h.send(t, queue.Request, m)
	if got, want := h.nextDue(t, jobB), now.Add(time.Minute); h.Exact && !got.Equal(want) {
		t.Errorf("next due of %s is %s, want %s", jobB, got, want)
	}
	if got := h.nextDue(t, both); h.Exact && !got.Equal(now) {
		t.Errorf("next due of all is %s, want %s", got, now)
	}
}
