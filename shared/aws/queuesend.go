package aws

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/skitterhq/skitter/shared/queue"
)

// Send implements [queue.Sender]. A message that SQS would refuse for its
// characters is an error that names it, before anything is sent. What is
// longer than the queue takes is put into the bucket first.
func (q *Queue) Send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	if len(msgs) == 0 {
		return ctx.Err()
	}
	if err := q.send(ctx, to, msgs); err != nil {
		return fmt.Errorf("send %d messages to %s: %w", len(msgs), to, err)
	}
	return nil
}

func (q *Queue) send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	for i := range msgs {
		if err := checkText(msgs[i].Body); err != nil {
			return fmt.Errorf("message %d of %d, of job %s: %w", i+1, len(msgs), msgs[i].Job, err)
		}
	}
	url, limit, err := q.address(ctx, to)
	if err != nil {
		return err
	}
	bodies, err := q.claims(ctx, msgs, limit)
	if err != nil {
		return err
	}
	sizes := make([]int, len(msgs))
	for i := range bodies {
		sizes[i] = len(bodies[i]) + q.overhead()
	}
	batches := pack(sizes, limit)
	return together(ctx, len(batches), func(ctx context.Context, i int) error {
		b := batches[i]
		return q.sendBatch(ctx, url, msgs[b.from:b.to], bodies[b.from:b.to])
	})
}

// sendBatch sends one batch until every message of it is accepted.
func (q *Queue) sendBatch(ctx context.Context, url string, msgs []queue.Message, bodies []string) error {
	call := func(ctx context.Context, entries []int) (answer, error) {
		in := &sqs.SendMessageBatchInput{QueueUrl: &url}
		for _, i := range entries {
			in.Entries = append(in.Entries, q.entry(i, msgs[i], bodies[i]))
		}
		out, err := q.client.SendMessageBatch(ctx, in)
		if err != nil {
			return answer{}, err
		}
		got := answer{failed: out.Failed}
		for _, s := range out.Successful {
			got.done = append(got.done, awssdk.ToString(s.Id))
		}
		return got, nil
	}
	err := q.tryBatch(ctx, len(msgs), call, never)
	if q.emulated && groupRefused(err) && !q.ungrouped.Swap(true) {
		return q.tryBatch(ctx, len(msgs), call, never)
	}
	return err
}

func (q *Queue) entry(i int, msg queue.Message, body string) sqstypes.SendMessageBatchRequestEntry {
	e := sqstypes.SendMessageBatchRequestEntry{
		Id:           awssdk.String(strconv.Itoa(i)),
		MessageBody:  &body,
		DelaySeconds: seconds(msg.Delay, queue.MaxDelay),
	}
	switch {
	case msg.Job == "":
	case q.ungrouped.Load():
		e.MessageAttributes = map[string]sqstypes.MessageAttributeValue{
			jobAttribute: {DataType: awssdk.String("String"), StringValue: awssdk.String(string(msg.Job))},
		}
	default:
		e.MessageGroupId = awssdk.String(string(msg.Job))
	}
	return e
}

// jobAttribute has a message's job where an emulator knows no message groups
// on standard queues.
const jobAttribute = "job"

// overhead is what a message may have beside its body, in bytes: the job
// attribute's name, type and value.
func (q *Queue) overhead() int {
	if !q.emulated {
		return 0
	}
	return 64
}

// groupRefused reports whether an endpoint takes no message groups on a
// standard queue. Source: what SQS itself answered before it had fair queues.
func groupRefused(err error) bool {
	var text string
	var api smithy.APIError
	var entry *entryFault
	switch {
	case errors.As(err, &entry):
		text = entry.message
	case errors.As(err, &api):
		text = api.ErrorMessage()
	}
	return strings.Contains(text, "MessageGroupId") || strings.Contains(text, "not valid for this queue type")
}

// checkText says what SQS would refuse in a body, if anything. It takes
// U+0009, U+000A, U+000D, U+0020 to U+D7FF, U+E000 to U+FFFD and from U+10000
// on. Source: SQS API Reference, SendMessage, MessageBody.
func checkText(body []byte) error {
	if len(body) == 0 {
		return errors.New("the body is empty, which SQS refuses")
	}
	for i := 0; i < len(body); {
		c := body[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
				return fmt.Errorf("byte %d of the body is the character %U, which SQS refuses", i, c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Errorf("byte %d of the body is %#x, which is not UTF-8", i, c)
		}
		if r == 0xFFFE || r == 0xFFFF {
			return fmt.Errorf("byte %d of the body is the character %U, which SQS refuses", i, r)
		}
		i += size
	}
	return nil
}
