package meter

import (
	"time"

	"github.com/skitterhq/skitter/shared/topology"
)

const (
	// writeStep and readStep are the bytes that one unit writes and reads: 1
	// KB and 4 KB, of 1,024. Source: Amazon DynamoDB Developer Guide,
	// "Read and write operations".
	writeStep = 1 << 10
	readStep  = 4 << 10
)

// SQSRequests is how many requests an action is billed as, with its payload in
// bytes, all messages of a batch together: one for each 64 KB begun, and one
// without any. Source: Amazon SQS pricing, "How are Amazon SQS requests priced".
func SQSRequests(bytes int) float64 { return float64(steps(bytes, topology.BilledStep)) }

// WriteUnits is what writing one item of that size in bytes costs, the larger
// of the item before and after: one for each KB begun, and at least one, when
// the condition fails too. In a transaction it costs twice as much. Source:
// Amazon DynamoDB Developer Guide, "Write operation consumption".
func WriteUnits(bytes int) float64 { return float64(steps(bytes, writeStep)) }

// ReadUnits is what reading costs: one for each 4 KB begun, at least one, half
// if the read is not consistent. Each item of a GetItem or BatchGetItem counts
// by itself, one that is not there too; the items that a Query or Scan has read
// count together, before any filter. In a transaction it costs twice as much.
// Source: Amazon DynamoDB Developer Guide, "Read operation consumption".
func ReadUnits(bytes int, consistent bool) float64 {
	units := float64(steps(bytes, readStep))
	if !consistent {
		units /= 2
	}
	return units
}

// GBSeconds is what a function of that memory in MB, of which 1,024 are a GB,
// is billed for a run: its time is rounded up to the next millisecond. Source:
// AWS Lambda pricing, "Duration".
func GBSeconds(memory int, run time.Duration) float64 {
	if memory <= 0 || run <= 0 {
		return 0
	}
	ms := (run + time.Millisecond - 1) / time.Millisecond
	return float64(memory) / 1024 * float64(ms) / 1000
}

// steps is how many steps bytes has begun, at least one.
func steps(bytes, step int) int { return max(1, (bytes+step-1)/step) }
