package sqspoll

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/skitterhq/skitter/shared/topology"
)

// pace is the shortest time from one poll that gave nothing to the next: SQS
// takes only whole seconds to wait, and some emulators do not wait.
const pace = 250 * time.Millisecond

// collect returns the next batch. It is empty when ctx is done before there is
// a message.
func (r *run) collect(ctx context.Context) batch {
	var b batch
	r.fill(&b)
	end := r.Now().Add(r.Window)
	for ctx.Err() == nil && len(r.rest) == 0 && len(b.records) < r.Batch {
		wait := r.Wait
		if len(b.records) > 0 {
			left := end.Sub(r.Now())
			if left <= 0 {
				break
			}
			wait = min(wait, left)
		}
		began := r.Now()
		got, err := r.receive(ctx, min(r.Batch-len(b.records), topology.MaxBatch), wait)
		switch {
		case err != nil && len(b.records) > 0:
			return b // the next poll reports what is wrong, if it still is
		case err != nil:
			r.down(ctx, err)
			continue
		}
		r.up()
		if len(got) == 0 {
			if left := min(wait, pace) - r.Now().Sub(began); left > 0 {
				r.Sleep(ctx, left)
			}
			continue
		}
		if len(b.records) == 0 {
			end = r.Now().Add(r.Window)
		}
		r.rest = got
		r.fill(&b)
	}
	return b
}

// fill moves the rest into a batch as far as it fits.
func (r *run) fill(b *batch) {
	for len(r.rest) > 0 && len(b.records) < r.Batch && b.add(r.rest[0]) {
		r.rest = r.rest[1:]
	}
}

// slack is how much longer than it was told to wait a poll may take.
const slack = 30 * time.Second

// receive polls once. A poll is not broken off when ctx is done: a server may
// not notice, and would give messages to nobody.
func (r *run) receive(ctx context.Context, most int, wait time.Duration) ([]record, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait+slack)
	defer cancel()
	r.counts.polls.Add(1)
	out, err := r.Client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:                    &r.queue.url,
		MaxNumberOfMessages:         int32(most),
		WaitTimeSeconds:             int32(wait / time.Second),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		MessageAttributeNames:       []string{"All"},
	})
	if err != nil {
		return nil, err
	}
	now := r.Now()
	records := make([]record, len(out.Messages))
	for i, m := range out.Messages {
		records[i] = r.queue.record(m, now)
		if n := m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)]; n != "" && n != "1" {
			r.counts.again.Add(1)
		}
	}
	r.counts.messages.Add(int64(len(records)))
	return records, nil
}
