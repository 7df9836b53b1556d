package casetest

import (
	"encoding/json"
	"log/slog"
	"regexp"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/topology"
)

// An entry is one message of a SendMessageBatch.
type entry struct {
	ID                string `json:"Id"`
	MessageBody       string
	MessageAttributes map[string]struct {
		DataType, StringValue string
		BinaryValue           []byte
	}
}

// sentBatches are the batches that were sent.
type sentBatches struct {
	mu  sync.Mutex
	all [][]entry
}

func (s *sentBatches) note(c *awstest.Call) awstest.Fault {
	if c.Op != "sqs.SendMessageBatch" {
		return awstest.Fault{}
	}
	var in struct{ Entries []entry }
	_ = json.Unmarshal(c.Body, &in) // the backend refuses what is no JSON
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, in.Entries)
	return awstest.Fault{}
}

// plainID is what SQS takes for the ID of an entry. Source: SQS API Reference,
// SendMessageBatchRequestEntry.
var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// judge checks each batch: ten entries at most, their IDs plain and distinct,
// and no more bytes together than most, if that is not 0.
func (s *sentBatches) judge(t *testing.T, most int) {
	t.Helper()
	if len(s.all) == 0 {
		t.Error("no batch was sent")
	}
	for _, batch := range s.all {
		size, ids := 0, map[string]bool{}
		for _, e := range batch {
			size += len(e.MessageBody)
			for name, a := range e.MessageAttributes {
				size += len(name) + len(a.DataType) + len(a.StringValue) + len(a.BinaryValue)
			}
			if ids[e.ID] || !plainID.MatchString(e.ID) {
				t.Errorf("entry ID %q is there twice, or none that SQS takes", e.ID)
			}
			ids[e.ID] = true
		}
		if len(batch) > topology.MaxBatch || most > 0 && size > most {
			t.Errorf("a batch of %d messages and %d bytes, want at most %d and %d", len(batch), size, topology.MaxBatch, most)
		}
	}
}

func setAttribute(t *testing.T, s *stack, name, attribute, value string) {
	t.Helper()
	queueName := s.QueueName(name)
	out, err := s.client().GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: &queueName})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.client().SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: out.QueueUrl, Attributes: map[string]string{attribute: value},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func nowhere() *slog.Logger { return slog.New(slog.DiscardHandler) }

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func anyJSON(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}
