package awstest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

type received struct {
	MessageId         string
	ReceiptHandle     string
	MD5OfBody         string
	Body              string
	Attributes        map[string]string           `json:",omitempty"`
	MessageAttributes map[string]messageAttribute `json:",omitempty"`
}

type receiveRequest struct {
	queueRequest
	MaxNumberOfMessages         *int
	VisibilityTimeout           *int
	WaitTimeSeconds             *int
	AttributeNames              []string
	MessageSystemAttributeNames []string
	MessageAttributeNames       []string
}

func (r receiveRequest) check() error {
	outside := func(n *int, low, high int) bool { return n != nil && (*n < low || *n > high) }
	const reason = "Value %d for parameter %s is invalid. Reason: Must be between %d and %d, if provided."
	switch {
	case outside(r.MaxNumberOfMessages, 1, maxEntries):
		return invalidParameter(reason, *r.MaxNumberOfMessages, "MaxNumberOfMessages", 1, maxEntries)
	case outside(r.VisibilityTimeout, 0, maxVisibility):
		return invalidParameter(reason, *r.VisibilityTimeout, "VisibilityTimeout", 0, maxVisibility)
	case outside(r.WaitTimeSeconds, 0, maxWait):
		return invalidParameter(reason, *r.WaitTimeSeconds, "WaitTimeSeconds", 0, maxWait)
	}
	return nil
}

func (b *Backend) receiveMessage(c *Call) (any, error) {
	in, err := decode[receiveRequest](c)
	if err != nil {
		return nil, err
	}
	q, err := b.queueOf(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	limit, visibility := 1, q.visibility
	if in.MaxNumberOfMessages != nil {
		limit = *in.MaxNumberOfMessages
	}
	if in.VisibilityTimeout != nil {
		visibility = time.Duration(*in.VisibilityTimeout) * time.Second
	}
	names := slices.Concat(in.AttributeNames, in.MessageSystemAttributeNames)
	var out struct {
		Messages []received `json:",omitempty"`
	}
	for _, m := range b.take(q, limit, visibility) {
		out.Messages = append(out.Messages, received{
			MessageId: m.id, ReceiptHandle: q.receipt(m), MD5OfBody: m.md5, Body: m.body,
			Attributes: m.attributes(names), MessageAttributes: m.customAttributes(in.MessageAttributeNames),
		})
	}
	return out, nil
}

// take receives messages; those received too often go to the dead-letter
// queue.
func (b *Backend) take(q *queue, limit int, visibility time.Duration) []*message {
	b.expire(q)
	now := b.now()
	var taken []*message
	for len(taken) < limit && len(q.due) > 0 && !q.due[0].due.After(now) {
		m := q.due[0]
		if dead := b.queues[q.redrive.target]; dead != nil && m.receives >= q.redrive.maxReceives {
			q.remove(m)
			m.source, m.held, m.due = q.arn(), false, now
			dead.add(m)
			continue
		}
		m.receives++
		if m.receives == 1 {
			m.first = now
		}
		m.held = true
		// One that is not hidden at all still is given once a call.
		q.moveTo(m, now.Add(max(visibility, 1)))
		taken = append(taken, m)
	}
	if visibility == 0 {
		for _, m := range taken {
			q.moveTo(m, now)
		}
	}
	return taken
}

// expire drops the messages that are older than the queue keeps them.
func (b *Backend) expire(q *queue) {
	limit := b.now().Add(-q.retention)
	for len(q.due) > 0 && q.due[0].sent.Before(limit) {
		q.remove(q.due[0])
	}
}

// receipt is the receipt handle of a message's last receive.
func (q *queue) receipt(m *message) string {
	return base64.StdEncoding.EncodeToString([]byte(q.name + " " + m.id + " " + strconv.Itoa(m.receives)))
}

// held finds a message by a receipt handle; nil if it is gone or was received
// again since.
func (q *queue) held(receipt string) (*message, *Error) {
	raw, err := base64.StdEncoding.DecodeString(receipt)
	part := strings.Split(string(raw), " ")
	if err != nil || len(part) != 3 || part[0] != q.name {
		return nil, &Error{
			Status: http.StatusBadRequest, Code: "ReceiptHandleIsInvalid",
			Message: fmt.Sprintf("The input receipt handle %q is not a valid receipt handle.", receipt),
		}
	}
	m := q.byID[part[1]]
	if m == nil || strconv.Itoa(m.receives) != part[2] {
		return nil, nil
	}
	return m, nil
}

// attributes returns those of the service's own that are asked for.
func (m *message) attributes(names []string) map[string]string {
	found := map[string]string{}
	want := func(name, v string) {
		if v != "" && (slices.Contains(names, name) || slices.Contains(names, "All")) {
			found[name] = v
		}
	}
	if len(names) == 0 {
		return nil
	}
	want("ApproximateReceiveCount", strconv.Itoa(m.receives))
	want("SentTimestamp", millis(m.sent))
	want("ApproximateFirstReceiveTimestamp", millis(m.first))
	want("MessageGroupId", m.group)
	want("DeadLetterQueueSourceArn", m.source)
	want("AWSTraceHeader", m.trace)
	want("SenderId", Account)
	return found
}

func (m *message) customAttributes(names []string) map[string]messageAttribute {
	var found map[string]messageAttribute
	for name, a := range m.custom {
		if slices.Contains(names, name) || slices.Contains(names, "All") || slices.Contains(names, ".*") {
			if found == nil {
				found = map[string]messageAttribute{}
			}
			found[name] = a
		}
	}
	return found
}

// pollEvery is how often a receive over a socket looks again while it waits.
const pollEvery = 10 * time.Millisecond

// longPoll repeats a receive that found nothing for as long as it may wait.
func (b *Backend) longPoll(a *answer, c *Call) *answer {
	if c.Op != "sqs.ReceiveMessage" || a.status != http.StatusOK {
		return a
	}
	end := time.Now().Add(b.waitOf(c))
	for len(a.body) == len("{}") && time.Now().Before(end) {
		select {
		case <-c.Request.Context().Done():
			return a
		case <-time.After(pollEvery):
		}
		a = b.apply(c)
	}
	return a
}

// waitOf is for how long a receive may wait.
func (b *Backend) waitOf(c *Call) time.Duration {
	var in receiveRequest
	if err := json.Unmarshal(c.Body, &in); err != nil {
		return 0
	}
	if in.WaitTimeSeconds != nil {
		return time.Duration(*in.WaitTimeSeconds) * time.Second
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if q, err := b.queueOf(in.QueueUrl); err == nil {
		return q.wait
	}
	return 0
}
