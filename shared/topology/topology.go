// Package topology tells what a stack in the cloud consists of: every queue,
// table, index, bucket, function and variable, with its name, sizes and times,
// once. Package infra deploys it, aws/provision creates it at an emulator, the
// adapters and the functions read it; nobody else writes a queue's name or a
// time-out.
//
// It uses the standard library alone, so that whoever needs a name needs
// nothing else.
package topology

import (
	"fmt"
	"time"
)

// A Stack is everything that a crawler consists of.
type Stack struct {
	// Name begins the name of every resource: 1 to 32 lower-case letters,
	// digits and hyphens.
	Name string
	// Bucket is the name of the bucket; empty means the stack's own, which
	// is [Stack.BucketName]. Names of buckets are unique in the world, so a
	// deployed stack has its account in it.
	Bucket string

	Queues    []Queue
	Tables    []Table
	Functions []Function
	Prefixes  []Prefix
	Times     Times

	scale float64
}

// Times are those that belong to no single resource.
type Times struct {
	// Delay is the longest time that a message is held back: 900 s.
	// Source: SQS API Reference, SendMessage, DelaySeconds.
	Delay time.Duration
	// Quiet is the longest time that a message can hide without moving a
	// counter: the longest delay and the longest visibility time-out, one
	// after the other.
	Quiet time.Duration
	// Sweep is how often control looks after the jobs: each minute, the
	// shortest that EventBridge Scheduler knows. Source: EventBridge
	// Scheduler User Guide, "Schedule types".
	Sweep time.Duration
	// Download is the longest that one download may take, whatever
	// DOWNLOAD_TIMEOUT says: half of what an invocation of fetch works for,
	// so that one which begins late in it can still end as a time-out.
	Download time.Duration
	// Looks is how far apart looks are whether a job is finished: long enough
	// that the last invocations of a job, which all ask for one, share it.
	Looks time.Duration
	// Still is how long a job that is to end early must not have moved
	// before it is closed with what it has.
	Still time.Duration
	// Linger is how long a finished download waits for others of its batch to
	// be sent on with it, since ten messages cost what one does. Nothing is
	// paid for waiting, as the invocation waits for the others in any case.
	Linger time.Duration
	// Gather is how long a turn that is given back waits for others to be
	// given back in the same write.
	Gather time.Duration
	// LongestJob is the longest that a job may last, whatever JOB_MAX_DAYS
	// says: what it has put into the bucket is deleted by age.
	LongestJob time.Duration
	// Retention is for how long rows and blobs are kept after a job's latest
	// end.
	Retention time.Duration
}

// The stages, each a function.
const (
	Control  = "control"
	Fetch    = "fetch"
	Parse    = "parse"
	Pipeline = "pipeline"
)

// The queues. Their names are those of package queue.
const (
	QueueControl     = "control"
	QueueRequestHigh = "request-high"
	QueueRequest     = "request"
	QueueRequestLow  = "request-low"
	QueuePage        = "page"
	QueueItem        = "item"
	// QueueDead takes what the others give up on.
	QueueDead = "dead"
)

// Default is the stack as it is deployed.
func Default(name string) Stack {
	s := Stack{
		Name:      name,
		scale:     1,
		Functions: functions(),
		Tables:    tables(),
		Prefixes:  prefixes(),
		Times: Times{
			Delay:      15 * time.Minute,
			Sweep:      time.Minute,
			Still:      time.Minute,
			Looks:      2 * time.Second,
			Linger:     200 * time.Millisecond,
			Gather:     20 * time.Millisecond,
			LongestJob: longestJob,
			Retention:  retention,
		},
	}
	s.Queues = queues(s.Functions)
	s.derive()
	return s
}

const (
	day        = 24 * time.Hour
	longestJob = 90 * day
	retention  = 30 * day
)

// derive fills in the times that follow from others.
func (s *Stack) derive() {
	var longest time.Duration
	for _, q := range s.Queues {
		longest = max(longest, q.Visibility)
	}
	s.Times.Quiet = s.Times.Delay + longest
	s.Times.Download = s.Function(Fetch).Work() / 2
}

// MaxScale is the most that the times of a stack can be divided by: then an
// invocation of fetch has a quarter of a second.
const MaxScale = 300

// Scaled divides every time of a stack but those of days, so that a test at an
// emulator need not wait for what takes minutes in the cloud. Times that SQS
// takes in whole seconds are rounded up to one.
func (s Stack) Scaled(by float64) Stack {
	shorter := func(d time.Duration) time.Duration { return time.Duration(float64(d) / by) }
	seconds := func(d time.Duration) time.Duration {
		if d == 0 {
			return 0
		}
		return (shorter(d) + time.Second - 1).Truncate(time.Second)
	}
	out := s
	out.scale = s.scale * by
	out.Queues = append([]Queue(nil), s.Queues...)
	for i := range out.Queues {
		out.Queues[i].Visibility = seconds(s.Queues[i].Visibility)
	}
	out.Functions = append([]Function(nil), s.Functions...)
	for i, f := range s.Functions {
		g := &out.Functions[i]
		g.Timeout, g.Reserve, g.Margin = shorter(f.Timeout), shorter(f.Reserve), shorter(f.Margin)
		g.Sources = append([]Source(nil), f.Sources...)
		for k := range g.Sources {
			g.Sources[k].Window = shorter(f.Sources[k].Window)
		}
	}
	out.Times.Delay = seconds(s.Times.Delay)
	out.Times.Sweep = shorter(s.Times.Sweep)
	out.Times.Looks = shorter(s.Times.Looks)
	out.Times.Still = shorter(s.Times.Still)
	out.Times.Linger = shorter(s.Times.Linger)
	out.Times.Gather = shorter(s.Times.Gather)
	out.derive()
	return out
}

// Function returns the function of a stage. An unknown name is a mistake of
// the program.
func (s Stack) Function(name string) Function {
	for _, f := range s.Functions {
		if f.Name == name {
			return f
		}
	}
	panic(fmt.Sprintf("topology: no function %q", name))
}

// Queue returns a queue by its name within the stack. An unknown name is a
// mistake of the program.
func (s Stack) Queue(name string) Queue {
	for _, q := range s.Queues {
		if q.Name == name {
			return q
		}
	}
	panic(fmt.Sprintf("topology: no queue %q", name))
}

// QueueName is the name that a queue has in its account.
func (s Stack) QueueName(name string) string { return s.Name + "-" + s.Queue(name).Name }

// FunctionName is the name that a function has in its account.
func (s Stack) FunctionName(name string) string { return s.Name + "-" + s.Function(name).Name }

// TableName is the name that a table has in its account.
func (s Stack) TableName(name string) string { return s.Name + "-" + name }

// BucketName is the name of the stack's bucket.
func (s Stack) BucketName() string {
	if s.Bucket != "" {
		return s.Bucket
	}
	return s.Name + "-data"
}
