package scheduler

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/jars"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/weburl"
)

// maxInline is the longest packed request in bytes that lies in its row: with
// the other attributes (under 250 bytes) the row stays under 1 KB, one write
// unit. Source: Amazon DynamoDB Developer Guide, "Read and write operations".
const maxInline = 750

// A claim stands in for a packed request that is too long for its row.
type claim struct {
	Blob string `json:"blob"`
}

var claimPrefix = []byte(`{"blob":`)

// A packed is a request as rows and messages carry it.
type packed struct {
	*crawl.Request
	// JarsHash stands in for the request's Jars where they are kept apart.
	JarsHash jars.Hash `json:"jars_hash,omitempty"`
}

// pack writes a request as rows and messages carry it. What is kept apart is
// kept before this returns: a crash leaves something that nobody asks for, and
// never a row whose request cannot be read.
func (s *Scheduler) pack(ctx context.Context, job crawl.JobUID, unit crawl.UnitID, req *crawl.Request) (json.RawMessage, error) {
	packed, err := s.encode(ctx, job, req, maxInlineJars)
	if err == nil && len(packed) > maxInline && len(req.Jars) <= maxInlineJars {
		// A row for the cookies costs an eighth of a blob, and the page's
		// other links share it. Source: Amazon S3 and DynamoDB pricing.
		packed, err = s.encode(ctx, job, req, minApartJars)
	}
	if err != nil || len(packed) <= maxInline {
		return packed, err
	}
	// The key has the content's hash: another parent that finds the same unit
	// packs before it loses the put, and must not change what stands.
	key := fmt.Sprintf("requests/%s/%s-%x", job, unit, sha256.Sum256(packed))
	if err := s.Blobs.Put(ctx, key, packed); err != nil {
		return nil, fmt.Errorf("keep request %s: %w", weburl.Shown(req.URL), err)
	}
	return json.Marshal(claim{key})
}

// encode writes a request, with a hash in the place of cookies longer than so
// many bytes.
func (s *Scheduler) encode(ctx context.Context, job crawl.JobUID, req *crawl.Request, inline int) ([]byte, error) {
	p := packed{Request: req}
	if len(req.Jars) > inline {
		hash, err := s.keepJars(ctx, job, req.Jars)
		if err != nil {
			return nil, err
		}
		without := *req
		without.Jars = ""
		p = packed{&without, hash}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("pack request %s: %w", weburl.Shown(req.URL), err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Unpack reads a request as rows and messages of a job carry it.
func (s *Scheduler) Unpack(ctx context.Context, job crawl.JobUID, raw json.RawMessage) (*crawl.Request, error) {
	return s.UnpackWith(ctx, job, raw, nil)
}

// UnpackWith is Unpack with other cookies than the request has, those of a
// message; nil leaves the request its own.
func (s *Scheduler) UnpackWith(ctx context.Context, job crawl.JobUID, raw json.RawMessage, other *string) (*crawl.Request, error) {
	if bytes.HasPrefix(raw, claimPrefix) {
		var c claim
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, fmt.Errorf("unpack a request: %w", err)
		}
		var err error
		if raw, err = s.Blobs.Get(ctx, c.Blob, 0, -1); err != nil {
			return nil, fmt.Errorf("unpack a request: %w", err)
		}
	}
	p := packed{Request: new(crawl.Request)}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("unpack a request: %w", err)
	}
	switch {
	case other != nil:
		p.Jars = *other
	case p.JarsHash != "":
		var err error
		if p.Jars, err = s.readJars(ctx, job, p.JarsHash); err != nil {
			return nil, fmt.Errorf("unpack request %s: %w", weburl.Shown(p.URL), err)
		}
	}
	return p.Request, nil
}

// ErrBadURL is wrapped by the error of a request whose URL cannot be parsed.
var ErrBadURL = errors.New("bad url")

// An Identifier gives the requests of one parent their unit IDs. It must see
// all of the parent's output in order, because requests that are not filtered
// are told apart by their number.
type Identifier struct {
	parent  crawl.UnitID
	repeats map[weburl.Fingerprint]int
}

// NewIdentifier returns an identifier for the output of a parent.
func NewIdentifier(parent crawl.UnitID) *Identifier { return &Identifier{parent: parent} }

// StartIdentifier returns an identifier for what one element of a job's start
// gives. A start is read in slices whose bounds may differ from one run to the
// next, so its requests are numbered element by element.
func StartIdentifier(element int) *Identifier {
	return NewIdentifier(crawl.RepeatUnit(crawl.StartUnit, weburl.Fingerprint{}, element))
}

// Unit returns the unit ID of a request, and puts the request's URL and the keys
// of its headers into the form that is sent.
func (i *Identifier) Unit(req *crawl.Request) (crawl.UnitID, error) {
	u, err := weburl.Parse(req.URL)
	if err != nil {
		return crawl.UnitID{}, fmt.Errorf("%w: %w", ErrBadURL, err)
	}
	req.URL = u.String()
	req.CanonicalizeHeaders()
	fp := weburl.RequestFingerprint(req.HTTPMethod(), u, req.Body, included(req))
	if !req.DontFilter {
		return crawl.UnitID(fp), nil
	}
	if i.repeats == nil {
		i.repeats = make(map[weburl.Fingerprint]int)
	}
	n := i.repeats[fp]
	i.repeats[fp]++
	return crawl.RepeatUnit(i.parent, fp, n), nil
}

func included(req *crawl.Request) map[string][]string {
	if len(req.IncludeHeaders) == 0 {
		return nil
	}
	headers := make(map[string][]string, len(req.IncludeHeaders))
	for _, name := range req.IncludeHeaders {
		if values := req.Headers.Values(name); len(values) > 0 {
			headers[name] = values
		}
	}
	return headers
}

// An Order is a request to be sent, or sent again, to the lane of its priority.
type Order struct {
	Unit    crawl.UnitID
	Request message.Request
	Delay   time.Duration
	// Marks are those of the unit that do not count against the message.
	Marks int
	// Repeated says that the request may have been sent before.
	Repeated bool
}

// SendRequests sends orders, each to the lane of its priority.
func (s *Scheduler) SendRequests(ctx context.Context, job crawl.JobUID, orders []Order) error {
	lanes := make(map[queue.Name][]queue.Message, 1)
	for _, o := range orders {
		body, err := message.Encode(message.Header{
			Kind: message.KindRequest, Job: job, Unit: o.Unit, Base: o.Marks, Repeated: o.Repeated, Sent: s.Now().UTC(),
		}, o.Request)
		if err != nil {
			return err
		}
		lane := queue.Lane(o.Request.Priority)
		lanes[lane] = append(lanes[lane], queue.Message{Job: job, Body: body, Delay: o.Delay})
	}
	for _, lane := range queue.Requests() {
		if len(lanes[lane]) == 0 {
			continue
		}
		if err := s.Queue.Send(ctx, lane, lanes[lane]); err != nil {
			return fmt.Errorf("send %d requests: %w", len(lanes[lane]), err)
		}
	}
	return nil
}

// order is the message that a row's request is sent with, the first time and
// when the row alone is known.
func order(row frontier.Row, repeated bool) Order {
	return Order{Unit: row.Unit, Repeated: repeated, Request: message.Request{Req: row.Req, Priority: row.Priority}}
}
