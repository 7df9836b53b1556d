package aws

import (
	"context"
	"errors"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/topology"
)

// metered makes the clients of cfg count what they are billed for, by the
// services' own rules and never by what the answer says of itself: an emulator
// may say anything. It counts each attempt that was answered, so that what the
// SDK sends again is counted again; an attempt whose answer was lost is not
// counted, as nobody knows whether it arrived. A nil meter counts nothing.
func metered(cfg awssdk.Config, stack topology.Stack, m *meter.Meter) awssdk.Config {
	if m == nil {
		return cfg
	}
	c := &counter{meter: m, indexes: indexKeys(stack)}
	cfg.APIOptions = append(slices.Clip(cfg.APIOptions), c.add)
	return cfg
}

// A counter is the middleware that counts.
type counter struct {
	meter   *meter.Meter
	indexes map[string][][]string // by table: the key attributes of each index
}

type inputKey struct{}

// add puts the counter into an operation's stack: the start remembers the
// input, and what surrounds the reading of an answer, inside of the retries,
// sees each one.
func (c *counter) add(stack *middleware.Stack) error {
	err := stack.Initialize.Add(middleware.InitializeMiddlewareFunc("SkitterMeterInput", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		return next.HandleInitialize(middleware.WithStackValue(ctx, inputKey{}, in.Parameters), in)
	}), middleware.Before)
	if err != nil {
		return err
	}
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("SkitterMeter", func(
		ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
	) (middleware.DeserializeOutput, middleware.Metadata, error) {
		out, md, err := next.HandleDeserialize(ctx, in)
		if status := statusOf(out.RawResponse); status != 0 {
			c.count(awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx), attempt{
				input: middleware.GetStackValue(ctx, inputKey{}), output: out.Result, status: status, err: err,
			})
		}
		return out, md, err
	}), middleware.Before)
}

// statusOf is the status of an answer, 0 if there was none.
func statusOf(raw any) int {
	if resp, ok := raw.(*smithyhttp.Response); ok && resp != nil && resp.Response != nil {
		return resp.StatusCode
	}
	return 0
}

// An attempt is one HTTP request that was answered.
type attempt struct {
	input, output any // the SDK's types; output may be incomplete if err is set
	status        int
	err           error
}

func (a attempt) failed() bool { return a.err != nil || a.status >= 300 }

func (c *counter) count(service, operation string, a attempt) {
	switch service {
	case sqs.ServiceID:
		c.meter.Add(service, operation, meter.SQSRequest, sqsRequests(a))
	case dynamodb.ServiceID:
		reads, writes := c.dynamoUnits(a)
		c.meter.Add(service, operation, meter.ReadUnit, reads)
		c.meter.Add(service, operation, meter.WriteUnit, writes)
	case s3.ServiceID:
		if unit := s3Unit(operation); unit != "" && a.status < 500 {
			c.meter.Add(service, operation, unit, 1)
		}
	}
}

// sqsRequests is what an action is billed as: by its payload, which is what is
// sent or received, bodies and attributes. An action that is refused counts
// too. Source: Amazon SQS pricing; SQS Developer Guide, "Quotas, messages".
func sqsRequests(a attempt) float64 {
	bytes := 0
	switch in := a.input.(type) {
	case *sqs.SendMessageInput:
		bytes = messageSize(in.MessageBody, in.MessageAttributes)
	case *sqs.SendMessageBatchInput:
		for _, e := range in.Entries {
			bytes += messageSize(e.MessageBody, e.MessageAttributes)
		}
	case *sqs.ReceiveMessageInput:
		if out, ok := a.output.(*sqs.ReceiveMessageOutput); ok && !a.failed() {
			for _, m := range out.Messages {
				bytes += messageSize(m.Body, m.MessageAttributes)
			}
		}
	}
	return meter.SQSRequests(bytes)
}

// messageSize is a message's size in bytes: its body, and the name, type and
// value of each attribute of the sender's. Source: SQS Developer Guide, "Amazon
// SQS message metadata".
func messageSize(body *string, attributes map[string]sqstypes.MessageAttributeValue) int {
	size := len(awssdk.ToString(body))
	for name, v := range attributes {
		size += len(name) + len(awssdk.ToString(v.DataType)) + len(awssdk.ToString(v.StringValue)) + len(v.BinaryValue)
	}
	return size
}

// s3Unit is the class of an operation's request, "" for those that are free:
// DELETE and the end of an upload that is given up. A request that S3 itself
// failed (5xx) is free too. Sources: Amazon S3 pricing, "Requests & data
// retrievals"; Amazon S3 User Guide, "Billing for Amazon S3 error responses".
func s3Unit(operation string) meter.Unit {
	starts := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(operation, p) })
	}
	switch {
	case starts("Delete", "Abort"):
		return ""
	case starts("Get", "Head", "Select"):
		return meter.S3Get
	}
	return meter.S3Put
}

// as returns the error of that type in err's chain, or nil.
func as[E error](err error) (found E) {
	errors.As(err, &found)
	return found
}
