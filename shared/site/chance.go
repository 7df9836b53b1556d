package site

import (
	"math/bits"
	"math/rand/v2"
)

// The streams of random numbers, so that no two questions share their answers.
const (
	pageStream = iota + 1
	failStream
	textStream
)

const (
	relatedLinks = 30 // a page, doubles and the page itself among them

	// children is how many of a page's related links may lead down the heap.
	children = 4
)

// newRandom returns the numbers of one stream for product n: always the same.
func newRandom(n int, stream uint64) *rand.PCG {
	return rand.NewPCG(uint64(n), stream)
}

// below returns a number from 0 to k-1. It is rand.Rand's IntN without its
// interface call and its second draw, as a bias of k in 2^64 does no harm here.
func below(r *rand.PCG, k int) int {
	high, _ := bits.Mul64(r.Uint64(), uint64(k))
	return int(high)
}

// pick fills into up to its capacity with different elements of from, whose
// length must be a power of two: an odd step then meets each of them once.
func pick(r *rand.PCG, from, into []string) []string {
	at, step := below(r, len(from)), below(r, len(from))|1
	for range cap(into) {
		into = append(into, from[at&(len(from)-1)])
		at += step
	}
	return into
}

// related returns where the k-th related link of product n leads. The first
// links lead to the children of n in a heap whose root is product 0, so every
// product has a path to it, of a length that grows with the logarithm of
// pages. The others lead anywhere.
func related(r *rand.PCG, n, k, pages int) int {
	if child := children*n + k + 1; k < children && child < pages {
		return child
	}
	return below(r, pages)
}

// failsFirst reports whether product n is one of the share that fails.
func failsFirst(n int, share float64) bool {
	if share == 0 {
		return false
	}
	const bit53 = 1 << 53 // as many as a float64 holds
	return float64(newRandom(n, failStream).Uint64()>>11)/bit53 < share
}
