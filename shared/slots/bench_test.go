package slots_test

import (
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/slots"
)

// A turn taken and given back, over rows in memory: alone, and by many who wait
// for one another and share their writes.
func BenchmarkTurn(b *testing.B) {
	ask := slots.Ask{Policy: slots.Policy{Concurrency: 8}, Until: time.Now().Add(time.Hour)}
	turn := func(b *testing.B, s *slots.Slots) {
		t, err := s.Acquire(b.Context(), "host", ask)
		if err != nil {
			b.Error(err)
			return
		}
		if err := s.Release(b.Context(), t); err != nil {
			b.Error(err)
		}
	}
	config := slots.Config{Slack: 50 * ms, Wait: time.Minute, Now: time.Now, Sleep: sleep}
	b.Run("alone", func(b *testing.B) {
		store := newRows()
		s := slots.New(store, config)
		for b.Loop() {
			turn(b, s)
		}
		b.ReportMetric(float64(store.swaps)/float64(b.N), "writes/op")
		b.ReportMetric(float64(store.gets)/float64(b.N), "reads/op")
	})
	b.Run("many", func(b *testing.B) {
		store := newRows()
		s := slots.New(store, config)
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				turn(b, s)
			}
		})
		b.ReportMetric(float64(store.swaps)/float64(b.N), "writes/op")
		b.ReportMetric(float64(store.gets)/float64(b.N), "reads/op")
	})
}
