package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/queue"
)

// DefaultVisibility is for how long a received message is hidden where no
// other time is asked for: 15 minutes, longer than any function runs on AWS.
// Source: AWS Lambda Developer Guide, "Lambda quotas", function timeout.
const DefaultVisibility = 15 * time.Minute

// A QueueOption changes how a [Queue] behaves.
type QueueOption func(*Queue)

// Visibility sets for how long a received message is hidden. A message that is
// neither deleted nor returned by then is delivered again, so a test makes a
// redelivery by moving the clock.
func Visibility(d time.Duration) QueueOption { return func(q *Queue) { q.visibility = d } }

// A Queue holds all queues of a stack. It gives each message that is due once,
// in the order of due time and then of sending.
type Queue struct {
	clock      func() time.Time
	visibility time.Duration

	mu       sync.Mutex
	sent     int64
	queues   map[queue.Name][]*message // in the order of delivery
	messages map[string]*message       // by ID
	bells    map[queue.Name]chan struct{}
}

// A message is due when the clock has reached its time; while it is held, that
// is the end of its visibility time-out.
type message struct {
	id       string
	seq      int64
	from     queue.Name
	job      crawl.JobUID
	body     []byte
	due      time.Time
	held     bool
	receives int
}

func (m *message) receipt() string { return fmt.Sprintf("%s/%d", m.id, m.receives) }

func byDelivery(a, b *message) int {
	return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.seq, b.seq))
}

// NewQueue returns empty queues.
func NewQueue(clock func() time.Time, opts ...QueueOption) *Queue {
	q := &Queue{
		clock: orNow(clock), visibility: DefaultVisibility,
		queues: map[queue.Name][]*message{}, messages: map[string]*message{}, bells: map[queue.Name]chan struct{}{},
	}
	for _, opt := range opts {
		opt(q)
	}
	return q
}

// Send implements [queue.Sender].
func (q *Queue) Send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock()
	for _, msg := range msgs {
		q.sent++
		m := &message{
			id: fmt.Sprintf("m%d", q.sent), seq: q.sent, from: to, job: msg.Job, body: clone(msg.Body),
			due: now.Add(min(max(msg.Delay, 0), queue.MaxDelay)),
		}
		q.messages[m.id] = m
		q.queues[to] = insert(q.queues[to], m, byDelivery)
	}
	if len(msgs) > 0 {
		q.ring(to)
	}
	return nil
}

// Receive implements [queue.Receiver].
func (q *Queue) Receive(ctx context.Context, from queue.Name, job crawl.JobUID, max int) ([]queue.Delivery, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock()
	var taken []*message
	for _, m := range q.queues[from] {
		if len(taken) >= max || m.due.After(now) {
			break
		}
		if job == "" || m.job == job {
			taken = append(taken, m)
		}
	}
	ds := make([]queue.Delivery, len(taken))
	for i, m := range taken {
		q.move(m, now.Add(q.visibility), true)
		m.receives++
		ds[i] = queue.Delivery{ID: m.id, Job: m.job, Body: clone(m.body), Receives: m.receives, Receipt: m.receipt()}
	}
	return ds, nil
}

// Delete implements [queue.Receiver].
func (q *Queue) Delete(ctx context.Context, from queue.Name, receipts []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.received(from, receipts) {
		q.remove(m)
		delete(q.messages, m.id)
	}
	return nil
}

// Return implements [queue.Receiver].
func (q *Queue) Return(ctx context.Context, from queue.Name, receipts []string, delay time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock()
	for _, m := range q.received(from, receipts) {
		q.move(m, now.Add(max(delay, 0)), false)
		q.ring(from)
	}
	return nil
}

// received are the messages whose latest delivery has one of the receipts.
func (q *Queue) received(from queue.Name, receipts []string) []*message {
	var ms []*message
	for _, receipt := range receipts {
		id, _, _ := strings.Cut(receipt, "/")
		if m, ok := q.messages[id]; ok && m.from == from && m.receipt() == receipt {
			ms = append(ms, m)
		}
	}
	return ms
}

func (q *Queue) move(m *message, due time.Time, held bool) {
	q.remove(m)
	m.due, m.held = due, held
	q.queues[m.from] = insert(q.queues[m.from], m, byDelivery)
}

func (q *Queue) remove(m *message) {
	if i, ok := slices.BinarySearchFunc(q.queues[m.from], m, byDelivery); ok {
		q.queues[m.from] = slices.Delete(q.queues[m.from], i, i+1)
	}
}

func (q *Queue) ring(name queue.Name) {
	if bell, ok := q.bells[name]; ok {
		close(bell)
		delete(q.bells, name)
	}
}

// Outstanding implements [queue.Census].
func (q *Queue) Outstanding(ctx context.Context, job crawl.JobUID, from ...queue.Name) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, m := range q.messages {
		if m.job == job && (len(from) == 0 || slices.Contains(from, m.from)) {
			n++
		}
	}
	return n, nil
}

// Discard implements [queue.Census].
func (q *Queue) Discard(ctx context.Context, from queue.Name, job crawl.JobUID) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock()
	n := 0
	q.queues[from] = slices.DeleteFunc(q.queues[from], func(m *message) bool {
		if m.job != job || m.held && m.due.After(now) {
			return false
		}
		delete(q.messages, m.id)
		n++
		return true
	})
	return n, nil
}

// Wait implements [queue.Bell].
func (q *Queue) Wait(from queue.Name) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	bell, ok := q.bells[from]
	if !ok {
		bell = make(chan struct{})
		q.bells[from] = bell
	}
	return bell
}

// NextDue implements [queue.Bell].
func (q *Queue) NextDue(ctx context.Context, from queue.Name, job crawl.JobUID) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock()
	for _, m := range q.queues[from] {
		if (job == "" || m.job == job) && (!m.held || !m.due.After(now)) {
			return m.due, nil
		}
	}
	return time.Time{}, nil
}
