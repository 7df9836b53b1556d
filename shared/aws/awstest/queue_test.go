package awstest_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/skitterhq/skitter/shared/aws/awstest"
)

func newQueue(t *testing.T, b *awstest.Backend, name string, attributes map[string]string) (*sqs.Client, *string) {
	t.Helper()
	client := sqs.NewFromConfig(b.Config())
	out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	return client, out.QueueUrl
}

func receive(t *testing.T, client *sqs.Client, url *string) []types.Message {
	t.Helper()
	out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: url, MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Messages
}

func TestDelayVisibilityAndRedriveRunInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := awstest.New(time.Now)
		_, deadURL := newQueue(t, b, "dead", nil)
		client, url := newQueue(t, b, "work", map[string]string{
			"VisibilityTimeout": "60",
			"RedrivePolicy":     `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":"2"}`,
		})
		start := time.Now()
		_, err := client.SendMessage(context.Background(), &sqs.SendMessageInput{
			QueueUrl: url, MessageBody: awssdk.String("hello"), DelaySeconds: 900, MessageGroupId: awssdk.String("job"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := receive(t, client, url); len(got) != 0 {
			t.Fatalf("received before its delay: %v", got)
		}
		if got := b.NextDue("work"); !got.Equal(start.Add(15 * time.Minute)) {
			t.Errorf("due at %v", got)
		}
		for i, count := range []string{"1", "2"} {
			time.Sleep(time.Until(b.NextDue("work")))
			got := receive(t, client, url)
			if len(got) != 1 || *got[0].Body != "hello" || got[0].Attributes["ApproximateReceiveCount"] != count || got[0].Attributes["MessageGroupId"] != "job" {
				t.Fatalf("receive %d: %+v", i, got)
			}
			if again := receive(t, client, url); len(again) != 0 {
				t.Fatalf("receive %d: received although hidden", i)
			}
		}
		time.Sleep(time.Until(b.NextDue("work")))
		if got := receive(t, client, url); len(got) != 0 {
			t.Fatalf("received a third time: %v", got)
		}
		if !b.NextDue("work").IsZero() {
			t.Error("still in its queue")
		}
		got := receive(t, client, deadURL)
		if len(got) != 1 || got[0].Attributes["DeadLetterQueueSourceArn"] != "arn:aws:sqs:us-east-1:000000000000:work" {
			t.Fatalf("in the dead-letter queue: %+v", got)
		}
		if want := 17 * time.Minute; time.Since(start) != want {
			t.Errorf("took %v, want %v", time.Since(start), want)
		}
	})
}

// code is what the SDK shows of an error.
func code(err error) string {
	var e smithy.APIError
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	return ""
}

func entries(bodies ...string) []types.SendMessageBatchRequestEntry {
	var list []types.SendMessageBatchRequestEntry
	for i, body := range bodies {
		list = append(list, types.SendMessageBatchRequestEntry{Id: awssdk.String(strconv.Itoa(i)), MessageBody: awssdk.String(body)})
	}
	return list
}

func TestBatchesHaveLimits(t *testing.T) {
	client, url := newQueue(t, awstest.New(nil), "q", nil)
	half := strings.Repeat("x", 1<<19)
	same := entries("a", "b")
	same[1].Id = same[0].Id
	odd := entries("a")
	odd[0].Id = awssdk.String("a/b")
	for name, c := range map[string]struct {
		entries []types.SendMessageBatchRequestEntry
		code    string
	}{
		"none":       {[]types.SendMessageBatchRequestEntry{}, "AWS.SimpleQueueService.EmptyBatchRequest"},
		"eleven":     {entries(strings.Split("abcdefghijk", "")...), "AWS.SimpleQueueService.TooManyEntriesInBatchRequest"},
		"one MiB":    {entries(half, half), ""},
		"above it":   {entries(half, half, "x"), "AWS.SimpleQueueService.BatchRequestTooLong"},
		"equal IDs":  {same, "AWS.SimpleQueueService.BatchEntryIdsNotDistinct"},
		"illegal ID": {odd, "AWS.SimpleQueueService.InvalidBatchEntryId"},
	} {
		_, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: url, Entries: c.entries})
		if code(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
	var long *types.BatchRequestTooLong
	_, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: url, Entries: entries(half, half, "x")})
	if !errors.As(err, &long) {
		t.Errorf("%v is no BatchRequestTooLong", err)
	}
}

func TestBadEntriesFailAlone(t *testing.T) {
	b := awstest.New(nil)
	client, url := newQueue(t, b, "q", nil)
	batch := entries("good", "a\x00b", "late", "é\t\n\U0001F600")
	batch[2].DelaySeconds = 901
	out, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: url, Entries: batch})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Successful) != 2 || len(out.Failed) != 2 || *out.Failed[0].Code != "InvalidMessageContents" || *out.Failed[1].Code != "InvalidParameterValue" || !out.Failed[0].SenderFault {
		t.Errorf("%+v", out)
	}
	if n := len(b.Messages("q")); n != 2 {
		t.Errorf("%d messages", n)
	}
	_, err = client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url, MessageBody: awssdk.String("a\x1f")})
	var contents *types.InvalidMessageContents
	if !errors.As(err, &contents) {
		t.Errorf("one illegal message: %v", err)
	}
	_, err = client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url, MessageBody: awssdk.String(strings.Repeat("x", 1<<20+1))})
	if code(err) != "InvalidParameterValue" {
		t.Errorf("one long message: %v", err)
	}
}

func TestOldReceiptsArePassedOver(t *testing.T) {
	now := time.Unix(1e9, 0)
	b := awstest.New(func() time.Time { return now })
	client, url := newQueue(t, b, "q", nil)
	if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url, MessageBody: awssdk.String("m")}); err != nil {
		t.Fatal(err)
	}
	first := receive(t, client, url)
	now = now.Add(30 * time.Second)
	_, err := client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{QueueUrl: url, ReceiptHandle: first[0].ReceiptHandle})
	if code(err) != "AWS.SimpleQueueService.MessageNotInflight" {
		t.Errorf("hide one that can be received: %v", err)
	}
	second := receive(t, client, url)
	if len(second) != 1 || *second[0].MessageId != *first[0].MessageId {
		t.Fatalf("%+v", second)
	}
	remove := func(receipt *string) error {
		_, err := client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: url, ReceiptHandle: receipt})
		return err
	}
	if err := remove(first[0].ReceiptHandle); err != nil || len(b.Messages("q")) != 1 {
		t.Errorf("old receipt: %v, %d messages", err, len(b.Messages("q")))
	}
	_, err = client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{QueueUrl: url, ReceiptHandle: first[0].ReceiptHandle})
	if code(err) != "InvalidParameterValue" {
		t.Errorf("hide by an old receipt: %v", err)
	}
	var invalid *types.ReceiptHandleIsInvalid
	if err := remove(awssdk.String("nonsense")); !errors.As(err, &invalid) {
		t.Errorf("nonsense: %v", err)
	}
	if err := remove(second[0].ReceiptHandle); err != nil || len(b.Messages("q")) != 0 {
		t.Errorf("%v, %d messages", err, len(b.Messages("q")))
	}
	if err := remove(second[0].ReceiptHandle); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestVisibilityCanBeChanged(t *testing.T) {
	now := time.Unix(1e9, 0)
	b := awstest.New(func() time.Time { return now })
	client, url := newQueue(t, b, "q", nil)
	if _, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: url, Entries: entries("a", "b", "c")}); err != nil {
		t.Fatal(err)
	}
	got := receive(t, client, url)
	out, err := client.ChangeMessageVisibilityBatch(t.Context(), &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: url, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
		{Id: awssdk.String("a"), ReceiptHandle: got[0].ReceiptHandle, VisibilityTimeout: 0},
		{Id: awssdk.String("b"), ReceiptHandle: got[1].ReceiptHandle, VisibilityTimeout: 100},
		{Id: awssdk.String("c"), ReceiptHandle: got[2].ReceiptHandle, VisibilityTimeout: 43201},
	}})
	if err != nil || len(out.Successful) != 2 || len(out.Failed) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	counts, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: url, AttributeNames: []types.QueueAttributeName{"All"}})
	if err != nil || counts.Attributes["ApproximateNumberOfMessages"] != "1" || counts.Attributes["ApproximateNumberOfMessagesNotVisible"] != "2" {
		t.Errorf("%v, %v", counts.Attributes, err)
	}
	if again := receive(t, client, url); len(again) != 1 || *again[0].Body != "a" {
		t.Errorf("%+v", again)
	}
	now = now.Add(99 * time.Second)
	if again := receive(t, client, url); len(again) != 2 {
		t.Errorf("after 99 s: %d messages, want a and c", len(again))
	}
	now = now.Add(time.Second)
	if again := receive(t, client, url); len(again) != 1 || *again[0].Body != "b" {
		t.Errorf("after 100 s: %+v", again)
	}
}

func TestQueuesAreMadeOnce(t *testing.T) {
	b := awstest.New(nil)
	client, url := newQueue(t, b, "q", map[string]string{"VisibilityTimeout": "60"})
	if _, again := newQueue(t, b, "q", map[string]string{"VisibilityTimeout": "60"}); *again != *url {
		t.Errorf("%s, %s", *again, *url)
	}
	create := func(name string, attributes map[string]string) string {
		_, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		return code(err)
	}
	if got := create("q", map[string]string{"VisibilityTimeout": "61"}); got != "QueueAlreadyExists" {
		t.Error(got)
	}
	if got := create("a b", nil); got != "InvalidParameterValue" {
		t.Error(got)
	}
	if got := create("r", map[string]string{"DelaySeconds": "901"}); got != "InvalidAttributeValue" {
		t.Error(got)
	}
	if got := create("r", map[string]string{"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:none","maxReceiveCount":5}`}); got != "InvalidParameterValue" {
		t.Error(got)
	}
	_, err := client.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: url, Attributes: map[string]string{"VisibilityTimeout": "5"}})
	if err != nil {
		t.Error(err)
	}
	newQueue(t, b, "other", nil)
	list, err := client.ListQueues(t.Context(), &sqs.ListQueuesInput{QueueNamePrefix: awssdk.String("q")})
	if err != nil || len(list.QueueUrls) != 1 || list.QueueUrls[0] != *url {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := client.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: url}); err != nil {
		t.Error(err)
	}
	_, err = client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: awssdk.String("q")})
	var missing *types.QueueDoesNotExist
	if !errors.As(err, &missing) || code(err) != "AWS.SimpleQueueService.NonExistentQueue" {
		t.Errorf("%v, code %s", err, code(err))
	}
}

func TestReceiveWaitsOverASocket(t *testing.T) {
	b := awstest.New(nil)
	server := httptest.NewServer(b)
	defer server.Close()
	cfg := b.Config()
	cfg.BaseEndpoint, cfg.HTTPClient = &server.URL, server.Client()
	client := sqs.NewFromConfig(cfg)
	out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: awssdk.String("q")})
	if err != nil || !strings.HasPrefix(*out.QueueUrl, server.URL) {
		t.Fatalf("%v, %v", out, err)
	}
	got := make(chan int)
	go func() {
		r, err := client.ReceiveMessage(context.Background(), &sqs.ReceiveMessageInput{QueueUrl: out.QueueUrl, WaitTimeSeconds: 20})
		if err != nil {
			t.Error(err)
			got <- 0
			return
		}
		got <- len(r.Messages)
	}()
	for b.Calls()["sqs.ReceiveMessage"] == 0 {
		runtime.Gosched()
	}
	direct := sqs.NewFromConfig(b.Config())
	if _, err := direct.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: out.QueueUrl, MessageBody: awssdk.String("m")}); err != nil {
		t.Fatal(err)
	}
	if n := <-got; n != 1 {
		t.Errorf("received %d", n)
	}
}

func TestOldMessagesAreDropped(t *testing.T) {
	now := time.Unix(1e9, 0)
	b := awstest.New(func() time.Time { return now })
	client, url := newQueue(t, b, "q", map[string]string{"MessageRetentionPeriod": "60"})
	if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url, MessageBody: awssdk.String("m")}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(61 * time.Second)
	if got := receive(t, client, url); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
