// Package awstest is SQS, DynamoDB and S3 in memory. It speaks their wire
// protocols (AWS JSON 1.0, REST and XML), so that the clients of the AWS SDK
// run whole against it: on the goroutine that calls them, without sockets and
// by a clock of the test's. So it works in a bubble of testing/synctest, too.
//
// It is strict where the services are: limits, reserved words, unused
// placeholders, stale receipts. What it does not know it refuses with status
// 501, naming the operation. It checks no signatures and no permissions.
package awstest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Region and Account are where everything of a Backend is.
const (
	Region  = "us-east-1"
	Account = "000000000000"
)

// A Backend holds the state of the three services. It is safe for concurrent
// use.
type Backend struct {
	now   func() time.Time
	stale time.Duration

	mu       sync.Mutex
	hook     Hook
	calls    map[string]int
	capacity map[string]Capacity
	ids      int64
	queues   map[string]*queue
	tables   map[string]*table
	buckets  map[string]*bucket
}

// An Option changes how a Backend behaves.
type Option func(*Backend)

// Stale makes every read of DynamoDB that is not strongly consistent miss the
// writes of the last d, as a real one may.
func Stale(d time.Duration) Option { return func(b *Backend) { b.stale = d } }

// New returns a Backend that holds nothing. Everything goes by the clock now;
// nil is [time.Now].
func New(now func() time.Time, opts ...Option) *Backend {
	if now == nil {
		now = time.Now
	}
	b := &Backend{
		now: now, calls: map[string]int{}, capacity: map[string]Capacity{},
		queues: map[string]*queue{}, tables: map[string]*table{}, buckets: map[string]*bucket{},
	}
	for _, opt := range opts {
		opt(b)
	}
	return b
}

// Calls says how often each operation was called, by "service.Operation" such
// as "sqs.SendMessage"; those that a [Hook] failed are among them.
func (b *Backend) Calls() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.calls)
}

// id returns a number that was not given before.
func (b *Backend) id() string {
	b.ids++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", b.ids>>32, b.ids)
}

// A Call is one operation that came in.
type Call struct {
	// Op is "service.Operation", such as "dynamodb.PutItem".
	Op string
	// N counts the calls of this operation, from 1.
	N       int
	Request *http.Request
	// Body is the request's, without the framing that a streamed one has.
	Body []byte

	refuse func(i int) bool
}

// refuses reports whether a fault fails the i-th entry of a batch.
func (c *Call) refuses(i int) bool { return c.refuse != nil && c.refuse(i) }

// An answer is what goes back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// errLost stands for a connection that ended without an answer.
var errLost = errors.New("awstest: the connection was lost")

// serve carries out one request. The only error is errLost.
func (b *Backend) serve(r *http.Request, raw []byte) (*answer, *Call, error) {
	body, err := payload(r, raw)
	c := &Call{Op: operation(r), Request: r, Body: body}
	b.mu.Lock()
	b.calls[c.Op]++
	c.N = b.calls[c.Op]
	hook := b.hook
	b.mu.Unlock()
	if err != nil {
		return fail(c, err), c, nil
	}
	var f Fault
	if hook != nil {
		f = hook(c)
	}
	if f.Dropped {
		return nil, c, errLost
	}
	if f.Error != nil {
		return fail(c, f.Error), c, nil
	}
	c.refuse = f.Refuse
	a := b.apply(c)
	if f.After != nil {
		f.After()
	}
	if f.Lost {
		return nil, c, errLost
	}
	return a, c, nil
}

// apply carries out one operation as a whole.
func (b *Backend) apply(c *Call) *answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	service, op, _ := strings.Cut(c.Op, ".")
	if service == "s3" {
		a, err := b.s3(op, c)
		if err != nil {
			return fail(c, err)
		}
		return a
	}
	var out any
	var err error
	if service == "sqs" {
		out, err = b.sqs(op, c)
	} else {
		out, err = b.dynamodb(op, c)
	}
	if err != nil {
		return fail(c, err)
	}
	return jsonAnswer(http.StatusOK, out)
}

// operation is the name of what a request asks for.
func operation(r *http.Request) string {
	target := r.Header.Get("X-Amz-Target")
	if op, ok := strings.CutPrefix(target, "AmazonSQS."); ok {
		return "sqs." + op
	}
	if op, ok := strings.CutPrefix(target, "DynamoDB_20120810."); ok {
		return "dynamodb." + op
	}
	if target != "" {
		return "dynamodb." + target // answered as an operation that is not known
	}
	return "s3." + s3Operation(r)
}

// ServeHTTP serves the three services on one port. ReceiveMessage waits for as
// long as it is asked to, by the real clock.
func (b *Backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	a, c, err := b.serve(r, raw)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	a = b.longPoll(a, c)
	for k, v := range a.header {
		w.Header()[k] = v
	}
	if w.Header().Get("Content-Length") == "" {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body) // a client that went away wants no answer
	}
}
