// Package aws serves the ports on AWS: SQS holds the queues, DynamoDB the
// rows, S3 the bytes. What is created where, package topology says; folder
// provision creates it at an endpoint.
//
// The adapters hold no logic. They know how the services fail: every entry of
// a batch is looked at and what failed is sent again, unprocessed keys are
// asked for again with backoff, and a conditional write whose answer was lost
// is recognized by what stands there.
package aws

import (
	"context"
	"net/url"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/topology"
)

// Config says where a stack is.
type Config struct {
	// AWS has region, credentials and, away from AWS, the endpoint.
	AWS   awssdk.Config
	Stack topology.Stack
	// Now is the clock that rows expire by.
	Now func() time.Time
	// Meter counts what the calls are billed for. Nil counts nothing.
	Meter *meter.Meter
}

// A Store serves all ports of one stack. It is made once in a process and is
// safe for concurrent use.
type Store struct {
	stack topology.Stack
	now   func() time.Time
	rows  rowsClient
	sleep func(context.Context, time.Duration) error
	queue *Queue
	blobs *Blobs
	jobs  *Jobs
	puts  putClock
}

// New returns the ports of a stack. It makes no call.
func New(c Config) *Store {
	cfg := ForClient(metered(c.AWS.Copy(), c.Stack, c.Meter))
	s := &Store{stack: c.Stack, now: c.Now, rows: dynamodb.NewFromConfig(cfg, patient(cfg)), sleep: waitFor}
	s.blobs = &Blobs{
		bucket: c.Stack.BucketName(),
		client: s3.NewFromConfig(cfg, func(o *s3.Options) {
			// An emulator has no host name for each bucket.
			o.UsePathStyle = cfg.BaseEndpoint != nil
			o.DisableLogOutputChecksumValidationSkipped = true // emulators have none
		}),
	}
	s.queue = newQueue(sqs.NewFromConfig(cfg), c.Stack, s.blobs)
	s.jobs = newJobs(s)
	return s
}

// isLocal reports whether the endpoint is no AWS address.
func isLocal(cfg awssdk.Config) bool {
	if cfg.BaseEndpoint == nil {
		return false
	}
	u, err := url.Parse(*cfg.BaseEndpoint)
	return err == nil && u.Scheme == "http"
}
