package awstest

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// A messageAttribute is one of those that a sender adds to a message.
type messageAttribute struct {
	DataType    string
	StringValue string `json:",omitempty"`
	BinaryValue []byte `json:",omitempty"`
}

// A sendEntry is a message as it is sent.
type sendEntry struct {
	Id                string
	MessageBody       string
	DelaySeconds      *int
	MessageGroupId    string
	MessageAttributes map[string]messageAttribute
}

func (e sendEntry) size() int {
	n := len(e.MessageBody)
	for name, a := range e.MessageAttributes {
		n += len(name) + len(a.DataType) + len(a.StringValue) + len(a.BinaryValue)
	}
	return n
}

type sent struct {
	Id               string `json:",omitempty"`
	MessageId        string
	MD5OfMessageBody string
}

func (b *Backend) sendMessage(c *Call) (any, error) {
	in, err := decode[struct {
		queueRequest
		sendEntry
	}](c)
	if err != nil {
		return nil, err
	}
	q, err := b.queueOf(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if e := q.check(in.sendEntry); e != nil {
		return nil, e
	}
	return b.send(q, in.sendEntry, traceOf(c)), nil
}

func (b *Backend) sendMessageBatch(c *Call) (any, error) {
	in, err := decode[struct {
		queueRequest
		Entries []sendEntry
	}](c)
	if err != nil {
		return nil, err
	}
	q, err := b.queueOf(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	ids, total := make([]string, len(in.Entries)), 0
	for i, e := range in.Entries {
		ids[i] = e.Id
		total += e.size()
	}
	if err := checkEntries(ids); err != nil {
		return nil, err
	}
	if total > maxBytes {
		return nil, &Error{
			Status: http.StatusBadRequest, Code: "BatchRequestTooLong", QueryCode: "AWS.SimpleQueueService.BatchRequestTooLong",
			Message: fmt.Sprintf("Batch requests cannot be longer than %d bytes. You have sent %d bytes.", maxBytes, total),
		}
	}
	var out struct {
		Successful []sent    `json:",omitempty"`
		Failed     []failure `json:",omitempty"`
	}
	for i, e := range in.Entries {
		if c.refuses(i) {
			out.Failed = append(out.Failed, refused(e.Id))
		} else if bad := q.check(e); bad != nil {
			out.Failed = append(out.Failed, failed(e.Id, bad))
		} else {
			s := b.send(q, e, traceOf(c))
			s.Id = e.Id
			out.Successful = append(out.Successful, s)
		}
	}
	return out, nil
}

// check says what is wrong with one message.
func (q *queue) check(e sendEntry) *Error {
	if e.MessageBody == "" {
		return missingParameter("MessageBody")
	}
	if e.size() > q.maxSize {
		return invalidParameter("One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", q.maxSize)
	}
	if e.DelaySeconds != nil && (*e.DelaySeconds < 0 || *e.DelaySeconds > maxDelay) {
		return invalidParameter("Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= %d.", *e.DelaySeconds, maxDelay)
	}
	if len(e.MessageGroupId) > 128 {
		return invalidParameter("Value %s for parameter MessageGroupId is invalid. Reason: it can be at most 128 long.", e.MessageGroupId)
	}
	for _, r := range e.MessageBody {
		if !legal(r) {
			return &Error{
				Status: http.StatusBadRequest, Code: "InvalidMessageContents",
				Message: fmt.Sprintf("Invalid binary character '#x%X' was found in the message body.", r),
			}
		}
	}
	return nil
}

// legal reports whether a message may hold a character. Source: SQS API
// Reference, SendMessage, MessageBody.
func legal(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return true
	case r < 0x20, r == 0xFFFE, r == 0xFFFF:
		return false
	}
	return true
}

// traceOf is the trace header of a call, which SDKs send percent-encoded, and
// which all of its messages get. Source: SQS Developer Guide, "Amazon SQS and
// AWS X-Ray".
func traceOf(c *Call) string {
	header, err := url.PathUnescape(c.Request.Header.Get("X-Amzn-Trace-Id"))
	if err != nil {
		return ""
	}
	return header
}

// send puts one message on a queue.
func (b *Backend) send(q *queue, e sendEntry, trace string) sent {
	now, delay := b.now(), q.delay
	if e.DelaySeconds != nil {
		delay = time.Duration(*e.DelaySeconds) * time.Second
	}
	sum := md5.Sum([]byte(e.MessageBody))
	m := &message{
		id: b.id(), body: e.MessageBody, md5: hex.EncodeToString(sum[:]), group: e.MessageGroupId,
		custom: e.MessageAttributes, trace: trace, sent: now, due: now.Add(delay),
	}
	q.add(m)
	return sent{MessageId: m.id, MD5OfMessageBody: m.md5}
}
