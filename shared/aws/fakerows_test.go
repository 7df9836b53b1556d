package aws

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/skitterhq/skitter/shared/topology"
)

// fakeRows is a DynamoDB whose answers a test writes down. What a test does
// not script is not called.
type fakeRows struct {
	rowsClient
	getItem    func(*dynamodb.GetItemInput) (*dynamodb.GetItemOutput, error)
	putItem    func(*dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error)
	updateItem func(*dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error)
	query      func(*dynamodb.QueryInput) (*dynamodb.QueryOutput, error)
	batchGet   func(*dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error)
	batchWrite func(*dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error)
}

func (f *fakeRows) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if f.getItem == nil {
		return &dynamodb.GetItemOutput{}, nil // nothing is there
	}
	return f.getItem(in)
}

func (f *fakeRows) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return f.putItem(in)
}

func (f *fakeRows) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return f.updateItem(in)
}

func (f *fakeRows) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return f.query(in)
}

func (f *fakeRows) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return f.batchGet(in)
}

func (f *fakeRows) BatchWriteItem(_ context.Context, in *dynamodb.BatchWriteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	return f.batchWrite(in)
}

// noon is when it is in tests with fakes.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const fakeJob = "aaaaaaaaaaaaaaaaaaaaaaaa"

// storeOver returns a store over a fake that waits for nothing, and how long
// it would have waited.
func storeOver(t testing.TB, f *fakeRows) (*Store, *time.Duration) {
	t.Helper()
	var waited time.Duration
	s := &Store{
		stack: topology.Default("fake"), now: func() time.Time { return noon }, rows: f,
		sleep: func(ctx context.Context, d time.Duration) error {
			waited += d
			return ctx.Err()
		},
	}
	s.jobs = newJobs(s)
	return s, &waited
}
