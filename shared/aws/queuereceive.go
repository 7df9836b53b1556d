package aws

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

// maxOthers is how many messages of other jobs one Receive looks past.
const maxOthers = 1000

// handBack is for how long messages of other jobs are given back, also after
// the caller has gone.
const handBack = 10 * time.Second

// Receive implements [queue.Receiver]. It may give fewer messages than are
// due. A message whose body cannot be fetched is left out and comes again.
//
// SQS cannot receive one job's messages alone: those of other jobs are
// received and made due again at once, which counts as a delivery of them. So
// a filter is for queues that hold little else.
func (q *Queue) Receive(ctx context.Context, from queue.Name, job crawl.JobUID, max int) ([]queue.Delivery, error) {
	url, _, err := q.address(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("receive from %s: %w", from, err)
	}
	var ours, others []queue.Delivery
	for len(ours) < max && len(others) < maxOthers {
		var got []queue.Delivery
		got, err = q.receiveSome(ctx, url, max-len(ours))
		if err != nil || len(got) == 0 {
			break
		}
		for _, d := range got {
			if job == "" || d.Job == job {
				ours = append(ours, d)
			} else {
				others = append(others, d)
			}
		}
	}
	if backErr := q.giveBack(ctx, from, others); err == nil {
		err = backErr
	}
	// What was received is hidden from everybody else, so it is given out
	// even if a later call failed.
	if err != nil && len(ours) == 0 {
		return nil, fmt.Errorf("receive from %s: %w", from, err)
	}
	opened, _ := q.Open(ctx, ours)
	return opened, nil
}

// giveBack makes messages that nobody asked for due again.
func (q *Queue) giveBack(ctx context.Context, from queue.Name, others []queue.Delivery) error {
	if len(others) == 0 {
		return nil
	}
	receipts := make([]string, len(others))
	for i, d := range others {
		receipts[i] = d.Receipt
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handBack)
	defer cancel()
	return q.Return(ctx, from, receipts, 0)
}

// receiveSome makes one call for up to max messages.
func (q *Queue) receiveSome(ctx context.Context, url string, max int) ([]queue.Delivery, error) {
	out, err := q.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:            &url,
		MaxNumberOfMessages: int32(min(max, topology.MaxBatch)),
		MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{
			sqstypes.MessageSystemAttributeNameApproximateReceiveCount,
			sqstypes.MessageSystemAttributeNameMessageGroupId,
		},
		MessageAttributeNames: []string{jobAttribute},
	})
	if err != nil {
		return nil, err
	}
	ds := make([]queue.Delivery, len(out.Messages))
	for i, m := range out.Messages {
		ds[i] = delivery(m)
	}
	return ds, nil
}

func delivery(m sqstypes.Message) queue.Delivery {
	job := m.Attributes[string(sqstypes.MessageSystemAttributeNameMessageGroupId)]
	if job == "" {
		job = awssdk.ToString(m.MessageAttributes[jobAttribute].StringValue)
	}
	// An emulator that does not count deliveries leaves it at one.
	receives, err := strconv.Atoi(m.Attributes[string(sqstypes.MessageSystemAttributeNameApproximateReceiveCount)])
	if err != nil {
		receives = 1
	}
	return queue.Delivery{
		ID:       awssdk.ToString(m.MessageId),
		Job:      crawl.JobUID(job),
		Body:     []byte(awssdk.ToString(m.Body)),
		Receives: receives,
		Receipt:  awssdk.ToString(m.ReceiptHandle),
	}
}

// Delete implements [queue.Receiver].
func (q *Queue) Delete(ctx context.Context, from queue.Name, receipts []string) error {
	err := q.settle(ctx, from, receipts, func(ctx context.Context, url string, receipts []string, entries []int) (answer, error) {
		in := &sqs.DeleteMessageBatchInput{QueueUrl: &url}
		for _, i := range entries {
			in.Entries = append(in.Entries, sqstypes.DeleteMessageBatchRequestEntry{
				Id: awssdk.String(strconv.Itoa(i)), ReceiptHandle: &receipts[i],
			})
		}
		out, err := q.client.DeleteMessageBatch(ctx, in)
		if err != nil {
			return answer{}, err
		}
		got := answer{failed: out.Failed}
		for _, s := range out.Successful {
			got.done = append(got.done, awssdk.ToString(s.Id))
		}
		return got, nil
	})
	if err != nil {
		return fmt.Errorf("delete %d messages from %s: %w", len(receipts), from, err)
	}
	return nil
}

// maxVisibility is the longest that a message can be hidden: 12 hours.
// Source: SQS API Reference, ChangeMessageVisibility.
const maxVisibility = 12 * time.Hour

// Return implements [queue.Receiver]. A delay of more than 12 hours is cut to
// that.
func (q *Queue) Return(ctx context.Context, from queue.Name, receipts []string, delay time.Duration) error {
	hidden := seconds(delay, maxVisibility)
	err := q.settle(ctx, from, receipts, func(ctx context.Context, url string, receipts []string, entries []int) (answer, error) {
		in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &url}
		for _, i := range entries {
			in.Entries = append(in.Entries, sqstypes.ChangeMessageVisibilityBatchRequestEntry{
				Id: awssdk.String(strconv.Itoa(i)), ReceiptHandle: &receipts[i], VisibilityTimeout: hidden,
			})
		}
		out, err := q.client.ChangeMessageVisibilityBatch(ctx, in)
		if err != nil {
			return answer{}, err
		}
		got := answer{failed: out.Failed}
		for _, s := range out.Successful {
			got.done = append(got.done, awssdk.ToString(s.Id))
		}
		return got, nil
	})
	if err != nil {
		return fmt.Errorf("return %d messages to %s: %w", len(receipts), from, err)
	}
	return nil
}

// settle calls do for receipts, a batch at a time.
func (q *Queue) settle(ctx context.Context, from queue.Name, receipts []string,
	do func(ctx context.Context, url string, receipts []string, entries []int) (answer, error),
) error {
	if len(receipts) == 0 {
		return ctx.Err()
	}
	url, _, err := q.address(ctx, from)
	if err != nil {
		return err
	}
	// One receipt twice in a batch is refused by some.
	distinct := slices.Compact(slices.Sorted(slices.Values(receipts)))
	batches := inTens(len(distinct))
	return together(ctx, len(batches), func(ctx context.Context, i int) error {
		part := distinct[batches[i].from:batches[i].to]
		return q.tryBatch(ctx, len(part), func(ctx context.Context, entries []int) (answer, error) {
			return do(ctx, url, part, entries)
		}, stale)
	})
}

// stale reports whether a code means that a message is gone, or was delivered
// again since. Source: SQS API Reference, errors of DeleteMessage and
// ChangeMessageVisibility; what a receipt that has expired is answered with is
// InvalidParameterValue.
func stale(code string) bool {
	switch code {
	case "ReceiptHandleIsInvalid", "InvalidParameterValue", "InvalidIdFormat",
		"MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight":
		return true
	}
	return false
}
