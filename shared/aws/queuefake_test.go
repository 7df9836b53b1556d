package aws

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

const (
	jobOne = crawl.JobUID("111111111111111111111111")
	jobTwo = crawl.JobUID("222222222222222222222222")
)

// A verdict is what a scripted SQS does with an entry of a batch: empty is
// done, "missing" leaves it out of the answer, anything else fails it with
// that code; a "!" before the code makes it the sender's fault.
type verdict string

// scriptedSQS answers batches as a test says, and keeps what it took.
type scriptedSQS struct {
	// judge says what becomes of an entry, by the body or receipt that it
	// has, at the n-th call (from 1) of that kind. Nil does all.
	judge func(call int, what string) verdict
	// fail fails the n-th call (from 1) of that kind as a whole.
	fail func(call int) error
	// maximum is the queue's MaximumMessageSize.
	maximum string
	// inbox is what ReceiveMessage gives, ten at a time.
	inbox []sqstypes.Message

	mu       sync.Mutex
	lookUps  map[string]int
	calls    int
	batches  [][]sqstypes.SendMessageBatchRequestEntry
	accepted []sqstypes.SendMessageBatchRequestEntry
	settled  []string // receipts
	hidden   []int32
}

var _ sqsClient = (*scriptedSQS)(nil)

func (s *scriptedSQS) GetQueueUrl(_ context.Context, in *sqs.GetQueueUrlInput, _ ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lookUps == nil {
		s.lookUps = map[string]int{}
	}
	s.lookUps[*in.QueueName]++
	if strings.HasPrefix(*in.QueueName, "missing-") {
		return nil, &sqstypes.QueueDoesNotExist{}
	}
	return &sqs.GetQueueUrlOutput{QueueUrl: awssdk.String("url:" + *in.QueueName)}, nil
}

func (s *scriptedSQS) GetQueueAttributes(_ context.Context, _ *sqs.GetQueueAttributesInput, _ ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	return &sqs.GetQueueAttributesOutput{Attributes: map[string]string{"MaximumMessageSize": s.maximum}}, nil
}

// batch answers for the entries of a call, by their IDs.
func (s *scriptedSQS) batch(ids, what []string) (done []string, failed []sqstypes.BatchResultErrorEntry, err error) {
	s.calls++
	if s.fail != nil {
		if err := s.fail(s.calls); err != nil {
			return nil, nil, err
		}
	}
	for i, id := range ids {
		v := verdict("")
		if s.judge != nil {
			v = s.judge(s.calls, what[i])
		}
		switch v {
		case "":
			done = append(done, id)
		case "missing":
		default:
			code, own := strings.CutPrefix(string(v), "!")
			failed = append(failed, sqstypes.BatchResultErrorEntry{
				Id: &ids[i], Code: &code, SenderFault: own, Message: awssdk.String("said the script"),
			})
		}
	}
	return done, failed, nil
}

func (s *scriptedSQS) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, in.Entries)
	var ids, what []string
	for _, e := range in.Entries {
		ids, what = append(ids, *e.Id), append(what, *e.MessageBody)
	}
	done, failed, err := s.batch(ids, what)
	if err != nil {
		return nil, err
	}
	out := &sqs.SendMessageBatchOutput{Failed: failed}
	for _, id := range done {
		out.Successful = append(out.Successful, sqstypes.SendMessageBatchResultEntry{Id: awssdk.String(id)})
		s.accepted = append(s.accepted, in.Entries[slices.Index(ids, id)])
	}
	return out, nil
}

func (s *scriptedSQS) ReceiveMessage(_ context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.fail != nil {
		if err := s.fail(s.calls); err != nil {
			return nil, err
		}
	}
	if in.MaxNumberOfMessages < 1 || in.MaxNumberOfMessages > 10 {
		return nil, fmt.Errorf("asked for %d messages", in.MaxNumberOfMessages)
	}
	n := min(len(s.inbox), int(in.MaxNumberOfMessages))
	out := &sqs.ReceiveMessageOutput{Messages: s.inbox[:n]}
	s.inbox = s.inbox[n:]
	return out, nil
}

func (s *scriptedSQS) DeleteMessageBatch(_ context.Context, in *sqs.DeleteMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids, what []string
	for _, e := range in.Entries {
		ids, what = append(ids, *e.Id), append(what, *e.ReceiptHandle)
	}
	done, failed, err := s.batch(ids, what)
	if err != nil {
		return nil, err
	}
	out := &sqs.DeleteMessageBatchOutput{Failed: failed}
	for _, id := range done {
		out.Successful = append(out.Successful, sqstypes.DeleteMessageBatchResultEntry{Id: awssdk.String(id)})
		s.settled = append(s.settled, what[slices.Index(ids, id)])
	}
	return out, nil
}

func (s *scriptedSQS) ChangeMessageVisibilityBatch(_ context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids, what []string
	for _, e := range in.Entries {
		ids, what = append(ids, *e.Id), append(what, *e.ReceiptHandle)
		s.hidden = append(s.hidden, e.VisibilityTimeout)
	}
	done, failed, err := s.batch(ids, what)
	if err != nil {
		return nil, err
	}
	out := &sqs.ChangeMessageVisibilityBatchOutput{Failed: failed}
	for _, id := range done {
		out.Successful = append(out.Successful, sqstypes.ChangeMessageVisibilityBatchResultEntry{Id: awssdk.String(id)})
		s.settled = append(s.settled, what[slices.Index(ids, id)])
	}
	return out, nil
}

// sent are the bodies that were accepted, sorted.
func (s *scriptedSQS) sent() []string {
	var bodies []string
	for _, e := range s.accepted {
		bodies = append(bodies, *e.MessageBody)
	}
	slices.Sort(bodies)
	return bodies
}

// over is a Queue over a scripted SQS whose pauses take no time.
func over(s *scriptedSQS) (q *Queue, blobs *memory.Blobs, pauses *[]time.Duration) {
	blobs, pauses = memory.NewBlobs(), &[]time.Duration{}
	q = newQueueOver(s, topology.Default("t"), blobs)
	var mu sync.Mutex
	q.wait = func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		*pauses = append(*pauses, d)
		return ctx.Err()
	}
	return q, blobs, pauses
}

// numbered are n messages with the bodies m000, m001, …
func numbered(n int) (msgs []queue.Message, bodies []string) {
	for i := range n {
		bodies = append(bodies, fmt.Sprintf("m%03d", i))
		msgs = append(msgs, queue.Message{Job: jobOne, Body: []byte(bodies[i])})
	}
	return msgs, bodies
}

// incoming is a message as SQS gives it.
func incoming(id int, job crawl.JobUID, body string) sqstypes.Message {
	return sqstypes.Message{
		MessageId: awssdk.String("id" + strconv.Itoa(id)), ReceiptHandle: awssdk.String("receipt" + strconv.Itoa(id)), Body: &body,
		Attributes: map[string]string{"MessageGroupId": string(job), "ApproximateReceiveCount": "3"},
	}
}

// keys are those of all blobs.
func keys(t testing.TB, blobs blob.Store) []string {
	t.Helper()
	list, err := blobs.List(t.Context(), "", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
