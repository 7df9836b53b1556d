//go:build unix

package local_test

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/local"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/slotrows"
)

// The benchmarks report the processor's time, of all threads and of the
// system for them, because that is what a crawl has to share with its pages;
// ns/op is mostly waiting for the disk. Each runs alone and from eight
// goroutines, which share commits.

// cpu is the processor's time that this process has used.
func cpu() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// measure runs one operation again and again, and reports the processor's time
// of one.
func measure(b *testing.B, do func(ctx context.Context, s *local.Store, n int64) error) {
	for _, goroutines := range []int{1, 8} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			s := open(b, b.TempDir(), local.Options{})
			var n atomic.Int64
			b.SetParallelism(goroutines)
			if goroutines == 1 {
				b.SetParallelism(1)
			}
			begin := cpu()
			b.ResetTimer()
			if goroutines == 1 {
				for b.Loop() {
					if err := do(b.Context(), s, n.Add(1)); err != nil {
						b.Fatal(err)
					}
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := do(b.Context(), s, n.Add(1)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			b.ReportMetric(float64((cpu()-begin).Microseconds())/float64(n.Load()), "cpu-µs/op")
		})
	}
}

// request is what package scheduler packs, about.
var request = bytes.Repeat([]byte("r"), 300)

func unitOf(n int64) crawl.UnitID { return crawl.RepeatUnit(crawl.StartUnit, [20]byte{}, int(n)) }

func ten(body []byte) []queue.Message {
	msgs := make([]queue.Message, 10)
	for i := range msgs {
		msgs[i] = queue.Message{Job: job, Body: body}
	}
	return msgs
}

// take receives and deletes ten messages, or as many as there are.
func take(ctx context.Context, s *local.Store, from queue.Name) error {
	got, err := s.Queue().Receive(ctx, from, job, 10)
	if err != nil {
		return err
	}
	var receipts []string
	for _, d := range got {
		receipts = append(receipts, d.Receipt)
	}
	return s.Queue().Delete(ctx, from, receipts)
}

func BenchmarkSendReceiveDelete10(b *testing.B) {
	measure(b, func(ctx context.Context, s *local.Store, _ int64) error {
		if err := s.Queue().Send(ctx, queue.Request, ten(request)); err != nil {
			return err
		}
		return take(ctx, s, queue.Request)
	})
}

// putAndSettle puts ten new units and settles ten that are there.
func putAndSettle(ctx context.Context, s *local.Store, n int64) error {
	rows := make([]frontier.Row, 10)
	closed := make([]frontier.Settlement, 10)
	for i := range rows {
		u := unitOf(10*n + int64(i))
		rows[i] = frontier.Row{Unit: u, By: crawl.StartUnit, State: frontier.Queued, Depth: 2, Req: request}
		closed[i] = frontier.Settlement{Unit: u, State: frontier.Done, Outcome: frontier.Outcome{Run: "0123456789abcdef", Items: 1}}
	}
	if _, err := s.Frontier().Put(ctx, job, rows); err != nil {
		return err
	}
	_, err := s.Frontier().Settle(ctx, job, closed)
	return err
}

func BenchmarkPutSettle10(b *testing.B) { measure(b, putAndSettle) }

func BenchmarkFrontierGet10(b *testing.B) {
	measure(b, func(ctx context.Context, s *local.Store, n int64) error {
		units := make([]crawl.UnitID, 10)
		for i := range units {
			units[i] = unitOf(int64(i))
		}
		if n == 1 {
			if err := putAndSettle(ctx, s, 0); err != nil {
				return err
			}
		}
		_, err := s.Frontier().Get(ctx, job, units, frontier.Eventual)
		return err
	})
}

func item(b *testing.B) crawl.Item {
	it, err := crawl.NewItem(map[string]string{"title": "A Light in the Attic", "text": string(request)})
	if err != nil {
		b.Fatal(err)
	}
	return it
}

func BenchmarkItemsPut10(b *testing.B) {
	it := item(b)
	measure(b, func(ctx context.Context, s *local.Store, n int64) error {
		rows := make([]items.Row, 10)
		for i := range rows {
			rows[i] = items.Row{Key: items.Key{Unit: unitOf(10*n + int64(i)), Run: "0123456789abcdef"}, State: items.Stored, Item: it}
		}
		return s.Items().Put(ctx, job, rows)
	})
}

// turn takes or gives back a turn at one of a hundred slots with eight permits
// out.
func turn(ctx context.Context, s *local.Store, n int64) error {
	slot := fmt.Sprintf("host-%d.example", n%100)
	row, err := s.SlotRows().Get(ctx, slot)
	if err != nil {
		return err
	}
	row.Gate = time.Now()
	row.Leases = nil
	for i := range 8 {
		row.Leases = append(row.Leases, slotrows.Lease{ID: fmt.Sprintf("%016d", i), Until: row.Gate})
	}
	_, err = s.SlotRows().Swap(ctx, slot, row)
	return err
}

func BenchmarkSlotGetSwap(b *testing.B) { measure(b, turn) }

func BenchmarkCountersAdd(b *testing.B) {
	delta := jobs.Counts{}
	for i := range 12 {
		delta[fmt.Sprintf("downloader/response_status_count/%d", i)] = 1
	}
	measure(b, func(ctx context.Context, s *local.Store, n int64) error {
		stages := []jobs.Stage{jobs.Fetch, jobs.Parse, jobs.Pipeline}
		_, err := s.Jobs().Add(ctx, job, stages[n%3], delta)
		return err
	})
}

func BenchmarkEmptyReceive(b *testing.B) {
	measure(b, func(ctx context.Context, s *local.Store, _ int64) error { return take(ctx, s, queue.Control) })
}

// BenchmarkTenPages does all that ten pages of a crawl ask of the ports: a
// batch of ten requests, pages and items, twenty links a page of which one is
// new, a turn taken and given back for each page.
func BenchmarkTenPages(b *testing.B) {
	it := item(b)
	page := bytes.Repeat([]byte("p"), 6_000)
	measure(b, func(ctx context.Context, s *local.Store, n int64) error {
		q := s.Queue()
		if err := q.Send(ctx, queue.Request, ten(request)); err != nil {
			return err
		}
		for i := range int64(20) {
			if err := turn(ctx, s, 10*n+i/2); err != nil {
				return err
			}
		}
		if err := q.Send(ctx, queue.Page, ten(page)); err != nil {
			return err
		}
		if err := take(ctx, s, queue.Request); err != nil {
			return err
		}
		rows := make([]items.Row, 10)
		for i := range rows {
			u := unitOf(10*n + int64(i))
			links := make([]crawl.UnitID, 20)
			for l := range links {
				links[l] = unitOf(max(10*n+int64(i-l), 0))
			}
			if _, err := s.Frontier().Get(ctx, job, links, frontier.Eventual); err != nil {
				return err
			}
			row := frontier.Row{Unit: u, By: crawl.StartUnit, State: frontier.Queued, Depth: 2, Req: request}
			if _, err := s.Frontier().Put(ctx, job, []frontier.Row{row}); err != nil {
				return err
			}
			closed := frontier.Settlement{Unit: u, State: frontier.Done, Outcome: frontier.Outcome{Run: "0123456789abcdef", Items: 1}}
			if _, err := s.Frontier().Settle(ctx, job, []frontier.Settlement{closed}); err != nil {
				return err
			}
			rows[i] = items.Row{Key: items.Key{Unit: u, Run: "0123456789abcdef"}, State: items.Stored, Item: it}
		}
		if err := q.Send(ctx, queue.Item, ten(request)); err != nil {
			return err
		}
		if err := take(ctx, s, queue.Page); err != nil {
			return err
		}
		if err := s.Items().Put(ctx, job, rows); err != nil {
			return err
		}
		for _, stage := range []jobs.Stage{jobs.Fetch, jobs.Parse, jobs.Pipeline} {
			if _, err := s.Jobs().Add(ctx, job, stage, jobs.Counts{"a": 1, "b": 1, "c": 1, "d": 1}); err != nil {
				return err
			}
		}
		return take(ctx, s, queue.Item)
	})
}
