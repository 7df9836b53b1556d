// Package meter counts what AWS bills: requests, DynamoDB's units, Lambda's
// memory and time. It holds the rules by which a size or a time becomes a
// number of units; what a unit costs is not its business.
package meter

import (
	"maps"
	"sync"
)

// A Unit is what AWS puts a price on.
type Unit string

// The units.
const (
	// SQSRequest is one request of SQS; see [SQSRequests].
	SQSRequest Unit = "sqs_requests"
	// WriteUnit is a write request unit of an on-demand table; see [WriteUnits].
	WriteUnit Unit = "dynamodb_write_units"
	// ReadUnit is a read request unit of an on-demand table; see [ReadUnits].
	ReadUnit Unit = "dynamodb_read_units"
	// S3Put is a request of S3's dear class: PUT, COPY, POST, LIST.
	S3Put Unit = "s3_put_requests"
	// S3Get is a request of S3's cheap class: GET, HEAD and all others but
	// DELETE, which is free.
	S3Get Unit = "s3_get_requests"
	// LambdaRequest is one invocation of a function.
	LambdaRequest Unit = "lambda_requests"
	// LambdaGBSecond is a function's memory times its time; see [GBSeconds].
	LambdaGBSecond Unit = "lambda_gb_s"
)

// Units returns all units, in the order above.
func Units() []Unit {
	return []Unit{SQSRequest, WriteUnit, ReadUnit, S3Put, S3Get, LambdaRequest, LambdaGBSecond}
}

// A Key is what one count is about.
type Key struct {
	// Service is AWS's name of it: "SQS", "DynamoDB", "S3", "Lambda".
	Service string
	// Operation is the API's: "SendMessageBatch".
	Operation string
	Unit      Unit
}

// A Meter adds up units. The zero value has none, a nil Meter counts nothing.
// It is safe for concurrent use.
type Meter struct {
	mu     sync.Mutex
	counts map[Key]float64
}

// Add counts n units, which may be fractions; 0 or less is not counted.
func (m *Meter) Add(service, operation string, unit Unit, n float64) {
	if m == nil || !(n > 0) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts == nil {
		m.counts = map[Key]float64{}
	}
	m.counts[Key{service, operation, unit}] += n
}

// Snapshot returns what was counted. The map is the caller's.
func (m *Meter) Snapshot() map[Key]float64 {
	if m == nil {
		return map[Key]float64{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts == nil {
		return map[Key]float64{}
	}
	return maps.Clone(m.counts)
}

// Take returns what was counted since the last Take, and begins anew: every
// unit is returned once.
func (m *Meter) Take() map[Key]float64 {
	if m == nil {
		return map[Key]float64{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.counts
	m.counts = nil
	if taken == nil {
		taken = map[Key]float64{}
	}
	return taken
}

// Totals adds up counts by unit.
func Totals(counts map[Key]float64) map[Unit]float64 {
	totals := map[Unit]float64{}
	for k, n := range counts {
		totals[k.Unit] += n
	}
	return totals
}
