package emulatortest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// A mailbox is a queue of a test.
type mailbox struct {
	t      *testing.T
	client *sqs.Client
	url    string
}

// newMailbox makes a queue that no other test has.
func newMailbox(t *testing.T, suffix string, attributes map[string]string) mailbox {
	t.Helper()
	client := sqs.NewFromConfig(Moto(t), func(o *sqs.Options) { o.RetryMaxAttempts = 1 })
	out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: awssdk.String(strings.ReplaceAll(t.Name(), "/", "-") + suffix), Attributes: attributes,
	})
	if err != nil {
		t.Fatal(err)
	}
	return mailbox{t, client, *out.QueueUrl}
}

func (m mailbox) attribute(name sqstypes.QueueAttributeName) string {
	m.t.Helper()
	out, err := m.client.GetQueueAttributes(m.t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &m.url, AttributeNames: []sqstypes.QueueAttributeName{name},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return out.Attributes[string(name)]
}

func (m mailbox) send(entries ...sqstypes.SendMessageBatchRequestEntry) (*sqs.SendMessageBatchOutput, error) {
	for i := range entries {
		entries[i].Id = awssdk.String(fmt.Sprint(i))
	}
	return m.client.SendMessageBatch(m.t.Context(), &sqs.SendMessageBatchInput{QueueUrl: &m.url, Entries: entries})
}

func (m mailbox) mustSend(entries ...sqstypes.SendMessageBatchRequestEntry) {
	m.t.Helper()
	out, err := m.send(entries...)
	if err != nil || len(out.Failed) != 0 {
		m.t.Fatalf("send: %v, %+v", err, out)
	}
}

func (m mailbox) receive(wait time.Duration) []sqstypes.Message {
	m.t.Helper()
	out, err := m.client.ReceiveMessage(m.t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &m.url, MaxNumberOfMessages: 10, WaitTimeSeconds: int32(wait / time.Second),
		MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{sqstypes.MessageSystemAttributeNameAll},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return out.Messages
}

func body(text string) sqstypes.SendMessageBatchRequestEntry {
	return sqstypes.SendMessageBatchRequestEntry{MessageBody: &text}
}

// TestAFailedMessageEndsInTheDeadLetterQueue sends two messages, of which one
// is never deleted: it comes again after its visibility time-out and then goes
// to the dead-letter queue, and the other is gone (case EMU-02).
func TestAFailedMessageEndsInTheDeadLetterQueue(t *testing.T) {
	t.Parallel()
	dead := newMailbox(t, "-dead", nil)
	work := newMailbox(t, "", map[string]string{
		"VisibilityTimeout": "1",
		"RedrivePolicy":     fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":2}`, dead.attribute("QueueArn")),
	})
	work.mustSend(body("good"), body("bad"))

	first := work.receive(0)
	if len(first) != 2 {
		t.Fatalf("received %d messages, want 2", len(first))
	}
	for _, msg := range first {
		if *msg.Body == "bad" {
			continue
		}
		if _, err := work.client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &work.url, ReceiptHandle: msg.ReceiptHandle}); err != nil {
			t.Fatal(err)
		}
	}
	second := work.receive(10 * time.Second)
	if len(second) != 1 || *second[0].Body != "bad" || second[0].Attributes["ApproximateReceiveCount"] != "2" {
		t.Fatalf("second delivery: %+v", second)
	}
	if third := work.receive(2 * time.Second); len(third) != 0 {
		t.Errorf("third delivery: %+v", third)
	}
	buried := dead.receive(0)
	if len(buried) != 1 || *buried[0].Body != "bad" {
		t.Fatalf("dead letters: %+v", buried)
	}
	if source, is := buried[0].Attributes["DeadLetterQueueSourceArn"]; is {
		t.Errorf("moto tells that a dead letter comes from %s: localstack/README.md says that it does not", source)
	}
}

func TestAMessageIsHeldBack(t *testing.T) {
	t.Parallel()
	m := newMailbox(t, "", nil)
	late := body("late")
	late.DelaySeconds = 1
	m.mustSend(late)
	if got := m.receive(0); len(got) != 0 {
		t.Errorf("received %d messages at once", len(got))
	}
	if n := m.attribute("ApproximateNumberOfMessagesDelayed"); n != "1" {
		t.Errorf("%s messages are delayed, want 1", n)
	}
	if got := m.receive(10 * time.Second); len(got) != 1 {
		t.Errorf("received %d messages later, want 1", len(got))
	}
}

func TestAReturnedMessageIsDueAtOnce(t *testing.T) {
	t.Parallel()
	m := newMailbox(t, "", nil)
	m.mustSend(body("x"))
	got := m.receive(0)
	if len(got) != 1 {
		t.Fatalf("received %d messages, want 1", len(got))
	}
	if _, err := m.client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{QueueUrl: &m.url, ReceiptHandle: got[0].ReceiptHandle}); err != nil {
		t.Fatal(err)
	}
	if again := m.receive(0); len(again) != 1 {
		t.Errorf("received %d messages again, want 1", len(again))
	}
}

// TestAStandardQueueHasMessageGroups is how a message names its job.
func TestAStandardQueueHasMessageGroups(t *testing.T) {
	t.Parallel()
	m := newMailbox(t, "", nil)
	e := body("x")
	e.MessageGroupId = awssdk.String("job")
	m.mustSend(e)
	if got := m.receive(0); len(got) != 1 || got[0].Attributes["MessageGroupId"] != "job" {
		t.Errorf("received %+v", got)
	}
}

// TestAQueueTellsItsLimit sends 300 KB to queues of two limits (case EMU-03).
func TestAQueueTellsItsLimit(t *testing.T) {
	t.Parallel()
	long := body(strings.Repeat("x", 300_000))
	wide := newMailbox(t, "-wide", nil)
	if limit := wide.attribute("MaximumMessageSize"); limit != "1048576" {
		t.Errorf("a queue takes %s bytes, want 1 MiB", limit)
	}
	wide.mustSend(long)
	narrow := newMailbox(t, "-narrow", map[string]string{"MaximumMessageSize": "262144"})
	if limit := narrow.attribute("MaximumMessageSize"); limit != "262144" {
		t.Errorf("a queue of 256 KiB says %s", limit)
	}
	if out, err := narrow.send(long); err == nil && len(out.Failed) == 0 {
		t.Error("a queue of 256 KiB took 300 KB")
	}
}

// TestWhatMotoGetsWrongOfSQS fails when moto has got better: then the table in
// localstack/README.md needs a look.
func TestWhatMotoGetsWrongOfSQS(t *testing.T) {
	t.Parallel()
	t.Run("partial failure", func(t *testing.T) {
		m := newMailbox(t, "", nil)
		late := body("too late")
		late.DelaySeconds = 901
		if out, err := m.send(body("good"), late); err == nil {
			t.Errorf("a partial failure can be read: %+v", out)
		}
		if got := m.receive(0); len(got) != 1 {
			t.Errorf("%d messages were accepted, want 1", len(got))
		}
	})
	t.Run("bodies that SQS refuses", func(t *testing.T) {
		m := newMailbox(t, "", nil)
		m.mustSend(body(""), body("\x01"))
	})
	t.Run("one message over the limit", func(t *testing.T) {
		m := newMailbox(t, "", map[string]string{"MaximumMessageSize": "1024"})
		if out, err := m.send(body("good"), body(strings.Repeat("x", 2000))); err == nil {
			t.Errorf("the batch was not refused whole: %+v", out)
		}
	})
	t.Run("redrive from the dead letters", func(t *testing.T) {
		m := newMailbox(t, "", nil)
		_, err := m.client.StartMessageMoveTask(t.Context(), &sqs.StartMessageMoveTaskInput{SourceArn: awssdk.String(m.attribute("QueueArn"))})
		if err == nil {
			t.Error("StartMessageMoveTask works")
		}
	})
}
