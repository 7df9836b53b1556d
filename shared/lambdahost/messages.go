package lambdahost

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/queue"
)

const sqsSource = "aws:sqs"

// A record is a message as Lambda delivers it.
type record struct {
	queue.Delivery
	// died is the queue that gave up on it, of a dead letter; empty if that
	// is not told.
	died queue.Name
}

// messages works a batch of SQS. What is to be delivered again is named in the
// answer, so that it does not take its neighbours along.
func (h *Host) messages(ctx context.Context, payload []byte, m *metrics) (events.SQSEventResponse, error) {
	var answer events.SQSEventResponse
	var ev events.SQSEvent
	if err := json.Unmarshal(payload, &ev); err != nil {
		return answer, fmt.Errorf("event of function %s: %w", h.Function, err)
	}
	if len(ev.Records) == 0 || ev.Records[0].EventSource != sqsSource {
		return answer, fmt.Errorf("function %s takes events of SQS alone", h.Function)
	}
	for from, records := range h.byQueue(ev.Records) {
		m.messages += len(records)
		for _, d := range records {
			if d.Receives > 1 {
				m.redelivered++
			}
		}
		for _, id := range h.deliver(ctx, from, records) {
			m.failed++
			answer.BatchItemFailures = append(answer.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: id})
		}
	}
	return answer, nil
}

// deliver hands on what came from one queue.
func (h *Host) deliver(ctx context.Context, from queue.Name, records []record) []string {
	if from == queue.Dead {
		letters := make([]engine.DeadDelivery, 0, len(records))
		for _, r := range records {
			letters = append(letters, engine.DeadDelivery{Delivery: r.Delivery, From: r.died})
		}
		return h.Control.DeadLetters(ctx, letters)
	}
	batch := make([]queue.Delivery, 0, len(records))
	for _, r := range records {
		batch = append(batch, r.Delivery)
	}
	batch, failed := h.Open(ctx, batch)
	if len(batch) > 0 {
		failed = append(failed, h.Stage(ctx, from, batch)...)
	}
	return failed
}

// byQueue sorts records by the queue that they came from. One of a queue that
// is not the function's is taken for the function's first: what is wrong with
// it its stage says.
func (h *Host) byQueue(records []events.SQSMessage) map[queue.Name][]record {
	sorted := make(map[queue.Name][]record, 1)
	for _, r := range records {
		from := h.queueOf(r.EventSourceARN)
		if from == "" || from == queue.Dead && h.Control == nil {
			from = queue.Name(h.function.Sources[0].Queue)
		}
		receives, _ := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
		sorted[from] = append(sorted[from], record{
			Delivery: queue.Delivery{
				ID: r.MessageId, Job: crawl.JobUID(r.Attributes["MessageGroupId"]), Body: []byte(r.Body),
				Receives: max(receives, 1), Receipt: r.ReceiptHandle,
			},
			died: h.queueOf(r.Attributes["DeadLetterQueueSourceArn"]),
		})
	}
	return sorted
}

// queueOf is the queue of the stack that an ARN names, "" for none.
func (h *Host) queueOf(arn string) queue.Name {
	_, name, _ := strings.Cut(arn[strings.LastIndexByte(arn, ':')+1:], h.Stack.Name+"-")
	for _, q := range h.Stack.Queues {
		if q.Name == name {
			return queue.Name(name)
		}
	}
	return ""
}
