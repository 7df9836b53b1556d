package lambdahost_test

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/skitterhq/skitter/shared/assembly/cloud"
	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

// A memoryStack is a stack in memory whose four functions are worked in turn,
// one full batch after the other.
type memoryStack struct {
	backend *awstest.Backend
	stack   topology.Stack
	store   *aws.Store
	cloud   *cloud.Cloud
	meter   *meter.Meter
	hosts   map[string]*lambdahost.Host
	// around, if not nil, stands round each invocation.
	around func(function string, invoke func())
}

func newMemoryStack(t testing.TB, p project.Project, wrap func(awssdk.HTTPClient) awssdk.HTTPClient) *memoryStack {
	t.Helper()
	s := &memoryStack{
		backend: awstest.New(time.Now), stack: topology.Default("memory"), meter: new(meter.Meter),
		hosts: make(map[string]*lambdahost.Host),
	}
	cfg := s.backend.Config()
	cfg.HTTPClient = wrap(cfg.HTTPClient)
	if err := provision.Create(t.Context(), cfg, s.stack); err != nil {
		t.Fatal(err)
	}
	s.store = aws.New(aws.Config{AWS: cfg, Stack: s.stack, Now: time.Now, Meter: s.meter})
	allow, err := handlers.ParseNetworks("127.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	guard := handlers.Guard{Allow: allow}
	for _, f := range s.stack.Functions {
		host, c, err := lambdahost.NewFunction(f.Name, lambdahost.Deployment{
			Store: s.store, Stack: s.stack, Project: p, Guard: guard.Check, ProxyGuard: guard.CheckProxy,
			API: func(*cloud.Cloud) http.Handler { return http.NotFoundHandler() },
			Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		s.hosts[f.Name], s.cloud = host, c
	}
	return s
}

func (s *memoryStack) ended(t testing.TB, uid crawl.JobUID) bool {
	messages := 0
	for _, q := range s.stack.Queues {
		messages += len(s.backend.Messages(s.stack.QueueName(q.Name)))
	}
	if messages > 0 {
		return false
	}
	job, err := s.cloud.Jobs.Get(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	if !job.State.Ended() {
		t.Fatalf("the queues are empty, and the job is %s", job.State)
	}
	return true
}

// step works off one batch of the queue that is the fullest by its batches.
func (s *memoryStack) step(t testing.TB) {
	type source struct {
		topology.Source
		function string
		fill     float64
	}
	var sources []source
	for _, f := range s.stack.Functions {
		for _, src := range f.Sources {
			n := len(s.backend.Messages(s.stack.QueueName(src.Queue)))
			sources = append(sources, source{src, f.Name, float64(n) / float64(src.Batch)})
		}
	}
	fullest := slices.MaxFunc(sources, func(x, y source) int { return cmp.Compare(x.fill, y.fill) })
	batch, err := s.store.Queue().Receive(t.Context(), queue.Name(fullest.Queue), "", fullest.Batch)
	if err != nil {
		t.Fatal(err)
	}
	if len(batch) == 0 {
		time.Sleep(10 * time.Millisecond) // what there is is delayed
		return
	}
	var ev events.SQSEvent
	receipts := make([]string, 0, len(batch))
	for _, d := range batch {
		receipts = append(receipts, d.Receipt)
		ev.Records = append(ev.Records, events.SQSMessage{
			MessageId: d.ID, ReceiptHandle: d.Receipt, Body: string(d.Body), EventSource: "aws:sqs",
			EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:" + s.stack.QueueName(fullest.Queue),
			Attributes:     map[string]string{"ApproximateReceiveCount": strconv.Itoa(d.Receives), "MessageGroupId": string(d.Job)},
		})
	}
	payload, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	s.invoke(t, fullest.function, payload)
	if err := s.store.Queue().Delete(t.Context(), queue.Name(fullest.Queue), receipts); err != nil {
		t.Fatal(err)
	}
}

func (s *memoryStack) invoke(t testing.TB, function string, payload []byte) {
	ctx, cancel := context.WithTimeout(t.Context(), s.stack.Function(function).Timeout)
	defer cancel()
	var response []byte
	var err error
	work := func() { response, err = s.hosts[function].Invoke(ctx, payload) }
	if s.around != nil {
		s.around(function, work)
	} else {
		work()
	}
	var answer events.SQSEventResponse
	if err == nil {
		err = json.Unmarshal(response, &answer)
	}
	if err != nil || len(answer.BatchItemFailures) > 0 {
		t.Fatalf("function %s answered %s, %v", function, response, err)
	}
}
