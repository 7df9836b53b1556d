package topology

import "time"

const (
	// MaxMessage is the longest message in bytes, and the longest batch:
	// 1 MiB. Source: SQS Developer Guide, "Quotas, messages".
	MaxMessage = 1 << 20
	// MaxBatch is how many messages one call sends or deletes: 10. Source:
	// SQS Developer Guide, "Quotas, messages".
	MaxBatch = 10
	// BilledStep is the size in bytes for which one request is billed; what
	// is longer costs another one. Source: Amazon SQS pricing.
	BilledStep = 64 << 10
	// InlineBody is the longest packed body in bytes that travels in its
	// page message: ten such messages, with their headers, are sent in four
	// billed steps, which is cheaper than ten objects by far.
	InlineBody = 24 << 10
)

// A Queue is one SQS queue.
type Queue struct {
	// Name is that within the stack.
	Name string
	// Visibility is for how long a received message is hidden: at least six
	// times the time-out of the function that takes it, and its window.
	// Source: AWS Lambda Developer Guide, "Using Lambda with Amazon SQS".
	Visibility time.Duration
	// Retention is for how long a message is kept, counted from when it was
	// first sent, in the dead-letter queue too. So that one is the longest.
	// Source: SQS Developer Guide, "Dead-letter queues".
	Retention time.Duration
	// MaxReceives is after how many deliveries a message goes to the
	// dead-letter queue; 0 in that queue itself. Source: AWS Lambda
	// Developer Guide, "Using Lambda with Amazon SQS", wants at least 5.
	MaxReceives int
}

// visibilityFactor is by how much a message is hidden for longer than the
// function may take. Source: as for Queue.Visibility.
const visibilityFactor = 6

// queues gives each function's sources their queues.
func queues(functions []Function) []Queue {
	var list []Queue
	for _, f := range functions {
		for _, src := range f.Sources {
			q := Queue{
				Name:       src.Queue,
				Visibility: visibilityFactor*f.Timeout + src.Window,
				// Work that waits longer than this is made again from the rows.
				Retention:   4 * day,
				MaxReceives: 5,
			}
			if src.Queue == QueueDead {
				// 14 days is the longest that SQS keeps a message. Source:
				// SQS Developer Guide, "Quotas, messages".
				q.Retention, q.MaxReceives = 14*day, 0
			}
			list = append(list, q)
		}
	}
	return list
}
