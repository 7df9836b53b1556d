// Package queuetest holds the tests that every family's queues must pass: the
// contract of package queue, sentence by sentence. An adapter runs them and
// needs few tests of its own.
//
// It leaves to the adapters what only they promise, such as what becomes of
// the messages of a process that was killed.
package queuetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/queue"
)

// A Queue is both ends of a family's queues. Where it is a [queue.Census] or a
// [queue.Bell] too, their contracts are tested as well.
type Queue interface {
	queue.Sender
	queue.Receiver
}

// A Harness is one family under test, with empty queues.
type Harness struct {
	Queue Queue
	// Advance moves the family's clock.
	Advance func(time.Duration)
	// Visibility is for how long a received message is hidden; more than a
	// second.
	Visibility time.Duration
	// Exact says that Receive gives each message that is due once, as many
	// as asked for, in the order of due time and then of sending. SQS
	// promises none of this.
	Exact bool
}

const (
	jobA = crawl.JobUID("aaaaaaaaaaaaaaaaaaaaaaaa")
	jobB = crawl.JobUID("bbbbbbbbbbbbbbbbbbbbbbbb")
	both = crawl.JobUID("") // the filter that lets every job pass
)

// Run tests the queues that open returns, fresh ones for each test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	tests := []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"a message arrives as it was sent", testRoundTrip},
		{"a long slice arrives whole", testLongSlice},
		{"sending nothing does nothing", testSendNothing},
		{"bodies belong to their owners", testBodiesAreCopies},
		{"no more arrive than were asked for", testMax},
		{"queues are apart", testQueuesApart},
		{"one job's messages can be received alone", testJobFilter},
		{"order is by due time, then of sending", testOrder},
		{"delays hold a message back", testDelay},
		{"delays out of range are cut", testDelayCut},
		{"a received message is hidden, then comes again", testVisibility},
		{"a deleted message is gone", testDelete},
		{"a late delete counts until the next delivery", testLateDelete},
		{"a stale receipt deletes and returns nothing", testStaleReceipt},
		{"a returned message comes again at once", testReturn},
		{"a returned message waits for its delay", testReturnDelay},
		{"receivers share out the messages", testReceiversShare},
		{"senders and receivers at once lose nothing", testAtOnce},
		{"census counts what is under way", testCensus},
		{"census counts the queues it is asked for", testCensusOfSome},
		{"discard removes what nobody holds", testDiscard},
		{"discard leaves other queues and jobs alone", testDiscardApart},
		{"discard removes many", testDiscardMany},
		{"bell rings at a send", testBell},
		{"bell rings at a return", testBellReturn},
		{"next due is the earliest message not held", testNextDue},
		{"next due of one job", testNextDueJob},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// message is a message of a job whose body tells it from others.
func message(job crawl.JobUID, body string) queue.Message {
	return queue.Message{Job: job, Body: []byte(body)}
}

// messages are n messages of a job with the bodies PREFIX-0, PREFIX-1, …
func messages(job crawl.JobUID, prefix string, n int) []queue.Message {
	msgs := make([]queue.Message, n)
	for i := range msgs {
		msgs[i] = message(job, fmt.Sprintf("%s-%d", prefix, i))
	}
	return msgs
}

func (h Harness) send(t *testing.T, to queue.Name, msgs ...queue.Message) {
	t.Helper()
	if err := h.Queue.Send(t.Context(), to, msgs); err != nil {
		t.Fatalf("send %d messages to %s: %v", len(msgs), to, err)
	}
}

func (h Harness) receive(t *testing.T, from queue.Name, job crawl.JobUID, max int) []queue.Delivery {
	t.Helper()
	got, err := h.Queue.Receive(t.Context(), from, job, max)
	if err != nil {
		t.Fatalf("receive from %s: %v", from, err)
	}
	return got
}

// collect receives until it has want messages. Where the family is exact it
// fails on a message that comes twice.
func (h Harness) collect(t *testing.T, from queue.Name, job crawl.JobUID, want int) []queue.Delivery {
	t.Helper()
	var all []queue.Delivery
	seen := map[string]bool{}
	for tries := 0; len(all) < want && tries < h.patience()+want; tries++ {
		for _, d := range h.receive(t, from, job, 10) {
			if seen[d.ID] && h.Exact {
				t.Fatalf("message %s (%s) came twice before it was due again", d.ID, d.Body)
			}
			if !seen[d.ID] {
				all = append(all, d)
			}
			seen[d.ID] = true
		}
	}
	if len(all) != want {
		t.Fatalf("received %d messages from %s, want %d: %q", len(all), from, want, bodies(all))
	}
	return all
}

// patience is how many receives may come back empty before nothing is due.
func (h Harness) patience() int {
	if h.Exact {
		return 1
	}
	return 50
}

// none fails if a message is due.
func (h Harness) none(t *testing.T, from queue.Name, job crawl.JobUID) {
	t.Helper()
	if got := h.receive(t, from, job, 10); len(got) != 0 {
		t.Fatalf("received %q from %s, want nothing", bodies(got), from)
	}
}

func (h Harness) delete(t *testing.T, from queue.Name, ds ...queue.Delivery) {
	t.Helper()
	if err := h.Queue.Delete(t.Context(), from, receipts(ds)); err != nil {
		t.Fatalf("delete from %s: %v", from, err)
	}
}

func (h Harness) giveBack(t *testing.T, from queue.Name, delay time.Duration, ds ...queue.Delivery) {
	t.Helper()
	if err := h.Queue.Return(t.Context(), from, receipts(ds), delay); err != nil {
		t.Fatalf("return to %s: %v", from, err)
	}
}

func receipts(ds []queue.Delivery) []string {
	rs := make([]string, len(ds))
	for i, d := range ds {
		rs[i] = d.Receipt
	}
	return rs
}

func bodies(ds []queue.Delivery) []string {
	bs := make([]string, len(ds))
	for i, d := range ds {
		bs[i] = string(d.Body)
	}
	return bs
}

// sorted is bodies without their order, which the contract leaves open.
func sorted(ds []queue.Delivery) []string {
	bs := bodies(ds)
	slices.Sort(bs)
	return bs
}

// receiver is what the helpers of goroutines need, which may not call Fatal.
func receiveAndDelete(ctx context.Context, q Queue, from queue.Name) ([]queue.Delivery, error) {
	got, err := q.Receive(ctx, from, both, 10)
	if err != nil || len(got) == 0 {
		return nil, err
	}
	return got, q.Delete(ctx, from, receipts(got))
}
