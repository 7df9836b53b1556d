package sqspoll

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// A queue is what is known of the queue.
type queue struct {
	url, arn, region string
	visibility       time.Duration
}

// find looks the queue up, for as long as it takes. It returns false when ctx
// is done.
func (r *run) find(ctx context.Context) bool {
	for ctx.Err() == nil {
		q, err := r.lookUp(ctx)
		if err == nil {
			r.up()
			r.queue = q
			return true
		}
		r.down(ctx, err)
	}
	return false
}

func (r *run) lookUp(ctx context.Context) (queue, error) {
	var q queue
	if strings.Contains(r.Queue, "://") {
		q.url = r.Queue
	} else {
		name := r.Queue[strings.LastIndexByte(r.Queue, ':')+1:]
		out, err := r.Client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
		if err != nil {
			return q, fmt.Errorf("find queue %s: %w", name, err)
		}
		q.url = *out.QueueUrl
	}
	out, err := r.Client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl:       &q.url,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn, types.QueueAttributeNameVisibilityTimeout},
	})
	if err != nil {
		return q, fmt.Errorf("read the attributes of queue %s: %w", q.url, err)
	}
	q.arn = out.Attributes[string(types.QueueAttributeNameQueueArn)]
	// arn:partition:sqs:region:account:name
	if parts := strings.Split(q.arn, ":"); len(parts) == 6 {
		q.region = parts[3]
	}
	seconds, err := strconv.Atoi(out.Attributes[string(types.QueueAttributeNameVisibilityTimeout)])
	if err != nil {
		return q, fmt.Errorf("read the visibility time-out of queue %s: %w", q.url, err)
	}
	q.visibility = time.Duration(seconds) * time.Second
	return q, nil
}

// down waits after a poll that has failed, and logs the first of several.
func (r *run) down(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // it was broken off
	}
	if r.failed == 0 {
		r.since = r.Now()
		r.log.Warn("the queue cannot be polled", "err", err)
	}
	r.failed++
	r.Sleep(ctx, pause(r.failed))
}

// up notes that a poll has succeeded.
func (r *run) up() {
	if r.failed > 0 {
		r.log.Info("the queue is polled again", "failures", r.failed, "after", r.Now().Sub(r.since))
	}
	r.failed = 0
}
