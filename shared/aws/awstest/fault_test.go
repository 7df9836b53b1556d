package awstest_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/skitterhq/skitter/shared/aws/awstest"
)

func putRow(client *dynamodb.Client, t *testing.T) error {
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: awssdk.String("table"), Item: row{"pk": str("a"), "sk": num("1")}})
	return err
}

func rows(t *testing.T, client *dynamodb.Client) int32 {
	t.Helper()
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: awssdk.String("table"), ConsistentRead: awssdk.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Count
}

func TestThrottledCallsAreTriedAgain(t *testing.T) {
	b := awstest.New(nil)
	client := newTable(t, b)
	b.SetHook(func(c *awstest.Call) awstest.Fault {
		if c.Op == "dynamodb.PutItem" && c.N < 3 {
			return awstest.Fault{Error: awstest.Throttled(c.Op)}
		}
		return awstest.Fault{}
	})
	if err := putRow(client, t); err != nil {
		t.Fatal(err)
	}
	if n := b.Calls()["dynamodb.PutItem"]; n != 3 {
		t.Errorf("%d calls", n)
	}
}

func TestThrottlingHasItsTypes(t *testing.T) {
	b := awstest.New(nil)
	rows := newTable(t, b)
	objects := newBucket(t, b, awstest.Endpoint)
	queues, url := newQueue(t, b, "q", nil)
	b.SetHook(func(c *awstest.Call) awstest.Fault { return awstest.Fault{Error: awstest.Throttled(c.Op)} })
	var exceeded *types.ProvisionedThroughputExceededException
	if err := putRow(rows, t); !errors.As(err, &exceeded) {
		t.Errorf("DynamoDB: %v", err)
	}
	_, err := objects.GetObject(t.Context(), &s3.GetObjectInput{Bucket: awssdk.String("bucket"), Key: awssdk.String("k")})
	if status(err) != http.StatusServiceUnavailable || code(err) != "SlowDown" {
		t.Errorf("S3: %v", err)
	}
	_, err = queues.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url, MessageBody: awssdk.String("m")})
	var throttled *sqstypes.RequestThrottled
	if !errors.As(err, &throttled) {
		t.Errorf("SQS: %v", err)
	}
}

func TestLostAnswersWereCarriedOut(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault awstest.Fault
		rows  int32
	}{
		{"lost", awstest.Fault{Lost: true}, 1},
		{"dropped", awstest.Fault{Dropped: true}, 0},
		{"unavailable", awstest.Fault{Error: awstest.Unavailable("dynamodb.PutItem")}, 0},
	} {
		b := awstest.New(nil)
		client := newTable(t, b)
		b.SetHook(func(*awstest.Call) awstest.Fault { return c.fault })
		if err := putRow(client, t); err == nil {
			t.Errorf("%s: no error", c.name)
		}
		b.SetHook(nil)
		if got := rows(t, client); got != c.rows {
			t.Errorf("%s: %d rows, want %d", c.name, got, c.rows)
		}
	}
}

func TestAfterRunsBeforeTheAnswer(t *testing.T) {
	b := awstest.New(nil)
	client := newTable(t, b)
	seen := 0
	b.SetHook(func(c *awstest.Call) awstest.Fault {
		if c.Op != "dynamodb.PutItem" {
			return awstest.Fault{}
		}
		return awstest.Fault{After: func() { seen = int(rows(t, client)) }}
	})
	if err := putRow(client, t); err != nil || seen != 1 {
		t.Errorf("%v, %d rows seen", err, seen)
	}
}

func TestEntriesAreRefused(t *testing.T) {
	b := awstest.New(nil)
	client := newTable(t, b)
	queues, url := newQueue(t, b, "q", nil)
	objects := newBucket(t, b, awstest.Endpoint)
	put(t, objects, "k0", "")
	put(t, objects, "k1", "")
	b.SetHook(func(*awstest.Call) awstest.Fault {
		return awstest.Fault{Refuse: func(i int) bool { return i == 1 }}
	})
	sent, err := queues.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: url, Entries: entries("a", "b", "c")})
	if err != nil || len(sent.Successful) != 2 || len(sent.Failed) != 1 || *sent.Failed[0].Id != "1" || sent.Failed[0].SenderFault {
		t.Errorf("send: %+v, %v", sent, err)
	}
	got := receive(t, queues, url)
	deleted, err := queues.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: url, Entries: []sqstypes.DeleteMessageBatchRequestEntry{
		{Id: awssdk.String("x"), ReceiptHandle: got[0].ReceiptHandle}, {Id: awssdk.String("y"), ReceiptHandle: got[1].ReceiptHandle},
	}})
	if err != nil || len(deleted.Failed) != 1 || *deleted.Failed[0].Id != "y" || len(b.Messages("q")) != 1 {
		t.Errorf("delete: %+v, %v", deleted, err)
	}
	written, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"table": {
		{PutRequest: &types.PutRequest{Item: row{"pk": str("a"), "sk": num("0")}}},
		{PutRequest: &types.PutRequest{Item: row{"pk": str("a"), "sk": num("1")}}},
	}}})
	if err != nil || len(written.UnprocessedItems["table"]) != 1 || rows(t, client) != 1 {
		t.Errorf("write: %+v, %v", written, err)
	}
	read, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"table": {
		Keys: []row{{"pk": str("a"), "sk": num("0")}, {"pk": str("a"), "sk": num("1")}}, ConsistentRead: awssdk.Bool(true),
	}}})
	left := read.UnprocessedKeys["table"]
	if err != nil || len(read.Responses["table"]) != 1 || len(left.Keys) != 1 || !*left.ConsistentRead {
		t.Errorf("read: %+v, %v", read, err)
	}
	gone, err := objects.DeleteObjects(t.Context(), &s3.DeleteObjectsInput{Bucket: awssdk.String("bucket"), Delete: &s3types.Delete{
		Objects: []s3types.ObjectIdentifier{{Key: awssdk.String("k0")}, {Key: awssdk.String("k1")}},
	}})
	if err != nil || len(gone.Deleted) != 1 || len(gone.Errors) != 1 || *gone.Errors[0].Key != "k1" {
		t.Errorf("delete objects: %+v, %v", gone, err)
	}
}

func TestUnknownOperationsAreNamed(t *testing.T) {
	b := awstest.New(nil)
	client := newTable(t, b)
	_, err := client.ListBackups(t.Context(), &dynamodb.ListBackupsInput{})
	if status(err) != http.StatusNotImplemented || code(err) != "NotImplemented" {
		t.Errorf("operation: %v", err)
	}
	_, err = client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: awssdk.String("table"), Key: row{"pk": str("a"), "sk": num("0")}, ConditionalOperator: "AND",
	})
	if status(err) != http.StatusNotImplemented {
		t.Errorf("parameter: %v", err)
	}
	_, err = newBucket(t, b, awstest.Endpoint).GetBucketCors(t.Context(), &s3.GetBucketCorsInput{Bucket: awssdk.String("bucket")})
	if status(err) != http.StatusNotImplemented {
		t.Errorf("S3: %v", err)
	}
}

func TestEverythingRunsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := awstest.New(time.Now)
		start := time.Now()
		client := newTable(t, b)
		b.SetHook(func(c *awstest.Call) awstest.Fault { return awstest.Fault{Lost: c.N == 1} })
		if err := putRow(client, t); err != nil {
			t.Fatal(err)
		}
		if rows(t, client) != 1 {
			t.Error("not written")
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("slept for %v", d)
		}
	})
}
