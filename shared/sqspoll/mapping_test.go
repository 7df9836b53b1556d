package sqspoll_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/skitterhq/skitter/shared/sqspoll"
	"github.com/skitterhq/skitter/shared/topology"
)

// A function notes what it is invoked with and answers as told.
type function struct {
	mu     sync.Mutex
	began  time.Time
	calls  []call
	now    int // under way
	most   int // of now
	answer func(n int, ids []string) (string, error)
	takes  time.Duration
}

type call struct {
	at   time.Duration // since the beginning
	ids  []string
	size int
}

func (f *function) invoke(ctx context.Context, event []byte) ([]byte, error) {
	var e struct {
		Records []struct {
			MessageID string `json:"messageId"`
		}
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range e.Records {
		ids = append(ids, r.MessageID)
	}
	f.mu.Lock()
	f.calls = append(f.calls, call{time.Since(f.began), ids, len(event)})
	n := len(f.calls)
	f.now++
	f.most = max(f.most, f.now)
	f.mu.Unlock()
	select {
	case <-time.After(f.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	f.mu.Lock()
	f.now--
	f.mu.Unlock()
	if f.answer == nil {
		return nil, nil
	}
	response, err := f.answer(n, ids)
	return []byte(response), err
}

// A world is a mapping that runs in a bubble of package synctest.
type world struct {
	sqs  *fakeSQS
	fn   *function
	m    *sqspoll.Mapping
	log  bytes.Buffer
	stop func()
	done chan error
}

// newWorld makes a mapping; the test changes it and starts it.
func newWorld() *world {
	w := &world{sqs: &fakeSQS{}, fn: &function{began: time.Now()}, done: make(chan error, 1)}
	w.m = &sqspoll.Mapping{Client: w.sqs, Queue: "page", Batch: 10, Concurrency: 100, Invoke: w.fn.invoke}
	w.m.Log = slog.New(slog.NewTextHandler(&w.log, nil))
	return w
}

func (w *world) start() {
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	go func() { w.done <- w.m.Run(ctx) }()
}

// sizes are how many messages the invocations had, the largest first, since
// those that begin at one time have no order.
func (w *world) sizes() []int {
	w.fn.mu.Lock()
	defer w.fn.mu.Unlock()
	var sizes []int
	for _, c := range w.fn.calls {
		sizes = append(sizes, len(c.ids))
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	return sizes
}

// run starts a world, lets it be for a while, stops it and waits for its end.
func (w *world) run(t *testing.T, d time.Duration) {
	t.Helper()
	w.start()
	time.Sleep(d)
	w.stop()
	if err := <-w.done; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func bodies(n int) []string { return slices.Repeat([]string{"x"}, n) }

func TestWithoutAWindowABatchIsWhatAPollGave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.sqs.send(bodies(25)...)
		w.run(t, time.Second)
		if got := w.sizes(); !slices.Equal(got, []int{10, 10, 5}) {
			t.Errorf("batches of %v messages; want 10, 10 and 5", got)
		}
		if left := w.sqs.left(); len(left) != 0 {
			t.Errorf("%v were not deleted", left)
		}
		for i, c := range w.fn.calls {
			if c.at > 0 {
				t.Errorf("call %d after %v; want at once", i, c.at)
			}
		}
		s := w.m.Stats()
		if s.Messages != 25 || s.Deleted != 25 || s.Invocations != 3 || s.Again != 0 || s.UnderWay != 0 || s.Polls != 4 {
			t.Errorf("Stats = %+v", s)
		}
	})
}

func TestABatchIsSmallerThanAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.m.Batch = 1
		w.sqs.send(bodies(3)...)
		w.run(t, time.Second)
		if got := w.sizes(); !slices.Equal(got, []int{1, 1, 1}) || w.sqs.asked[0] != 1 {
			t.Errorf("batches of %v messages, polls for %v; want 1 each", got, w.sqs.asked)
		}
	})
}

func TestAWindowCountsFromTheFirstMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.m.Batch, w.m.Window = 100, 2*time.Second
		w.start()
		time.Sleep(10 * time.Second)
		w.sqs.send(bodies(25)...)
		time.Sleep(1500 * time.Millisecond)
		w.sqs.send("late")
		time.Sleep(10 * time.Second)
		w.stop()
		<-w.done
		if got := w.sizes(); !slices.Equal(got, []int{26}) {
			t.Fatalf("batches of %v messages; want one of 26", got)
		}
		if at := w.fn.calls[0].at; at < 12*time.Second || at > 12*time.Second+100*time.Millisecond {
			t.Errorf("invoked after %v; want 2 s after the first message came at 10 s", at)
		}
		if w.sqs.deletes != 3 {
			t.Errorf("%d calls deleted 26 messages; want 3", w.sqs.deletes)
		}
	})
}

func TestAFullBatchDoesNotWaitForItsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.m.Batch, w.m.Window = 25, 20*time.Second
		w.sqs.send(bodies(60)...)
		w.start()
		time.Sleep(time.Second)
		if got := w.sizes(); !slices.Equal(got, []int{25, 25}) {
			t.Errorf("batches of %v messages at once; want 25 and 25", got)
		}
		w.stop()
		<-w.done
		if want := []int32{10, 10, 5}; !slices.Equal(w.sqs.asked[:3], want) {
			t.Errorf("polls for %v; want %v", w.sqs.asked[:3], want)
		}
		if got := w.sizes(); !slices.Equal(got, []int{25, 25, 10}) || len(w.sqs.left()) != 0 {
			t.Errorf("batches of %v messages; want that the last is invoked at the end", got)
		}
	})
}

func TestAnEventStaysBelow6MB(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.m.Batch, w.m.Window = 100, time.Second
		w.sqs.send(slices.Repeat([]string{strings.Repeat("<", 1<<20)}, 14)...)
		w.sqs.send(strings.Repeat("\x01", 1<<20)) // six bytes each in JSON: too large by itself
		w.run(t, 5*time.Second)
		if got := w.sizes(); !slices.Equal(got, []int{5, 5, 4, 1}) {
			t.Errorf("batches of %v messages of 1 MiB; want 5, 5, 4 and 1", got)
		}
		for _, c := range w.fn.calls {
			if c.size > 6<<20 && len(c.ids) > 1 {
				t.Errorf("an event of %d bytes", c.size)
			}
		}
		if len(w.sqs.left()) != 0 {
			t.Errorf("%v are left", w.sqs.left())
		}
	})
}

func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.m.Concurrency, w.fn.takes = 3, 10*time.Second
		w.sqs.send(bodies(100)...)
		w.start()
		time.Sleep(5 * time.Second)
		if s := w.m.Stats(); s.Messages != 30 || s.UnderWay != 3 {
			t.Errorf("%d messages received with %d invocations under way; want 30 and 3", s.Messages, s.UnderWay)
		}
		time.Sleep(40 * time.Second)
		w.stop()
		<-w.done
		if w.fn.most != 3 || len(w.fn.calls) != 10 {
			t.Errorf("%d invocations, %d at a time; want 10 and 3", len(w.fn.calls), w.fn.most)
		}
	})
}

func TestWhatFailsComesAgainAfterItsVisibility(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.fn.answer = func(n int, _ []string) (string, error) {
			switch n {
			case 1:
				return "", errors.New("panic: nil map")
			case 2:
				return `{"batchItemFailures":[{"itemIdentifier":"m2"}]}`, nil
			}
			return `{"batchItemFailures":[]}`, nil
		}
		w.sqs.send(bodies(3)...)
		w.run(t, 2*time.Minute)
		var got []string
		for _, c := range w.fn.calls {
			got = append(got, fmt.Sprint(c.at.Truncate(time.Second), c.ids))
		}
		want := []string{"0s [m1 m2 m3]", "30s [m1 m2 m3]", "1m0s [m2]"}
		if !slices.Equal(got, want) {
			t.Errorf("invocations %v; want %v", got, want)
		}
		if s := w.m.Stats(); s.Failures != 1 || s.Again != 4 || s.Deleted != 3 {
			t.Errorf("Stats = %+v; want one failure, four redeliveries, three deletes", s)
		}
		if !strings.Contains(w.log.String(), "nil map") {
			t.Errorf("log %q; want the function's error", w.log.String())
		}
	})
}

func TestAThrottledInvocationIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.fn.answer = func(n int, _ []string) (string, error) {
			if n < 4 {
				return "", fmt.Errorf("all are busy: %w", sqspoll.ErrThrottled)
			}
			return "", nil
		}
		w.sqs.send("x")
		w.run(t, 20*time.Second)
		var at []time.Duration
		for _, c := range w.fn.calls {
			at = append(at, c.at)
		}
		if want := []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, 700 * time.Millisecond}; !slices.Equal(at, want) {
			t.Errorf("tries at %v; want %v", at, want)
		}
		if s := w.m.Stats(); s.Invocations != 1 || s.Again != 0 || len(w.sqs.left()) != 0 {
			t.Errorf("Stats = %+v; want one invocation, and no redelivery", s)
		}
	})
}

func TestAThrottledInvocationEndsWithTheVisibility(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.fn.answer = func(int, []string) (string, error) { return "", sqspoll.ErrThrottled }
		w.sqs.send("x")
		w.start()
		time.Sleep(visibility - time.Nanosecond)
		synctest.Wait()
		before := len(w.fn.calls)
		if s := w.m.Stats(); s.Failures != 1 || s.UnderWay != 0 || before < 5 || before > 15 {
			t.Errorf("%d tries, %+v when the message shows again; want that it was given up", before, s)
		}
		w.stop()
		<-w.done
	})
}

func TestAnOutageIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.sqs.set(errors.New("connection refused"))
		w.start()
		time.Sleep(time.Minute) // it does not find the queue
		w.sqs.set(nil)
		time.Sleep(time.Minute)
		w.sqs.set(errors.New("connection refused"))
		before := w.sqs.polls()
		time.Sleep(time.Minute)
		if n := w.sqs.polls() - before; n < 10 || n > 20 {
			t.Errorf("%d polls in a minute of outage; want one about every 5 s", n)
		}
		w.sqs.set(nil)
		w.sqs.send("x")
		time.Sleep(6 * time.Second)
		w.stop()
		<-w.done
		log := w.log.String()
		if n, m := strings.Count(log, "cannot be polled"), strings.Count(log, "polled again"); n != 2 || m != 2 || len(w.sqs.left()) != 0 {
			t.Errorf("log:\n%s\nwant that each of two outages is logged once, and its end", log)
		}
	})
}

func TestRunStopsBeforeTheQueueIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.sqs.set(errors.New("connection refused"))
		w.run(t, 10*time.Second)
	})
}

func TestWhatIsUnderWayIsEndedWhenRunStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.fn.takes, w.m.Wait = 10*time.Second, 5*time.Second
		w.sqs.send(bodies(3)...)
		w.start()
		time.Sleep(time.Second)
		w.stop()
		w.sqs.send(bodies(3)...) // the poll under way gets them
		time.Sleep(time.Second)
		w.sqs.send("too late")
		if err := <-w.done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if took := time.Since(w.fn.began).Round(time.Second); took != 11*time.Second {
			t.Errorf("Run ended after %v; want 11 s, when the second invocation does", took)
		}
		if left := w.sqs.left(); !slices.Equal(left, []string{"m7"}) {
			t.Errorf("%v were not deleted; want m7, for which no poll was", left)
		}
	})
}

func TestWhatWasReceivedIsInvokedWhenRunStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.m.Concurrency, w.fn.takes = 1, 5*time.Second
		w.sqs.send(slices.Repeat([]string{strings.Repeat("\x01", 1<<20)}, 3)...) // each fills an event
		w.run(t, time.Second)
		if got := w.sizes(); !slices.Equal(got, []int{1, 1, 1}) || w.m.Stats().Polls != 1 {
			t.Errorf("batches of %v messages after %d polls; want all three of the one poll", got, w.m.Stats().Polls)
		}
	})
}

func TestAQueueThatDoesNotWaitIsNotPolledAllTheTime(t *testing.T) {
	for wait, want := range map[time.Duration]int{0: 40, 100 * time.Millisecond: 100, 5 * time.Second: 40} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.sqs.hasty = true
			w.m.Wait = wait
			w.run(t, 10*time.Second)
			if n := w.sqs.polls(); n < want-1 || n > want+1 {
				t.Errorf("wait %v: %d polls in 10 s; want %d", wait, n, want)
			}
		})
	}
}

func TestDeletesAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.sqs.onDelete = func(n int, out *sqs.DeleteMessageBatchOutput) {
			switch n {
			case 1: // one fails by SQS's fault, one by its own, one is not named
				out.Failed = []types.BatchResultErrorEntry{
					{Id: new("0"), Code: new("InternalError"), Message: new("busy")},
					{Id: new("1"), Code: new("ReceiptHandleIsInvalid"), Message: new("old"), SenderFault: true},
				}
				out.Successful = out.Successful[3:]
			case 2:
				if len(out.Successful) != 2 {
					t.Errorf("%d entries are tried again; want 2", len(out.Successful))
				}
			}
		}
		w.sqs.send(bodies(5)...)
		w.run(t, 10*time.Second)
		if left := w.sqs.left(); !slices.Equal(left, []string{"m2"}) || w.sqs.deletes != 2 {
			t.Errorf("%v left after %d calls; want m2, which is not tried again", left, w.sqs.deletes)
		}
		if s := w.m.Stats(); s.Deleted != 4 {
			t.Errorf("%d deleted; want 4", s.Deleted)
		}
	})
}

func TestADeleteThatFailsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.sqs.onDelete = func(_ int, out *sqs.DeleteMessageBatchOutput) { out.Successful = nil }
		w.sqs.send("x")
		w.run(t, 10*time.Second)
		if w.sqs.deletes != 5 || !strings.Contains(w.log.String(), "not deleted") {
			t.Errorf("%d tries, log %q; want 5 and a line", w.sqs.deletes, w.log.String())
		}
	})
}

func TestWrongMappings(t *testing.T) {
	good := func() *sqspoll.Mapping {
		return &sqspoll.Mapping{Client: &fakeSQS{}, Queue: "page", Batch: 10, Concurrency: 2, Invoke: (&function{}).invoke}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := good().Run(stopped); err != nil {
		t.Fatalf("Run: %v", err)
	}
	for name, spoil := range map[string]func(*sqspoll.Mapping){
		"no client":           func(m *sqspoll.Mapping) { m.Client = nil },
		"no queue":            func(m *sqspoll.Mapping) { m.Queue = "" },
		"no function":         func(m *sqspoll.Mapping) { m.Invoke = nil },
		"no batch":            func(m *sqspoll.Mapping) { m.Batch = 0 },
		"a batch too large":   func(m *sqspoll.Mapping) { m.Batch, m.Window = 10_001, time.Second },
		"11 without a window": func(m *sqspoll.Mapping) { m.Batch = 11 },
		"a window too long":   func(m *sqspoll.Mapping) { m.Window = 301 * time.Second },
		"no concurrency":      func(m *sqspoll.Mapping) { m.Concurrency = 0 },
		"a wait too long":     func(m *sqspoll.Mapping) { m.Wait = 21 * time.Second },
	} {
		m := good()
		spoil(m)
		if err := m.Run(stopped); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOfTakesWhatTheTopologySays(t *testing.T) {
	stack := topology.Default("crawl")
	for _, f := range stack.Functions {
		for _, source := range f.Sources {
			m := sqspoll.Of(stack, source)
			m.Client, m.Invoke = &fakeSQS{}, (&function{}).invoke
			if want := stack.QueueName(source.Queue); m.Queue != want || m.Batch != source.Batch || m.Window != source.Window || m.Concurrency != source.Concurrency {
				t.Errorf("Of(%+v) has queue %s, batch %d", source, m.Queue, m.Batch)
			}
			stopped, stop := context.WithCancel(t.Context())
			stop()
			if err := m.Run(stopped); err != nil {
				t.Errorf("Run: %v", err)
			}
		}
	}
}
