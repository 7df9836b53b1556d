package queuetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/queue"
)

func testRoundTrip(t *testing.T, h Harness) {
	body := `{"v":1,"text":"größer ☃"}`
	h.send(t, queue.Page, message(jobA, body))

	d := h.collect(t, queue.Page, both, 1)[0]
	if string(d.Body) != body {
		t.Errorf("body %q, want %q", d.Body, body)
	}
	if d.Job != jobA {
		t.Errorf("job %q, want %q", d.Job, jobA)
	}
	if d.ID == "" || d.Receipt == "" {
		t.Errorf("ID %q and receipt %q, want both", d.ID, d.Receipt)
	}
	if h.Exact && d.Receives != 1 {
		t.Errorf("first delivery has Receives %d, want 1", d.Receives)
	}
}

func testLongSlice(t *testing.T, h Harness) {
	// More than one call of SQS takes, by number and (10 × 60 KB) by size.
	msgs := messages(jobA, "long", 25)
	for i := range msgs {
		msgs[i].Body = append(msgs[i].Body, strings.Repeat("x", 60_000)...)
	}
	h.send(t, queue.Request, msgs...)

	ids := map[string]bool{}
	var want []string
	for _, m := range msgs {
		want = append(want, string(m.Body))
	}
	slices.Sort(want)
	got := h.collect(t, queue.Request, both, len(msgs))
	for _, d := range got {
		ids[d.ID] = true
	}
	if !slices.Equal(sorted(got), want) {
		t.Errorf("the %d bodies received are not those sent", len(got))
	}
	if len(ids) != len(msgs) {
		t.Errorf("%d messages have %d IDs", len(msgs), len(ids))
	}
}

func testSendNothing(t *testing.T, h Harness) {
	h.send(t, queue.Item)
	h.none(t, queue.Item, both)
	h.delete(t, queue.Item)
	h.giveBack(t, queue.Item, 0)
}

func testBodiesAreCopies(t *testing.T, h Harness) {
	m := message(jobA, "before")
	h.send(t, queue.Request, m)
	copy(m.Body, "AFTER!")

	first := h.collect(t, queue.Request, both, 1)[0]
	if string(first.Body) != "before" {
		t.Errorf("body %q after the sender reused its slice, want %q", first.Body, "before")
	}
	copy(first.Body, "AFTER!")
	h.Advance(h.Visibility)
	if again := h.collect(t, queue.Request, both, 1)[0]; string(again.Body) != "before" {
		t.Errorf("body %q after a receiver changed its slice, want %q", again.Body, "before")
	}
}

func testMax(t *testing.T, h Harness) {
	h.send(t, queue.Request, messages(jobA, "m", 5)...)
	got := h.receive(t, queue.Request, both, 3)
	if len(got) > 3 || h.Exact && len(got) != 3 {
		t.Errorf("received %d, want 3", len(got))
	}
	h.collect(t, queue.Request, both, 5-len(got))
}

func testQueuesApart(t *testing.T, h Harness) {
	names := append(queue.Requests(), queue.Page, queue.Item, queue.Control)
	for _, name := range names {
		h.send(t, name, message(jobA, string(name)))
	}
	for _, name := range names {
		d := h.collect(t, name, both, 1)[0]
		if string(d.Body) != string(name) {
			t.Errorf("%s gave the message of %s", name, d.Body)
		}
		h.none(t, name, both)
		h.delete(t, name, d)
	}
}

func testJobFilter(t *testing.T, h Harness) {
	h.send(t, queue.Request, messages(jobA, "a", 15)...)
	h.send(t, queue.Request, messages(jobB, "b", 2)...)
	h.none(t, queue.Request, "cccccccccccccccccccccccc")

	for _, d := range h.collect(t, queue.Request, jobB, 2) {
		if d.Job != jobB || !strings.HasPrefix(string(d.Body), "b-") {
			t.Errorf("job %s: %q, want only those of %s", d.Job, d.Body, jobB)
		}
	}
	h.none(t, queue.Request, jobB)
	for _, d := range h.collect(t, queue.Request, both, 15) {
		if d.Job != jobA {
			t.Errorf("received %q of job %s again", d.Body, d.Job)
		}
	}
}

func testOrder(t *testing.T, h Harness) {
	if !h.Exact {
		t.Skip("the family promises no order")
	}
	later := message(jobA, "third")
	later.Delay = 2 * time.Second
	sooner := message(jobB, "second")
	sooner.Delay = time.Second
	h.send(t, queue.Request, later, sooner, message(jobB, "first"), message(jobA, "first too"))
	h.Advance(2 * time.Second)
	h.send(t, queue.Request, message(jobA, "last"))

	want := []string{"first", "first too", "second", "third", "last"}
	if got := bodies(h.receive(t, queue.Request, both, 10)); !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

func testDelay(t *testing.T, h Harness) {
	m := message(jobA, "later")
	m.Delay = time.Minute
	h.send(t, queue.Request, m, message(jobA, "now"))

	now := h.collect(t, queue.Request, both, 1)
	if string(now[0].Body) != "now" {
		t.Fatalf("received %q before its delay", now[0].Body)
	}
	h.delete(t, queue.Request, now...)
	h.Advance(time.Minute - time.Second)
	h.none(t, queue.Request, jobA)
	h.Advance(time.Second)
	for _, d := range h.collect(t, queue.Request, jobA, 1) {
		if string(d.Body) != "later" || h.Exact && d.Receives != 1 {
			t.Errorf("received %q with Receives %d, want %q with 1", d.Body, d.Receives, "later")
		}
	}
}

func testDelayCut(t *testing.T, h Harness) {
	long, past := message(jobA, "long"), message(jobA, "past")
	long.Delay, past.Delay = 24*time.Hour, -time.Hour
	h.send(t, queue.Request, long)
	h.send(t, queue.Page, past)

	h.collect(t, queue.Page, both, 1)
	h.none(t, queue.Request, both)
	h.Advance(queue.MaxDelay)
	h.collect(t, queue.Request, both, 1)
}
