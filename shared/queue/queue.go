// Package queue is the port to the message queues: what the stages talk
// through. SQS serves it in the cloud, SQLite on one machine.
//
// It carries bytes: what a message says is the business of package message,
// and what becomes of it that of package engine. A queue is only a hint
// (messages may be lost, doubled, late or out of order); the rows of package
// frontier are the truth.
package queue

import (
	"context"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
)

// MaxDelay is the longest that a message may be held back: 900 s.
// Source: SQS API Reference, SendMessage, DelaySeconds.
const MaxDelay = 15 * time.Minute

// A Name names one queue of a stack.
type Name string

// The queues. Requests have three, since SQS knows no priorities: a lane is a
// share, not a rank.
const (
	Control     Name = "control"
	RequestHigh Name = "request-high"
	Request     Name = "request"
	RequestLow  Name = "request-low"
	Page        Name = "page"
	Item        Name = "item"

	// Dead takes what the others give up on, where the family moves it there
	// by itself.
	Dead Name = "dead"
)

// A Message is what is sent.
type Message struct {
	// Job is the job that the message belongs to: a queue is fair between
	// jobs (SQS message group), and one may receive one job's alone.
	Job crawl.JobUID
	// Body is what travels: UTF-8 text, as SQS wants it.
	Body []byte
	// Delay is the least time before it is delivered. More than [MaxDelay]
	// is cut to it, less than zero is zero.
	Delay time.Duration
}

// A Delivery is a message as it was received.
type Delivery struct {
	// ID names the message; a second delivery of it has the same one.
	ID   string
	Job  crawl.JobUID
	Body []byte
	// Receives counts its deliveries, this one included; 1 at first. It may
	// count deliveries that reached nobody.
	Receives int
	// Receipt is what Delete and Return want. It is of this delivery only,
	// and each of them spends it.
	Receipt string
}

// A Sender puts messages on queues. It is safe for concurrent use.
type Sender interface {
	// Send delivers every message at least once, in any order, not before
	// its delay has passed. It splits long slices as the service demands.
	// When it returns nil every message will be delivered, whatever becomes
	// of this process. On an error some may have been sent; sending all of
	// them again is safe, because a duplicate is harmless everywhere.
	Send(ctx context.Context, to Name, msgs []Message) error
}

// A Receiver takes messages from queues. It is safe for concurrent use.
type Receiver interface {
	// Receive takes up to max messages that are due, hiding each from other
	// receivers for the visibility time-out of its family, or until its
	// process is gone where the family can tell. It returns at once, with
	// none if none is due. Where job is not empty it takes that job's alone.
	Receive(ctx context.Context, from Name, job crawl.JobUID, max int) ([]Delivery, error)

	// Delete removes messages that were received. One that is gone, or was
	// delivered again since, is passed over.
	Delete(ctx context.Context, from Name, receipts []string) error

	// Return makes messages that were received due again after a delay,
	// without waiting for their visibility time-out. It passes over what
	// Delete would.
	Return(ctx context.Context, from Name, receipts []string, delay time.Duration) error
}

// A Census tells whether anything of a job is still under way. Only a family
// that knows exactly implements it (SQS's counts are approximate, so aws does
// not).
type Census interface {
	// Outstanding counts the job's messages on some queues, or on all where
	// none is named: due, delayed and received but not deleted.
	Outstanding(ctx context.Context, job crawl.JobUID, from ...Name) (int, error)

	// Discard removes the job's messages of one queue that no receiver
	// holds, due or delayed, and returns how many. What is held stays, and
	// can be deleted or returned as before. Since the rows are the truth and
	// every message can be made again from them, the requests of a job that
	// was stopped can be thrown away.
	Discard(ctx context.Context, from Name, job crawl.JobUID) (int, error)
}

// A Bell rings when messages may have become due, so that a poller on the same
// machine need not wait for its next turn. A family without one is polled.
type Bell interface {
	// Wait returns a channel that is closed at the next Send or Return to
	// the queue by this process, and may be closed at other times. So take
	// the channel, Receive, and wait only if there was nothing.
	Wait(from Name) <-chan struct{}
	// NextDue is when the earliest message that is not held becomes due,
	// zero if there is none. Where job is not empty, of that job alone.
	NextDue(ctx context.Context, from Name, job crawl.JobUID) (time.Time, error)
}

// Lane is the request queue for a priority: the sign decides.
func Lane(priority int) Name {
	switch {
	case priority > 0:
		return RequestHigh
	case priority < 0:
		return RequestLow
	default:
		return Request
	}
}

// Requests lists the request queues, best first.
func Requests() []Name { return []Name{RequestHigh, Request, RequestLow} }
