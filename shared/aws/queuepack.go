package aws

import "github.com/skitterhq/skitter/shared/topology"

// A packing is the cheapest way found to send the messages up to some one.
type packing struct {
	steps, batches int
	from           int // where its last batch begins
}

func (p packing) better(than packing) bool {
	return p.steps < than.steps || p.steps == than.steps && p.batches < than.batches
}

// pack cuts messages of some sizes in bytes into batches that SQS takes, none
// longer than limit. It keeps their order, and of all ways to cut them it
// takes one that is billed least, and of those one with the fewest batches: a
// batch that ends just above a billed step costs as much as two.
//
// A message that is longer than limit is a batch of its own.
func pack(sizes []int, limit int) []span {
	best := make([]packing, len(sizes)+1)
	for to := 1; to <= len(sizes); to++ {
		sum := 0
		for from := to - 1; from >= 0 && to-from <= topology.MaxBatch; from-- {
			sum += sizes[from]
			if sum > limit && to-from > 1 {
				break
			}
			p := packing{best[from].steps + billedSteps(sum), best[from].batches + 1, from}
			if best[to].batches == 0 || p.better(best[to]) {
				best[to] = p
			}
		}
	}
	spans := make([]span, best[len(sizes)].batches)
	for to := len(sizes); to > 0; to = best[to].from {
		spans[best[to].batches-1] = span{best[to].from, to}
	}
	return spans
}

// billedSteps is how many requests a call of so many bytes is billed as.
func billedSteps(bytes int) int {
	return max(1, (bytes+topology.BilledStep-1)/topology.BilledStep)
}
