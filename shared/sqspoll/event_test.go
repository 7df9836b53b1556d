package sqspoll

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
)

func TestAnEventIsLambdas(t *testing.T) {
	q := queue{arn: "arn:aws:sqs:eu-central-1:123456789012:page", region: "eu-central-1"}
	m := types.Message{
		MessageId: new("059f36b4"), ReceiptHandle: new("AQEB"), Body: new(`{"url":"https://e.example/?a=1&b=<2>"}`), MD5OfBody: new("e4e68fb7"),
		Attributes: map[string]string{
			"ApproximateReceiveCount": "2", "SentTimestamp": "1545082649183", "SenderId": "AIDA",
			"ApproximateFirstReceiveTimestamp": "1545082649185", "MessageGroupId": "job",
		},
		MessageAttributes: map[string]types.MessageAttributeValue{
			"kind": {DataType: new("String"), StringValue: new("page")},
			"raw":  {DataType: new("Binary"), BinaryValue: []byte{1, 2}},
		},
	}
	var b batch
	b.add(q.record(m, time.Time{}))
	b.add(q.record(types.Message{MessageId: new("2e1424d4")}, time.Time{}))
	event := b.event()
	if len(event) != b.size {
		t.Errorf("%d bytes, counted as %d", len(event), b.size)
	}
	const want = `{"Records":[{
		"messageId": "059f36b4", "receiptHandle": "AQEB", "body": "{\"url\":\"https://e.example/?a=1&b=<2>\"}",
		"attributes": {"ApproximateReceiveCount": "2", "SentTimestamp": "1545082649183", "SenderId": "AIDA",
			"ApproximateFirstReceiveTimestamp": "1545082649185", "MessageGroupId": "job"},
		"messageAttributes": {
			"kind": {"stringValue": "page", "stringListValues": [], "binaryListValues": [], "dataType": "String"},
			"raw": {"binaryValue": "AQI=", "stringListValues": [], "binaryListValues": [], "dataType": "Binary"}},
		"md5OfBody": "e4e68fb7", "eventSource": "aws:sqs",
		"eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:page", "awsRegion": "eu-central-1"
	}, {
		"messageId": "2e1424d4", "receiptHandle": "", "body": "", "attributes": {}, "messageAttributes": {}, "md5OfBody": "",
		"eventSource": "aws:sqs", "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:page", "awsRegion": "eu-central-1"
	}]}`
	if diff := cmp.Diff(decode(t, []byte(want)), decode(t, event)); diff != "" {
		t.Errorf("event mismatch (-want, +got)\n%s", diff)
	}
}

func decode(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

func TestFailures(t *testing.T) {
	b := batch{records: []record{{id: "a"}, {id: "b"}, {id: "c"}}}
	tests := []struct {
		name, response string
		want           map[string]bool
		whole          bool // the batch fails
	}{
		{name: "nothing"},
		{name: "blanks", response: " \n"},
		{name: "null", response: "null"},
		{name: "no list", response: `{"done":3}`},
		{name: "a null list", response: `{"batchItemFailures":null}`},
		{name: "an empty list", response: `{"batchItemFailures":[]}`},
		{name: "one", response: `{"batchItemFailures":[{"itemIdentifier":"b"}]}`, want: map[string]bool{"b": true}},
		{name: "two, one of them twice", response: `{"batchItemFailures":[{"itemIdentifier":"b"},{"itemIdentifier":"a"},{"itemIdentifier":"b"}]}`, want: map[string]bool{"a": true, "b": true}},
		{name: "an empty identifier", response: `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":""}]}`, whole: true},
		{name: "a null identifier", response: `{"batchItemFailures":[{"itemIdentifier":null}]}`, whole: true},
		{name: "an identifier that is a number", response: `{"batchItemFailures":[{"itemIdentifier":1}]}`, whole: true},
		{name: "a wrong key", response: `{"batchItemFailures":[{"ItemIdentifier":"a"}]}`, whole: true},
		{name: "an unknown identifier", response: `{"batchItemFailures":[{"itemIdentifier":"d"}]}`, whole: true},
		{name: "a null item", response: `{"batchItemFailures":[null]}`, whole: true},
		{name: "no list but a text", response: `{"batchItemFailures":"a"}`, whole: true},
		{name: "a text", response: `"done"`, whole: true},
		{name: "a list", response: `[]`, whole: true},
		{name: "no JSON", response: `<html>`, whole: true},
		{name: "cut off", response: `{"batchItemFailures":[`, whole: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := failures([]byte(test.response), b)
			if (err != nil) != test.whole {
				t.Fatalf("error %v; want one: %v", err, test.whole)
			}
			if len(got) != len(test.want) || !cmp.Equal(got, test.want) && len(test.want) > 0 {
				t.Errorf("failed are %v; want %v", got, test.want)
			}
		})
	}
}
