// Package message is what travels on the queues: an envelope whose first line
// is a small header, and whose rest is the payload of its kind.
//
// The header can be read without the payload, so that a dead letter is told
// apart and accounted for even when its payload kills whoever reads it.
package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
)

// Version is the format that this build writes, oldest the oldest that it
// reads. Raise Version first, and oldest only once every queue has drained
// past it.
const (
	Version = 1
	oldest  = 1
)

// maxJob is the longest UID of a job in bytes, more than any has: it is part of
// keys.
const maxJob = 128

// A Kind says what a message asks for.
type Kind string

// The kinds, one a queue.
const (
	KindRequest Kind = "request"
	KindPage    Kind = "page"
	KindItem    Kind = "item"
	KindControl Kind = "control"
)

// A Header is the first line of a message.
type Header struct {
	Version int          `json:"v"`
	Kind    Kind         `json:"kind"`
	Job     crawl.JobUID `json:"job"`
	// Unit is the unit of work that the message belongs to; the start's for
	// control messages that are about none.
	Unit crawl.UnitID `json:"unit"`
	// Run and Ordinal name the item of an item message.
	Run     crawl.RunID `json:"run,omitempty"`
	Ordinal int         `json:"ordinal,omitempty"`
	// Base is how many marks its unit had when the message was sent: they
	// were survived, and do not count against it.
	Base int `json:"base,omitempty"`
	// Waited is for how many marks of its unit the message has been put off;
	// see package engine.
	Waited int `json:"waited,omitempty"`
	// Repeated is true for what may not be the only message of its unit: it
	// was sent or delivered before, or came of one that was. A page that is
	// not is worked without a look at the row.
	Repeated bool `json:"repeated,omitempty"`
	// Resent counts how often the message was taken out of the dead-letter
	// queue and sent again, since nothing showed that it had reached anybody.
	Resent int `json:"resent,omitempty"`
	// Sent is when the message was first sent, UTC.
	Sent time.Time `json:"sent"`
}

// A Request asks for one request to be fetched.
type Request struct {
	// Req is the request, packed by package scheduler as the row has it.
	Req json.RawMessage `json:"req"`
	// Attempt counts the attempts that failed before this one. It stands
	// beside the packed request, which never changes.
	Attempt int `json:"attempt,omitempty"`
	// Jars are the cookies that the request carries now, after the answers
	// that it got; nil for those that are packed with it. They are secret.
	Jars *string `json:"jars,omitempty"`
	// Priority is the request's own plus what its retries added.
	Priority int `json:"priority,omitempty"`
	// Turn is the place in its slot's line that the request was told; zero
	// if it comes for the first time.
	Turn time.Time `json:"turn,omitzero"`
	// Probe makes the message ask for nothing but word to control that the
	// lane of this name delivers; all else is empty then.
	Probe string `json:"probe,omitempty"`
}

// A Page hands over what became of a request: a response, or a failure.
type Page struct {
	Req     json.RawMessage `json:"req"`
	Attempt int             `json:"attempt,omitempty"`
	// Priority is that of the request's message.
	Priority int `json:"priority,omitempty"`
	// Jars are the cookies after the answer, where they are not those that are
	// packed with the request. They come whole, however long: in a message
	// they cost nothing, and most pages give no request that inherits them.
	Jars     *string         `json:"jars,omitempty"`
	Response *crawl.Response `json:"response,omitempty"`
	Failure  *crawl.Failure  `json:"failure,omitempty"`
	Body     Body            `json:"body,omitzero"`

	// These are set when a page is continued: the run that counts, how many
	// of its outputs were handed on already, how many of those are items, in
	// how many slices, and how many slices in a row have brought none.
	Run    crawl.RunID `json:"run,omitempty"`
	Handed int         `json:"handed,omitempty"`
	Items  int         `json:"items,omitempty"`
	Slices int         `json:"slices,omitempty"`
	Idle   int         `json:"idle,omitempty"`
}

// An Item hands over one scraped item, whose key is in the header.
type Item struct {
	Item crawl.Item `json:"item"`
}

// A Do says what a control message asks for.
type Do string

// What can be done about a job.
const (
	// DoStart reads the next slice of the job's start.
	DoStart Do = "start"
	// DoLook looks whether the job is finished.
	DoLook Do = "look"
	// DoStop ends the job early, for a reason.
	DoStop Do = "stop"
	// DoClose works off the steps of closing.
	DoClose Do = "close"
	// DoProbed says that a lane delivered the watchdog's probe.
	DoProbed Do = "probed"
)

// A Control is a thing to do about a job.
type Control struct {
	Do Do `json:"do"`
	// Reason is why to stop.
	Reason string `json:"reason,omitempty"`
	// Lane is the lane that was probed.
	Lane string `json:"lane,omitempty"`
	// From, Run and Items are where a start goes on: the element of the
	// source, the run, and how many items it sent already.
	From  int         `json:"from,omitempty"`
	Run   crawl.RunID `json:"run,omitempty"`
	Items int         `json:"items,omitempty"`
}

// Encode writes a message, of characters that SQS takes. The header's version
// is filled in.
func Encode(h Header, payload any) ([]byte, error) {
	h.Version = Version
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(h); err != nil {
		return nil, fmt.Errorf("encode the header of a %s message: %w", h.Kind, err)
	}
	if err := enc.Encode(payload); err != nil {
		return nil, fmt.Errorf("encode a %s message: %w", h.Kind, err)
	}
	return sendable(bytes.TrimRight(b.Bytes(), "\n")), nil
}

// WithHeader puts another header before a payload, which is not read but for
// characters that SQS does not take.
func WithHeader(h Header, payload []byte) ([]byte, error) {
	h.Version = Version
	line, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode the header of a %s message: %w", h.Kind, err)
	}
	return sendable(bytes.Join([][]byte{line, payload}, []byte("\n"))), nil
}

// ReadHeader reads the first line of a message and returns the payload unread.
func ReadHeader(body []byte) (Header, []byte, error) {
	line, payload, ok := bytes.Cut(body, []byte("\n"))
	if !ok {
		return Header{}, nil, errors.New("message without a payload: want a header line and a payload line")
	}
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return Header{}, nil, fmt.Errorf("message header: %w", err)
	}
	if len(h.Job) > maxJob {
		return Header{}, nil, fmt.Errorf("message header: a job of %d bytes: there are at most %d", len(h.Job), maxJob)
	}
	if h.Version < oldest || h.Version > Version {
		return h, nil, fmt.Errorf("message version %d: this build reads %d to %d", h.Version, oldest, Version)
	}
	return h, payload, nil
}

// Decode reads a payload into a *Request, *Page, *Item or *Control.
func Decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("message payload: %w", err)
	}
	return nil
}
