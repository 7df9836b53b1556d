package sqspoll_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// visibility is that of the fake's queue.
const visibility = 30 * time.Second

// A fakeSQS is one queue by the clock of package time.
type fakeSQS struct {
	mu       sync.Mutex
	number   int
	messages []*fakeMessage
	// down, if set, is what every call is answered with.
	down error
	// hasty makes polls return at once.
	hasty bool
	// onDelete, if set, answers the n-th call, counted from 1, in part.
	onDelete func(n int, out *sqs.DeleteMessageBatchOutput)

	receives, deletes int
	asked             []int32 // how many messages each poll wanted
}

type fakeMessage struct {
	id, body, receipt string
	visible           time.Time
	count             int
}

func (f *fakeSQS) send(bodies ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, body := range bodies {
		f.number++
		f.messages = append(f.messages, &fakeMessage{id: fmt.Sprintf("m%d", f.number), body: body, visible: time.Now()})
	}
}

// left is what is not deleted.
func (f *fakeSQS) left() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []string
	for _, m := range f.messages {
		ids = append(ids, m.id)
	}
	return ids
}

func (f *fakeSQS) set(down error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

func (f *fakeSQS) polls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.receives
}

func (f *fakeSQS) GetQueueUrl(_ context.Context, in *sqs.GetQueueUrlInput, _ ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return nil, f.down
	}
	url := "http://sqs.example/" + *in.QueueName
	return &sqs.GetQueueUrlOutput{QueueUrl: &url}, nil
}

func (f *fakeSQS) GetQueueAttributes(_ context.Context, in *sqs.GetQueueAttributesInput, _ ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	if want := "http://sqs.example/page"; *in.QueueUrl != want {
		return nil, fmt.Errorf("queue %s; want %s", *in.QueueUrl, want)
	}
	return &sqs.GetQueueAttributesOutput{Attributes: map[string]string{
		"QueueArn":          "arn:aws:sqs:eu-central-1:123456789012:page",
		"VisibilityTimeout": strconv.Itoa(int(visibility / time.Second)),
	}}, nil
}

func (f *fakeSQS) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	f.mu.Lock()
	f.receives++
	f.asked = append(f.asked, in.MaxNumberOfMessages)
	f.mu.Unlock()
	for end := time.Now().Add(time.Duration(in.WaitTimeSeconds) * time.Second); ; {
		out, err := f.receive(int(in.MaxNumberOfMessages))
		if err != nil || len(out.Messages) > 0 || f.hasty || !time.Now().Before(end) {
			return out, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (f *fakeSQS) receive(most int) (*sqs.ReceiveMessageOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := &sqs.ReceiveMessageOutput{}
	if f.down != nil {
		return nil, f.down
	}
	now := time.Now()
	for _, m := range f.messages {
		if m.visible.After(now) || len(out.Messages) == most {
			continue
		}
		m.count++
		m.visible = now.Add(visibility)
		m.receipt = fmt.Sprintf("%s#%d", m.id, m.count)
		out.Messages = append(out.Messages, types.Message{
			MessageId: &m.id, Body: &m.body, ReceiptHandle: new(m.receipt), MD5OfBody: new("md5"),
			Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.count)},
		})
	}
	return out, nil
}

func (f *fakeSQS) DeleteMessageBatch(ctx context.Context, in *sqs.DeleteMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deletes++
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.down != nil {
		return nil, f.down
	}
	if len(in.Entries) == 0 || len(in.Entries) > 10 {
		return nil, fmt.Errorf("%d entries in a batch", len(in.Entries))
	}
	out := &sqs.DeleteMessageBatchOutput{}
	for _, e := range in.Entries {
		out.Successful = append(out.Successful, types.DeleteMessageBatchResultEntry{Id: e.Id})
	}
	if f.onDelete != nil {
		f.onDelete(f.deletes, out)
	}
	for _, ok := range out.Successful {
		i := slices.IndexFunc(in.Entries, func(e types.DeleteMessageBatchRequestEntry) bool { return *e.Id == *ok.Id })
		f.messages = slices.DeleteFunc(f.messages, func(m *fakeMessage) bool { return m.receipt == *in.Entries[i].ReceiptHandle })
	}
	return out, nil
}
