package aws

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

// A sqsClient is what the queues use of SQS.
type sqsClient interface {
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
	SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
	ChangeMessageVisibilityBatch(context.Context, *sqs.ChangeMessageVisibilityBatchInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error)
}

// A Queue is all queues of a stack. A message that is longer than SQS takes
// lies in the bucket, and what is sent tells where (a claim check).
type Queue struct {
	client sqsClient
	stack  topology.Stack
	blobs  blob.Store
	// emulated says that the endpoint is not AWS, where queues may take less
	// than a stack asks for.
	emulated bool
	// ungrouped is set once an endpoint has refused message groups on a
	// standard queue.
	ungrouped atomic.Bool
	// wait sleeps between two tries of a batch.
	wait func(ctx context.Context, d time.Duration) error

	mu        sync.Mutex
	addresses map[queue.Name]*address
}

// Queue returns the queues: a [queue.Sender] and a [queue.Receiver].
func (s *Store) Queue() *Queue { return s.queue }

func newQueue(client *sqs.Client, stack topology.Stack, blobs *Blobs) *Queue {
	q := newQueueOver(client, stack, blobs)
	q.emulated = client.Options().BaseEndpoint != nil
	return q
}

func newQueueOver(client sqsClient, stack topology.Stack, blobs blob.Store) *Queue {
	return &Queue{client: client, stack: stack, blobs: blobs, wait: waitFor, addresses: map[queue.Name]*address{}}
}

// waitFor sleeps, or returns the context's error.
func waitFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// An address is where a queue is.
type address struct {
	mu  sync.Mutex // is held while it is looked up
	url string
	// limit is the longest message, and batch, in bytes.
	limit int
}

// address looks a queue up, once.
func (q *Queue) address(ctx context.Context, name queue.Name) (url string, limit int, err error) {
	q.mu.Lock()
	a, ok := q.addresses[name]
	if !ok {
		a = &address{}
		q.addresses[name] = a
	}
	q.mu.Unlock()

	a.mu.Lock()
	defer a.mu.Unlock()
	if a.url != "" {
		return a.url, a.limit, nil
	}
	url, err = q.lookUp(ctx, name)
	if err != nil {
		return "", 0, err
	}
	limit, err = q.limit(ctx, url)
	if err != nil {
		return "", 0, err
	}
	a.url, a.limit = url, limit
	return url, limit, nil
}

func (q *Queue) lookUp(ctx context.Context, name queue.Name) (string, error) {
	if !q.has(name) {
		return "", fmt.Errorf("stack %s has no queue %q", q.stack.Name, name)
	}
	full := q.stack.QueueName(string(name))
	out, err := q.client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &full})
	var missing *sqstypes.QueueDoesNotExist
	if errors.As(err, &missing) {
		return "", fmt.Errorf("queue %s does not exist: stack %s is not there; deploy it, or run skitter up: %w", full, q.stack.Name, err)
	}
	if err != nil {
		return "", fmt.Errorf("look up queue %s: %w", full, err)
	}
	return awssdk.ToString(out.QueueUrl), nil
}

func (q *Queue) has(name queue.Name) bool {
	for _, known := range q.stack.Queues {
		if known.Name == string(name) {
			return true
		}
	}
	return false
}

// limit is the longest message, and batch, of a queue in bytes. A stack on AWS
// asks for the most that there is; an emulator may have stayed below.
func (q *Queue) limit(ctx context.Context, url string) (int, error) {
	if !q.emulated {
		return topology.MaxMessage, nil
	}
	out, err := q.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl:       &url,
		AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameMaximumMessageSize},
	})
	if err != nil {
		return 0, fmt.Errorf("read the attributes of queue %s: %w", url, err)
	}
	size, err := strconv.Atoi(out.Attributes[string(sqstypes.QueueAttributeNameMaximumMessageSize)])
	if err != nil || size <= 0 || size > topology.MaxMessage {
		return topology.MaxMessage, nil
	}
	return size, nil
}

const (
	// batchTries is how often the entries of one batch are tried: with the
	// pauses between, for about ten seconds.
	batchTries = 8
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// pause sleeps before a try after the first, for a random part of a time that
// doubles with each, so that many senders do not come back together.
func (q *Queue) pause(ctx context.Context, try int) error {
	most := min(firstPause<<(try-1), maxPause)
	return q.wait(ctx, most/2+rand.N(most/2))
}

// seconds is a time as SQS takes it: whole seconds, rounded up so that nothing
// comes before its time, from 0 to most.
func seconds(d, most time.Duration) int32 {
	d = min(max(d, 0), most)
	return int32((d + time.Second - 1) / time.Second)
}
