package queuetest

import (
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/queue"
)

func testVisibility(t *testing.T, h Harness) {
	h.send(t, queue.Request, message(jobA, "m"))
	first := h.collect(t, queue.Request, both, 1)[0]
	h.none(t, queue.Request, both)
	h.Advance(h.Visibility - time.Second)
	h.none(t, queue.Request, both)

	h.Advance(time.Second)
	second := h.collect(t, queue.Request, both, 1)[0]
	if second.ID != first.ID {
		t.Errorf("ID %q at the second delivery, %q at the first", second.ID, first.ID)
	}
	if second.Receives <= first.Receives {
		t.Errorf("Receives %d after %d", second.Receives, first.Receives)
	}
	if second.Receipt == first.Receipt {
		t.Errorf("both deliveries have the receipt %q", first.Receipt)
	}
	h.none(t, queue.Request, both)
}

func testDelete(t *testing.T, h Harness) {
	h.send(t, queue.Request, messages(jobA, "m", 3)...)
	got := h.collect(t, queue.Request, both, 3)
	h.delete(t, queue.Request, got[0], got[1])
	h.delete(t, queue.Request, got[1]) // gone already: passed over

	h.Advance(h.Visibility)
	again := h.collect(t, queue.Request, both, 1)[0]
	if again.ID != got[2].ID {
		t.Errorf("%q came again, though deleted; %q was not", again.Body, got[2].Body)
	}
	h.giveBack(t, queue.Request, 0, got[0]) // gone: passed over
	h.none(t, queue.Request, both)
}

func testLateDelete(t *testing.T, h Harness) {
	h.send(t, queue.Request, message(jobA, "m"))
	late := h.collect(t, queue.Request, both, 1)[0]
	h.Advance(h.Visibility + time.Second)
	h.delete(t, queue.Request, late) // due again, but not delivered again
	h.none(t, queue.Request, both)
}

func testStaleReceipt(t *testing.T, h Harness) {
	h.send(t, queue.Request, message(jobA, "m"))
	stale := h.collect(t, queue.Request, both, 1)[0]
	h.Advance(h.Visibility)
	fresh := h.collect(t, queue.Request, both, 1)[0]

	h.giveBack(t, queue.Request, 0, stale)
	h.none(t, queue.Request, both)
	h.delete(t, queue.Request, stale)
	h.Advance(h.Visibility)
	third := h.collect(t, queue.Request, both, 1)[0]
	if third.ID != fresh.ID {
		t.Fatalf("message %s came, want %s", third.ID, fresh.ID)
	}
	h.delete(t, queue.Request, third)
	h.Advance(h.Visibility)
	h.none(t, queue.Request, both)
}

func testReturn(t *testing.T, h Harness) {
	h.send(t, queue.Request, messages(jobA, "m", 2)...)
	first := h.collect(t, queue.Request, both, 2)
	h.giveBack(t, queue.Request, 0, first[0])

	again := h.collect(t, queue.Request, jobA, 1)[0]
	if again.ID != first[0].ID {
		t.Errorf("%q came again, want %q", again.Body, first[0].Body)
	}
	if again.Receives <= first[0].Receives {
		t.Errorf("Receives %d after %d", again.Receives, first[0].Receives)
	}
	// The clock stands still, so nothing but the count of deliveries tells
	// the old receipt from the new one.
	h.delete(t, queue.Request, first[0])
	h.delete(t, queue.Request, first[1])
	h.giveBack(t, queue.Request, 0, again)
	if last := h.collect(t, queue.Request, both, 1)[0]; last.ID != again.ID {
		t.Errorf("%q came, want %q", last.Body, again.Body)
	}
}

func testReturnDelay(t *testing.T, h Harness) {
	h.send(t, queue.Request, message(jobA, "m"))
	d := h.collect(t, queue.Request, both, 1)[0]
	h.giveBack(t, queue.Request, time.Minute, d)

	h.none(t, queue.Request, both)
	h.Advance(time.Minute - time.Second)
	h.none(t, queue.Request, both)
	h.Advance(time.Second)
	h.collect(t, queue.Request, both, 1)
}
