package queuetest

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skitterhq/skitter/shared/queue"
)

// testReceiversShare lets many receivers take all that is there.
func testReceiversShare(t *testing.T, h Harness) {
	const n = 100
	h.send(t, queue.Request, messages(jobA, "m", n)...)

	var mu sync.Mutex
	times := map[string]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for empty := 0; empty < h.patience(); {
				got, err := h.Queue.Receive(t.Context(), queue.Request, both, 3)
				if err != nil {
					t.Errorf("receive: %v", err)
					return
				}
				if len(got) == 0 {
					empty++
				}
				mu.Lock()
				for _, d := range got {
					times[string(d.Body)]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()

	if len(times) != n {
		t.Errorf("%d of %d messages were received", len(times), n)
	}
	for body, n := range times {
		if n != 1 && h.Exact {
			t.Errorf("%s was received %d times at once", body, n)
		}
	}
}

// testAtOnce sends, receives and deletes at once until all is gone.
func testAtOnce(t *testing.T, h Harness) {
	const senders, receivers, each = 4, 4, 50
	var sent, received sync.WaitGroup
	var left atomic.Int32 // senders that still send
	left.Store(senders)
	for s := range senders {
		sent.Go(func() {
			defer left.Add(-1)
			for i := 0; i < each; i += 5 {
				msgs := messages(jobA, fmt.Sprintf("s%d-%d", s, i), 5)
				if err := h.Queue.Send(t.Context(), queue.Page, msgs); err != nil {
					t.Errorf("send: %v", err)
				}
			}
		})
	}

	var mu sync.Mutex
	times := map[string]int{}
	for range receivers {
		received.Go(func() {
			for empty := 0; empty < h.patience(); runtime.Gosched() {
				last := left.Load() == 0
				got, err := receiveAndDelete(t.Context(), h.Queue, queue.Page)
				if err != nil {
					t.Errorf("receive and delete: %v", err)
					return
				}
				if last && len(got) == 0 {
					empty++
				}
				mu.Lock()
				for _, d := range got {
					times[string(d.Body)]++
				}
				mu.Unlock()
			}
		})
	}
	sent.Wait()
	received.Wait()

	if len(times) != senders*each {
		t.Errorf("%d of %d messages were received", len(times), senders*each)
	}
	for body, n := range times {
		if n != 1 && h.Exact {
			t.Errorf("%s was received %d times", body, n)
		}
	}
	h.Advance(h.Visibility)
	h.none(t, queue.Page, both)
}
