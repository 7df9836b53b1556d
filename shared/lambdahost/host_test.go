package lambdahost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

// A call is one call of a stage.
type call struct {
	From   queue.Name
	Bodies []string
}

// A probe is a host whose stages note what they are given.
type probe struct {
	*lambdahost.Host
	calls   []call
	dead    []engine.DeadDelivery
	orders  []engine.Order
	sweeps  int
	metrics bytes.Buffer
	log     bytes.Buffer
	// fails are the IDs that the stage returns.
	fails []string
	ctx   context.Context
}

func newProbe(function string) *probe {
	p := new(probe)
	logger := lambdahost.NewLogger(&p.log)
	m := new(meter.Meter)
	c := lambdahost.Config{
		Stack: topology.Default("skitter"), Function: function, Now: time.Now, Meter: m,
		Log: slog.New(logger), RequestID: logger.RequestID, Metrics: &p.metrics,
		Open: func(_ context.Context, batch []queue.Delivery) ([]queue.Delivery, []string) {
			var opened []queue.Delivery
			var failed []string
			for _, d := range batch {
				if string(d.Body) == "claim that is gone" {
					failed = append(failed, d.ID)
					continue
				}
				opened = append(opened, d)
			}
			return opened, failed
		},
		Stage: func(ctx context.Context, from queue.Name, batch []queue.Delivery) []string {
			p.ctx = ctx
			m.Add("SQS", "SendMessageBatch", meter.SQSRequest, 2)
			var bodies []string
			for _, d := range batch {
				bodies = append(bodies, string(d.Body))
			}
			p.calls = append(p.calls, call{from, bodies})
			return p.fails
		},
	}
	if function == topology.Control {
		c.Control = &lambdahost.Control{
			DeadLetters: func(_ context.Context, letters []engine.DeadDelivery) []string {
				p.dead = append(p.dead, letters...)
				return p.fails
			},
			Sweep: func(context.Context) error { p.sweeps++; return nil },
			Create: func(_ context.Context, o engine.Order) (crawl.Job, bool, error) {
				p.orders = append(p.orders, o)
				if o.Spec.Spider == "unknown" {
					return crawl.Job{}, false, errors.New(`unknown spider "unknown"`)
				}
				return crawl.Job{Name: o.Name, UID: "uid"}, true, nil
			},
			Object: func(_ context.Context, bucket, key string) ([]byte, error) {
				switch key {
				case "start/quotes/urls.txt":
					return []byte("# the first two\nhttp://a.example/\n\n  http://b.example/  \n"), nil
				case "start/shop/order.json":
					return []byte(`{"spider":"shop","job":"mine","args":{"a":"b"}}`), nil
				}
				return nil, errors.New("no such object in " + bucket)
			},
			API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err := r.ParseForm(); err != nil {
					http.Error(w, err.Error(), http.StatusBadRequest)
					return
				}
				w.Header().Set("Content-Type", "text/plain")
				w.WriteHeader(http.StatusTeapot)
				_, _ = w.Write([]byte(r.Method + " " + r.URL.Path + " " + r.Form.Encode()))
			}),
			Project: "default",
		}
	}
	p.Host = lambdahost.New(c)
	return p
}

func arn(name string) string { return "arn:aws:sqs:us-east-1:000000000000:skitter-" + name }

// record is a message of SQS as Lambda delivers it.
func record(id, from, body, receives string) events.SQSMessage {
	return events.SQSMessage{
		MessageId: id, Body: body, ReceiptHandle: "r" + id, EventSource: "aws:sqs", EventSourceARN: arn(from),
		Attributes: map[string]string{"ApproximateReceiveCount": receives, "MessageGroupId": "job"},
	}
}

func (p *probe) send(t *testing.T, ctx context.Context, event any) (string, error) {
	t.Helper()
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := p.Invoke(ctx, payload)
	return string(answer), err
}

// What a stage returns, and what cannot be opened, is to be delivered again; all
// else is deleted.
func TestPartialFailures(t *testing.T) {
	p := newProbe(topology.Fetch)
	p.fails = []string{"2"}
	answer, err := p.send(t, t.Context(), events.SQSEvent{Records: []events.SQSMessage{
		record("1", "request", "one", "1"), record("2", "request", "two", "3"), record("3", "request", "claim that is gone", "1"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"batchItemFailures":[{"itemIdentifier":"3"},{"itemIdentifier":"2"}]}`; answer != want {
		t.Errorf("answer %s, want %s", answer, want)
	}
	if diff := cmp.Diff([]call{{"request", []string{"one", "two"}}}, p.calls); diff != "" {
		t.Errorf("calls (-want, +got):\n%s", diff)
	}
}

func TestABatchWithoutFailures(t *testing.T) {
	p := newProbe(topology.Parse)
	answer, err := p.send(t, t.Context(), events.SQSEvent{Records: []events.SQSMessage{record("1", "page", "one", "1")}})
	if err != nil || answer != `{"batchItemFailures":null}` {
		t.Errorf("answer %s, %v", answer, err)
	}
}

// Dead letters are told apart by their queue, and where they came from by an
// attribute that not every emulator has.
func TestDeadLetters(t *testing.T) {
	p := newProbe(topology.Control)
	known := record("1", "dead", "one", "1")
	known.Attributes["DeadLetterQueueSourceArn"] = arn("request-low")
	p.fails = []string{"2"}
	answer, err := p.send(t, t.Context(), events.SQSEvent{Records: []events.SQSMessage{known, record("2", "dead", "two", "1")}})
	if err != nil || answer != `{"batchItemFailures":[{"itemIdentifier":"2"}]}` {
		t.Errorf("answer %s, %v", answer, err)
	}
	if len(p.dead) != 2 || p.dead[0].From != queue.RequestLow || p.dead[1].From != "" || len(p.calls) != 0 {
		t.Errorf("dead letters %+v, calls %v", p.dead, p.calls)
	}
}

// The work ends before Lambda ends the invocation.
func TestTheWorkEndsBeforeTheInvocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(topology.Fetch)
		ctx, cancel := context.WithTimeout(t.Context(), 75*time.Second)
		defer cancel()
		if _, err := p.send(t, ctx, events.SQSEvent{Records: []events.SQSMessage{record("1", "request", "one", "1")}}); err != nil {
			t.Fatal(err)
		}
		if deadline, ok := p.ctx.Deadline(); !ok || time.Until(deadline) != time.Minute {
			t.Errorf("the stage works until %v, want a minute from now", deadline)
		}
	})
}

func TestEachLineHasTheRequestID(t *testing.T) {
	p := newProbe(topology.Control)
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "the-first"})
	if _, err := p.send(t, ctx, map[string]any{"skitter": "start", "spider": "quotes"}); err != nil {
		t.Fatal(err)
	}
	ctx = lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "the-second"})
	if _, err := p.send(t, ctx, map[string]any{"skitter": "dance"}); err == nil {
		t.Fatal("no error")
	}
	var ids []string
	for line := range strings.Lines(p.log.String()) {
		var entry struct{ RequestID, Message, Level, Timestamp string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if entry.Message == "" || entry.Level == "" || entry.Timestamp == "" {
			t.Errorf("line without what Lambda's format wants: %s", line)
		}
		ids = append(ids, entry.RequestID)
	}
	if !slices.Equal(ids, []string{"the-first", "the-second"}) {
		t.Errorf("request IDs %v", ids)
	}
}

// Metrics have no dimension but stack and function, and a sweep has none.
func TestMetrics(t *testing.T) {
	p := newProbe(topology.Fetch)
	p.fails = []string{"2"}
	if _, err := p.send(t, t.Context(), events.SQSEvent{Records: []events.SQSMessage{
		record("1", "request", "http://secret.example/", "1"), record("2", "request", "two", "2"),
	}}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(p.metrics.String(), "\n"); n != 1 {
		t.Fatalf("%d lines of metrics, want 1", n)
	}
	var line map[string]any
	if err := json.Unmarshal(p.metrics.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"Messages": 2.0, "Failed": 1.0, "Redelivered": 1.0, "SQSRequests": 2.0, "Stack": "skitter", "Function": "fetch"} {
		if line[name] != want {
			t.Errorf("%s is %v, want %v", name, line[name], want)
		}
	}
	if !strings.Contains(p.metrics.String(), `"Dimensions":[["Stack","Function"]]`) || strings.Contains(p.metrics.String(), "secret") {
		t.Errorf("metrics: %s", p.metrics.String())
	}
	control := newProbe(topology.Control)
	if _, err := control.send(t, t.Context(), map[string]string{"skitter": "sweep"}); err != nil || control.sweeps != 1 {
		t.Errorf("%d sweeps, %v", control.sweeps, err)
	}
	if control.metrics.Len() > 0 {
		t.Errorf("a sweep has metrics: %s", control.metrics.String())
	}
}

func TestWhatIsNoEventOfTheFunctionIsRefused(t *testing.T) {
	for _, test := range []struct{ function, event, want string }{
		{topology.Fetch, `{"skitter":"sweep"}`, "function fetch takes events of SQS alone"},
		{topology.Control, `{"hello":"world"}`, "is none of: messages of SQS, a schedule, a call of the function URL, an event of EventBridge"},
		{topology.Control, `nonsense`, "event of function control: "},
		{topology.Control, `{"skitter":"start","spider":"quotes","setings":{}}`, `unknown field "setings"; there are spider, args, settings`},
		{topology.Control, `{"skitter":"start"}`, "the spider is missing"},
		{topology.Control, `{"skitter":"start","spider":"unknown"}`, `start a job of spider unknown: unknown spider "unknown"`},
		{topology.Control, `{"detail-type":"Object Created","source":"aws.s3","detail":{"bucket":{"name":"b"},"object":{"key":"else/x"}}}`, "its key is to be start/SPIDER/NAME"},
		{topology.Control, `{"detail-type":"Object Created","source":"aws.s3","detail":{"bucket":{"name":"b"},"object":{"key":"start/quotes/gone"}}}`, "no such object in b"},
	} {
		_, err := newProbe(test.function).Invoke(t.Context(), []byte(test.event))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.event, err, test.want)
		}
	}
}
