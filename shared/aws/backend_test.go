package aws_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/emulatortest"
	"github.com/skitterhq/skitter/shared/topology"
)

// A backend is something that serves DynamoDB, and S3 unless it is rowsOnly.
type backend struct {
	name     string
	rowsOnly bool
	slow     bool // minutes, where others take seconds
	config   func(t testing.TB, now func() time.Time) awssdk.Config
}

var backends = []backend{
	{name: "awstest", config: func(_ testing.TB, now func() time.Time) awssdk.Config { return awstest.New(now).Config() }},
	{name: "stale reads", config: func(_ testing.TB, now func() time.Time) awssdk.Config {
		return awstest.New(now, awstest.Stale(time.Second)).Config()
	}},
	{name: "moto", slow: true, config: func(t testing.TB, _ func() time.Time) awssdk.Config {
		cfg := emulatortest.Moto(t)
		cfg.HTTPClient = oneByOne{cfg.HTTPClient}
		return cfg
	}},
	{name: "dynalite", rowsOnly: true, config: func(t testing.TB, _ func() time.Time) awssdk.Config { return emulatortest.Dynalite(t) }},
}

// oneByOne hands on one call at a time: moto looks at a condition and writes
// in two steps, so that of two calls at once both can win.
type oneByOne struct{ client awssdk.HTTPClient }

var turn sync.Mutex

func (c oneByOne) Do(req *http.Request) (*http.Response, error) {
	turn.Lock()
	defer turn.Unlock()
	return c.client.Do(req)
}

// A clock is moved by hand. It begins where the suites' jobs do, so that their
// rows live.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// stacks makes the name of each test's stack another.
var stacks atomic.Int64

// open returns the ports of a new stack over a backend.
func (b backend) open(t testing.TB) (*aws.Store, *clock) {
	t.Helper()
	c := newClock()
	return b.openAt(t, c, b.config(t, c.Now)), c
}

// openFaulty returns the ports of a new stack, and what they are over.
func openFaulty(t testing.TB) (*aws.Store, *clock, *awstest.Backend) {
	t.Helper()
	c := newClock()
	inside := awstest.New(c.Now)
	return backend{}.openAt(t, c, inside.Config()), c, inside
}

func (b backend) openAt(t testing.TB, c *clock, cfg awssdk.Config) *aws.Store {
	t.Helper()
	stack := topology.Default(fmt.Sprintf("rows-%d", stacks.Add(1)))
	createTables(t, dynamodb.NewFromConfig(cfg), stack)
	if !b.rowsOnly {
		bucket := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
		if _, err := bucket.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: awssdk.String(stack.BucketName())}); err != nil {
			t.Fatal(err)
		}
	}
	return aws.New(aws.Config{AWS: cfg, Stack: stack, Now: c.Now})
}

func createTables(t testing.TB, client *dynamodb.Client, stack topology.Stack) {
	t.Helper()
	for _, table := range stack.Tables {
		in := &dynamodb.CreateTableInput{
			TableName: awssdk.String(stack.TableName(table.Name)), BillingMode: types.BillingModePayPerRequest,
			KeySchema: keySchema(table.Partition, table.Sort),
		}
		keys := []topology.Key{table.Partition, table.Sort}
		for _, index := range table.Indexes {
			keys = append(keys, index.Partition, index.Sort)
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
				IndexName: awssdk.String(index.Name), KeySchema: keySchema(index.Partition, index.Sort),
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			})
		}
		for _, key := range keys {
			if key.Name != "" {
				in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
					AttributeName: awssdk.String(key.Name), AttributeType: types.ScalarAttributeType(key.Type),
				})
			}
		}
		if _, err := client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range stack.Tables {
		waitForTable(t, client, stack.TableName(table.Name))
	}
}

func keySchema(partition, sort topology.Key) []types.KeySchemaElement {
	schema := []types.KeySchemaElement{{AttributeName: awssdk.String(partition.Name), KeyType: types.KeyTypeHash}}
	if sort.Name != "" {
		schema = append(schema, types.KeySchemaElement{AttributeName: awssdk.String(sort.Name), KeyType: types.KeyTypeRange})
	}
	return schema
}

func waitForTable(t testing.TB, client *dynamodb.Client, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		if out.Table.TableStatus == types.TableStatusActive {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
