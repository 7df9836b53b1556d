package sqspoll

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// maxEvent is the longest event in bytes: 6 MB. Source: AWS Lambda Developer
// Guide, "Lambda quotas", invocation payload, synchronous.
const maxEvent = 6 << 20

// What stands round an event's records.
const (
	eventHead = `{"Records":[`
	eventTail = `]}`
)

// A message is one record of an event. Source: AWS Lambda Developer Guide,
// "Using Lambda with Amazon SQS", example event.
type message struct {
	MessageID              string               `json:"messageId"`
	ReceiptHandle          string               `json:"receiptHandle"`
	Body                   string               `json:"body"`
	Attributes             map[string]string    `json:"attributes"`
	MessageAttributes      map[string]attribute `json:"messageAttributes"`
	MD5OfMessageAttributes *string              `json:"md5OfMessageAttributes,omitempty"`
	MD5OfBody              string               `json:"md5OfBody"`
	EventSource            string               `json:"eventSource"`
	EventSourceARN         string               `json:"eventSourceARN"`
	Region                 string               `json:"awsRegion"`
}

// An attribute is what a sender has put beside a message's body.
type attribute struct {
	StringValue      *string  `json:"stringValue,omitempty"`
	BinaryValue      []byte   `json:"binaryValue,omitempty"`
	StringListValues []string `json:"stringListValues"`
	BinaryListValues [][]byte `json:"binaryListValues"`
	DataType         string   `json:"dataType"`
}

// A record is a message that was received.
type record struct {
	id, receipt string
	json        []byte
	received    time.Time
	trace       trace
}

// record turns what SQS gave into what Lambda gives.
func (q queue) record(m types.Message, received time.Time) record {
	out := message{
		MessageID:              text(m.MessageId),
		ReceiptHandle:          text(m.ReceiptHandle),
		Body:                   text(m.Body),
		Attributes:             m.Attributes,
		MessageAttributes:      map[string]attribute{},
		MD5OfMessageAttributes: m.MD5OfMessageAttributes,
		MD5OfBody:              text(m.MD5OfBody),
		EventSource:            "aws:sqs",
		EventSourceARN:         q.arn,
		Region:                 q.region,
	}
	if out.Attributes == nil {
		out.Attributes = map[string]string{}
	}
	for name, a := range m.MessageAttributes {
		out.MessageAttributes[name] = attribute{
			StringValue: a.StringValue, BinaryValue: a.BinaryValue, DataType: text(a.DataType),
			StringListValues: []string{}, BinaryListValues: [][]byte{},
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // bodies may be HTML, which would get longer
	_ = enc.Encode(out)      // strings and bytes always encode
	return record{id: out.MessageID, receipt: out.ReceiptHandle, json: bytes.TrimSuffix(b.Bytes(), []byte("\n")), received: received, trace: readTrace(m.Attributes[traceAttribute])}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// A batch is what one invocation gets.
type batch struct {
	records []record
	size    int // of the event in bytes
}

// add takes a record in, unless that makes the event too large. A record that
// is too large by itself makes up a batch, and the function refuses it.
func (b *batch) add(r record) bool {
	size := b.size + len(r.json) + len(",")
	if len(b.records) == 0 {
		size = len(eventHead) + len(r.json) + len(eventTail)
	} else if size > maxEvent {
		return false
	}
	b.records = append(b.records, r)
	b.size = size
	return true
}

// event is the batch as Lambda gives it to a function.
func (b *batch) event() []byte {
	out := make([]byte, 0, b.size)
	out = append(out, eventHead...)
	for i, r := range b.records {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, r.json...)
	}
	return append(out, eventTail...)
}
