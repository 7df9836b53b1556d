// Package provision creates a stack's queues, tables and bucket at an
// endpoint, and removes them: for an emulator, and for tests. In the cloud
// the deployment does it.
//
// It is idempotent: what is there is brought up to date, and what is as it
// should be is left alone. What an emulator does not know, and what nothing
// but money or safety depends on, is passed over away from AWS.
package provision

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/skitterhq/skitter/shared/topology"
)

const (
	// patience is how long the first calls may take in all: what goes to a
	// wrong endpoint ends after it.
	patience = 8 * time.Second
	// tries and maxBackoff bound what a call that fails costs.
	tries      = 3
	maxBackoff = time.Second
	// readyTime is how long a table, index or bucket may take to be ready:
	// some seconds as a rule, minutes for an index of a table that is full.
	readyTime = 10 * time.Minute
	// look is how long is waited between two looks at what is being made, at
	// first; it doubles up to maxLook.
	look    = 20 * time.Millisecond
	maxLook = 2 * time.Second
)

// A provisioner has the clients of one run.
type provisioner struct {
	stack topology.Stack
	sqs   *sqs.Client
	rows  *dynamodb.Client
	s3    *s3.Client
	// region is where a bucket is made.
	region string
	// emulated says that the endpoint is not AWS.
	emulated bool
	// patience is how long the first calls may take in all.
	patience time.Duration
}

func newProvisioner(cfg awssdk.Config, stack topology.Stack) *provisioner {
	cfg = cfg.Copy()
	cfg.Retryer = func() awssdk.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff = tries, maxBackoff
		})
	}
	p := &provisioner{
		stack: stack, region: cfg.Region, patience: patience,
		sqs: sqs.NewFromConfig(cfg), rows: dynamodb.NewFromConfig(cfg),
	}
	p.s3 = s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = o.BaseEndpoint != nil })
	p.emulated = p.sqs.Options().BaseEndpoint != nil
	return p
}

// Create makes what of a stack is missing at the endpoint of a configuration,
// and brings up to date what is there. The first thing that fails ends it; its
// error is one line that names it and the endpoint. A wrong endpoint, and
// credentials that are refused, fail within ten seconds.
func Create(ctx context.Context, cfg awssdk.Config, stack topology.Stack) error {
	p := newProvisioner(cfg, stack)
	if err := p.reach(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{p.createQueues, p.createTables, p.createBucket} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes a stack with all that is in it: messages, rows and objects.
// What is not there is passed over.
func Delete(ctx context.Context, cfg awssdk.Config, stack topology.Stack) error {
	p := newProvisioner(cfg, stack)
	if err := p.reach(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{p.deleteQueues, p.deleteTables, p.deleteBucket} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Find returns an error if a stack is not there, as told by the table of its
// jobs, or cannot be reached. It fails within ten seconds.
func Find(ctx context.Context, cfg awssdk.Config, stack topology.Stack) error {
	p := newProvisioner(cfg, stack)
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	name := stack.TableName(topology.TableJobs)
	table, err := p.describe(ctx, name)
	if err != nil {
		return p.tableFailure("look for table "+name, err)
	}
	if table == nil {
		return p.tableFailure("look for stack "+stack.Name, errors.New("it is not there (no table "+name+")"))
	}
	return nil
}

// reach makes a call of each service, which must succeed soon: it asks for
// what is made first.
func (p *provisioner) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	if len(p.stack.Queues) > 0 {
		name := p.stack.QueueName(p.queues()[0].Name)
		if _, err := p.queueURL(ctx, name); err != nil {
			return p.queueFailure("look for queue "+name, err)
		}
	}
	if len(p.stack.Tables) > 0 {
		name := p.stack.TableName(p.stack.Tables[0].Name)
		if _, err := p.describe(ctx, name); err != nil {
			return p.tableFailure("look for table "+name, err)
		}
	}
	name := p.stack.BucketName()
	if _, err := p.hasBucket(ctx, name); err != nil {
		return p.bucketFailure("look for bucket "+name, err)
	}
	return nil
}

func (p *provisioner) queueFailure(do string, err error) error {
	return p.fail(do, p.sqs.Options().BaseEndpoint, err)
}

func (p *provisioner) tableFailure(do string, err error) error {
	return p.fail(do, p.rows.Options().BaseEndpoint, err)
}

func (p *provisioner) bucketFailure(do string, err error) error {
	return p.fail(do, p.s3.Options().BaseEndpoint, err)
}

// fail says in one line what could not be done, and where.
func (p *provisioner) fail(do string, endpoint *string, err error) error {
	where := "in " + p.region
	if endpoint != nil {
		where = "at " + *endpoint
	}
	return &failure{text: fmt.Sprintf("%s %s: %s", do, where, reason(err)), cause: err}
}

// A failure is an SDK's error in one line.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.cause }

// refusals are the codes with which AWS refuses credentials. Source: "Common
// Errors" in the API References of SQS and DynamoDB, "Error responses" in
// that of S3.
var refusals = []string{
	"InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId", "SignatureDoesNotMatch",
	"InvalidSignatureException", "MissingAuthenticationToken", "MissingAuthenticationTokenException",
	"IncompleteSignature", "ExpiredToken", "ExpiredTokenException", "InvalidToken", "NotAuthorized",
}

// reason is what is behind an SDK's error, without what it was wrapped in.
func reason(err error) string {
	var api smithy.APIError
	var op *net.OpError
	var dns *net.DNSError
	var garbled *smithy.DeserializationError
	text := err.Error()
	switch {
	case errors.As(err, &api) && slices.Contains(refusals, api.ErrorCode()):
		text = fmt.Sprintf("the credentials are refused (%s: %s)", api.ErrorCode(), api.ErrorMessage())
	case errors.As(err, &api):
		text = fmt.Sprintf("%s: %s", api.ErrorCode(), api.ErrorMessage())
	case errors.As(err, &garbled):
		text = "what answers there does not speak AWS's protocol: " + garbled.Error()
	case errors.As(err, &dns):
		text = "nothing answers there: " + dns.Error()
	case errors.As(err, &op):
		text = "nothing answers there: " + op.Error()
	case strings.Contains(text, "get identity"), strings.Contains(text, "failed to retrieve credentials"):
		text = "there are no credentials: " + text
	case errors.Is(err, context.DeadlineExceeded):
		text = "no answer came in time: " + text
	}
	return strings.Join(strings.Fields(text), " ")
}

// code is that of a service's error, empty for others.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// unknown reports whether an emulator does not know a call: it has no such
// operation, or nothing behind it.
func (p *provisioner) unknown(err error) bool {
	if err == nil || !p.emulated {
		return false
	}
	switch code(err) {
	case "UnknownOperationException", "UnknownOperation", "InvalidAction", "NotImplemented", "NotImplementedError", "MethodNotAllowed", "501", "InternalFailure":
		return true
	}
	return false
}

// until waits until done says so.
func until(ctx context.Context, done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for pause := look; ; pause = min(2*pause, maxLook) {
		ok, err := done(ctx)
		if err != nil || ok {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
