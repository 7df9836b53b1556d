// Package memory serves every port from maps: the fakes that all other tests
// use, and the plainest statement of what the ports mean.
//
// Each call is atomic by itself, and no two calls are: there is no transaction
// over ports, so that whoever crashes between two calls finds what a crash on
// AWS would leave. Nothing outlives the process; package local keeps things.
//
// Every type is safe for concurrent use. Nothing waits, so a call looks at its
// context once, at its start. Where a constructor takes a clock, nil is
// [time.Now].
package memory

import (
	"slices"
	"time"
)

func orNow(clock func() time.Time) func() time.Time {
	if clock == nil {
		return time.Now
	}
	return clock
}

// insert puts v into a slice that is sorted by compare, which holds none that
// compares equal.
func insert[V any](sorted []V, v V, compare func(a, b V) int) []V {
	i, _ := slices.BinarySearchFunc(sorted, v, compare)
	return slices.Insert(sorted, i, v)
}

// clone copies bytes; nil for none.
func clone(b []byte) []byte { return append([]byte(nil), b...) }
