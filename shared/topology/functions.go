package topology

import "time"

// A Function is one Lambda function.
type Function struct {
	// Name is the stage's.
	Name string
	// Memory is in MB; a function has one virtual CPU at 1,769. Source: AWS
	// Lambda Developer Guide, "Configure Lambda function memory".
	Memory int
	// Timeout is when Lambda stops an invocation.
	Timeout time.Duration
	// Reserve is how long before that the work is ended, so that what is
	// done can still be sent on.
	Reserve time.Duration
	// Margin is how long before the work's end no more is taken on: longer
	// than handing on what has come together takes at worst.
	Margin time.Duration
	// Sources are the queues that it takes messages from.
	Sources []Source
}

// Work is for how long an invocation works.
func (f Function) Work() time.Duration { return f.Timeout - f.Reserve }

// Concurrency is how many environments the function has at most: those of
// its sources together, and spare ones for what is not a queue. The spare
// ones keep a delivery from being throttled, which would count as a receive.
func (f Function) Concurrency() int {
	sum := spare
	for _, s := range f.Sources {
		sum += s.Concurrency
	}
	return sum
}

// spare is how many environments a function has beside those of its queues:
// the sweep, the function URL and events have some.
const spare = 5

// A Source is one event source mapping: a queue that feeds a function.
type Source struct {
	Queue string
	// Batch is how many messages one invocation gets at most; more than 10
	// need a window. Source: AWS Lambda Developer Guide, "Using Lambda with
	// Amazon SQS".
	Batch int
	// Window is how long a batch is waited for.
	Window time.Duration
	// Concurrency is how many invocations there are at one time, 2 to 1,000
	// (MaximumConcurrency). Source: AWS Lambda Developer Guide, "Configuring
	// maximum concurrency for Amazon SQS event sources".
	Concurrency int
}

func functions() []Function {
	return []Function{
		{
			// It reads starts, looks at all rows of a job and writes feeds,
			// which takes longer than anything else, and is rare.
			Name: Control, Memory: 1024, Timeout: 5 * time.Minute, Reserve: 15 * time.Second, Margin: 15 * time.Second,
			Sources: []Source{
				{Queue: QueueControl, Batch: 1, Concurrency: 20},
				{Queue: QueueDead, Batch: 10, Concurrency: 2},
			},
		},
		{
			// Downloads wait more than they compute: sixteen of 32 MiB each
			// (DOWNLOAD_MAXSIZE) are the most that are in memory.
			Name: Fetch, Memory: 1024, Timeout: 75 * time.Second, Reserve: 15 * time.Second, Margin: 5 * time.Second,
			Sources: []Source{
				{Queue: QueueRequestHigh, Batch: 10, Concurrency: 100},
				{Queue: QueueRequest, Batch: 10, Concurrency: 200},
				{Queue: QueueRequestLow, Batch: 10, Concurrency: 50},
			},
		},
		{
			// A whole virtual CPU: reading HTML computes and does not wait.
			Name: Parse, Memory: 1769, Timeout: time.Minute, Reserve: 5 * time.Second, Margin: 10 * time.Second,
			Sources: []Source{{Queue: QueuePage, Batch: 10, Concurrency: 200}},
		},
		{
			Name: Pipeline, Memory: 512, Timeout: time.Minute, Reserve: 5 * time.Second, Margin: 10 * time.Second,
			Sources: []Source{{Queue: QueueItem, Batch: 100, Window: 2 * time.Second, Concurrency: 50}},
		},
	}
}
