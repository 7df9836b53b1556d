package awstest

import (
	"container/heap"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// A queue is one standard queue.
type queue struct {
	name       string
	attributes map[string]string
	created    time.Time
	modified   time.Time

	byID map[string]*message
	due  dueHeap
	seq  int64

	visibility, delay, retention, wait time.Duration
	maxSize                            int
	redrive                            redrivePolicy
}

// A message is due at a time: the end of its delay or of its visibility
// time-out.
type message struct {
	id       string
	seq      int64
	body     string
	md5      string
	group    string
	custom   map[string]messageAttribute
	trace    string // the header that it was sent with
	sent     time.Time
	first    time.Time // when it was received first
	due      time.Time
	receives int
	// held tells a received message from one that was not, or was returned.
	held bool
	// source is the ARN of the queue that it was moved from, if any.
	source string
	place  int // in the heap
}

// dueHeap has the message that is due first at its root.
type dueHeap []*message

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	if c := h[i].due.Compare(h[j].due); c != 0 {
		return c < 0
	}
	return h[i].seq < h[j].seq
}
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}
func (h *dueHeap) Push(x any) {
	m := x.(*message)
	m.place = len(*h)
	*h = append(*h, m)
}
func (h *dueHeap) Pop() any {
	old := *h
	m := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return m
}

func (q *queue) add(m *message) {
	q.seq++
	m.seq = q.seq
	q.byID[m.id] = m
	heap.Push(&q.due, m)
}

func (q *queue) remove(m *message) {
	delete(q.byID, m.id)
	heap.Remove(&q.due, m.place)
}

// moveTo makes a message due at another time.
func (q *queue) moveTo(m *message, due time.Time) {
	m.due = due
	heap.Fix(&q.due, m.place)
}

func (q *queue) arn() string { return queueARN(q.name) }

func queueARN(name string) string {
	return "arn:aws:sqs:" + Region + ":" + Account + ":" + name
}

// counts says how many messages can be received, are held, and are delayed.
func (q *queue) counts(now time.Time) (visible, held, delayed int) {
	for _, m := range q.due {
		switch {
		case !m.due.After(now):
			visible++
		case m.held:
			held++
		default:
			delayed++
		}
	}
	return visible, held, delayed
}

// A Message is a message in a queue, for tests to look at.
type Message struct {
	ID    string
	Body  string
	Group string
	// Sent is when it was sent first, Due when it can be received (again).
	Sent, Due time.Time
	// Receives is how often it was received.
	Receives int
	// Held tells whether a receiver has it, or had it until Due.
	Held bool
	// Receipt is the receipt handle of its last receive.
	Receipt string
}

// Messages returns the messages of a queue in the order in which they are due;
// none for a queue that is not there.
func (b *Backend) Messages(queueName string) []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[queueName]
	if q == nil {
		return nil
	}
	sorted := slices.Clone(q.due)
	slices.SortFunc(sorted, func(x, y *message) int {
		if c := x.due.Compare(y.due); c != 0 {
			return c
		}
		return int(x.seq - y.seq)
	})
	list := make([]Message, 0, len(sorted))
	for _, m := range sorted {
		list = append(list, Message{
			ID: m.id, Body: m.body, Group: m.group, Sent: m.sent, Due: m.due,
			Receives: m.receives, Held: m.held, Receipt: q.receipt(m),
		})
	}
	return list
}

// NextDue returns the earliest time at which a message of a queue can be
// received, which may have passed; zero if there is none.
func (b *Backend) NextDue(queueName string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[queueName]
	if q == nil || len(q.due) == 0 {
		return time.Time{}
	}
	return q.due[0].due
}

// Queues returns the names of all queues, sorted.
func (b *Backend) Queues() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.queues))
}

func seconds(s string) time.Duration {
	n, _ := strconv.Atoi(s)
	return time.Duration(n) * time.Second
}

func millis(t time.Time) string { return fmt.Sprint(t.UnixMilli()) }
