package sqspoll_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/emulatortest"
	"github.com/skitterhq/skitter/shared/sqspoll"
)

func TestInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { deliver(t, awstest.New(nil).Config(), "memory", true) })
}

func TestMoto(t *testing.T) {
	if testing.Short() {
		t.Skip("an emulator takes seconds")
	}
	deliver(t, emulatortest.Moto(t), "sqspoll-moto", false)
}

// A work is a queue whose messages go to its dead-letter queue when they were
// received twice, and what two mappings made of them.
type work struct {
	client     *sqs.Client
	live, dead string // URLs

	mu      sync.Mutex
	counts  map[string][]string // the receive counts of each body
	buried  map[string]string   // the source of each dead body
	batches int
}

// deliver sends 23 messages, of which one always fails. Not every emulator
// names the source of a dead letter.
func deliver(t *testing.T, cfg awssdk.Config, name string, namesSource bool) {
	w := &work{client: sqs.NewFromConfig(cfg), counts: map[string][]string{}, buried: map[string]string{}}
	w.dead = w.create(t, name+"-dead", "")
	arn := fmt.Sprintf("arn:aws:sqs:%s:%s:%s-dead", cfg.Region, account(t, w.client, w.dead), name)
	w.live = w.create(t, name, fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":2}`, arn))
	for i := range 23 {
		_, err := w.client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &w.live, MessageBody: awssdk.String(body(i))})
		if err != nil {
			t.Fatal(err)
		}
	}

	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, m := range []*sqspoll.Mapping{
		{Client: w.client, Queue: name, Batch: 10, Concurrency: 2, Wait: time.Second, Invoke: w.work},
		{Client: w.client, Queue: arn, Batch: 10, Concurrency: 2, Wait: time.Second, Invoke: w.bury},
	} {
		all.Go(func() {
			if err := m.Run(ctx); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	for end := time.Now().Add(30 * time.Second); !w.over() && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	all.Wait()

	for i := range 23 {
		want := "[1]"
		if i == 7 {
			want = "[1 2]"
		}
		if got := fmt.Sprint(w.counts[body(i)]); got != want {
			t.Errorf("%s was received with the counts %s; want %s", body(i), got, want)
		}
	}
	source := arn[:len(arn)-len("-dead")]
	if !namesSource {
		source = ""
	}
	if got, buried := w.buried[body(7)]; len(w.buried) != 1 || !buried || got != source {
		t.Errorf("dead letters %v; want %s from %q", w.buried, body(7), source)
	}
	if w.batches > 23 {
		t.Errorf("%d invocations for 23 messages", w.batches)
	}
	for _, url := range []string{w.live, w.dead} {
		if n := waiting(t, w.client, url); n != 0 {
			t.Errorf("%d messages are left in %s", n, url)
		}
	}
}

func body(i int) string { return fmt.Sprintf(`{"n":%d,"html":"<p>&amp;"}`, i) }

func (w *work) create(t *testing.T, name, redrive string) string {
	attributes := map[string]string{"VisibilityTimeout": "1"}
	if redrive != "" {
		attributes["RedrivePolicy"] = redrive
	}
	out, err := w.client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	return *out.QueueUrl
}

// An event is what a function reads of Lambda's.
type event struct {
	Records []struct {
		MessageID  string            `json:"messageId"`
		Body       string            `json:"body"`
		Attributes map[string]string `json:"attributes"`
	}
}

func (w *work) work(_ context.Context, data []byte) ([]byte, error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.batches++
	failures := []map[string]string{}
	for _, r := range e.Records {
		w.counts[r.Body] = append(w.counts[r.Body], r.Attributes["ApproximateReceiveCount"])
		if r.Body == body(7) {
			failures = append(failures, map[string]string{"itemIdentifier": r.MessageID})
		}
	}
	return json.Marshal(map[string]any{"batchItemFailures": failures})
}

func (w *work) bury(_ context.Context, data []byte) ([]byte, error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range e.Records {
		w.buried[r.Body] = r.Attributes["DeadLetterQueueSourceArn"]
	}
	return nil, nil
}

func (w *work) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.counts) == 23 && len(w.buried) > 0
}

func attribute(t *testing.T, c *sqs.Client, url string, name types.QueueAttributeName) string {
	t.Helper()
	out, err := c.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{name}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes[string(name)]
}

func account(t *testing.T, c *sqs.Client, url string) string {
	t.Helper()
	var account string
	arn := attribute(t, c, url, types.QueueAttributeNameQueueArn)
	if _, err := fmt.Sscanf(arn, "arn:aws:sqs:us-east-1:%12s", &account); err != nil {
		t.Fatalf("%s: %v", arn, err)
	}
	return account
}

func waiting(t *testing.T, c *sqs.Client, url string) (n int) {
	t.Helper()
	for _, name := range []types.QueueAttributeName{types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible} {
		count, err := strconv.Atoi(attribute(t, c, url, name))
		if err != nil {
			t.Fatal(err)
		}
		n += count
	}
	return n
}
