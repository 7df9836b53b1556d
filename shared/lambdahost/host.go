// Package lambdahost puts the engine's stages behind Lambda: it reads Lambda's
// events, gives each invocation the time that it may work for, and answers with
// the messages that are to be delivered again.
//
// A host is made once an environment. What an invocation of one job leaves in
// it is of no account to the next: the engine keeps what it keeps by job.
package lambdahost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

// A Stage works off a batch of messages and returns the IDs of those that are to
// be delivered again.
type Stage func(ctx context.Context, from queue.Name, batch []queue.Delivery) []string

// Config is what a host is made of.
type Config struct {
	Stack topology.Stack
	// Function is the name of the function in the stack.
	Function string
	// Stage works what comes from the function's queues.
	Stage Stage
	// Open fetches what was too long for its message, and returns the IDs of
	// those that it cannot have.
	Open func(ctx context.Context, batch []queue.Delivery) ([]queue.Delivery, []string)
	// Control is what control does beside; nil in the other functions.
	Control *Control
	// Meter counts what AWS bills; nil counts nothing.
	Meter *meter.Meter
	Log   *slog.Logger
	// Metrics gets a line of embedded metrics for each invocation; nil gets
	// none.
	Metrics io.Writer
	// RequestID, if not nil, is told the ID of the invocation that begins.
	RequestID func(id string)
	Now       func() time.Time
}

// A Host is a [lambda.Handler].
type Host struct {
	Config
	function topology.Function
}

var _ lambda.Handler = (*Host)(nil)

// New returns a host.
func New(c Config) *Host { return &Host{Config: c, function: c.Stack.Function(c.Function)} }

// Invoke works one event.
func (h *Host) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if lc, ok := lambdacontext.FromContext(ctx); ok && h.RequestID != nil {
		h.RequestID(lc.AwsRequestID)
	}
	ctx, cancel := h.working(ctx)
	defer cancel()
	begun := h.Now()
	var m metrics
	answer, err := h.work(ctx, payload, &m)
	h.emit(m, h.Now().Sub(begun))
	if err != nil {
		h.Log.Error("event not worked", "function", h.Function, "err", err)
		return nil, err
	}
	return json.Marshal(answer)
}

// working bounds ctx to the time that an invocation works for: what remains
// until Lambda's deadline is for sending on what is done.
func (h *Host) working(ctx context.Context) (context.Context, context.CancelFunc) {
	end := h.Now().Add(h.function.Timeout)
	if deadline, ok := ctx.Deadline(); ok {
		end = deadline
	}
	return context.WithDeadline(ctx, end.Add(-h.function.Reserve))
}

// An event is as much of one as tells its kind.
type event struct {
	Records []struct {
		EventSource string `json:"eventSource"`
	} `json:"Records"`
	// Skitter names what one of our own schedules asks for.
	Skitter    string `json:"skitter"`
	DetailType string `json:"detail-type"`
	// RequestContext is there in what comes from a function URL.
	RequestContext *struct {
		HTTP *struct{} `json:"http"`
	} `json:"requestContext"`
}

// work tells the event's kind and works it. The answer is encoded as JSON.
func (h *Host) work(ctx context.Context, payload []byte, m *metrics) (any, error) {
	if h.Control == nil {
		return h.messages(ctx, payload, m) // large, and not to be read twice
	}
	var ev event
	if err := json.Unmarshal(payload, &ev); err != nil {
		return nil, fmt.Errorf("event of function %s: %w", h.Function, err)
	}
	switch {
	case len(ev.Records) > 0 && ev.Records[0].EventSource == sqsSource:
		return h.messages(ctx, payload, m)
	case ev.Skitter != "":
		return h.scheduled(ctx, ev.Skitter, payload)
	case ev.RequestContext != nil && ev.RequestContext.HTTP != nil:
		return h.call(ctx, payload)
	case ev.DetailType != "":
		return h.bus(ctx, payload)
	}
	return nil, errors.New("event of function control is none of: messages of SQS, a schedule, a call of the function URL, an event of EventBridge")
}
