package aws

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/topology"
)

const kb = 1024

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func number(n string) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: n}
}

// rowOf is a row of that size in bytes.
func rowOf(size int) row { return row{"a": text(strings.Repeat("x", size-1))} }

func TestItemSize(t *testing.T) {
	tests := []struct {
		name string
		row  row
		want int
	}{
		{"nothing", nil, 0},
		{"text", row{"name": text("héllo")}, 4 + 6},
		{"no text", row{"name": text("")}, 4},
		{"a name that is not ASCII", row{"é": text("a")}, 2 + 1},
		{"bytes", row{"b": &types.AttributeValueMemberB{Value: []byte{0, 1, 2}}}, 1 + 3},
		{"yes", row{"b": &types.AttributeValueMemberBOOL{Value: true}}, 1 + 1},
		{"null", row{"b": &types.AttributeValueMemberNULL{Value: true}}, 1 + 1},
		{"0", row{"n": number("0")}, 1 + 1},
		{"1", row{"n": number("1")}, 1 + 2},
		{"12", row{"n": number("12")}, 1 + 2},
		{"123", row{"n": number("123")}, 1 + 3},
		{"12300", row{"n": number("12300")}, 1 + 3},
		{"0.00123", row{"n": number("0.00123")}, 1 + 3},
		{"10.20", row{"n": number("10.20")}, 1 + 3},
		{"-12", row{"n": number("-12")}, 1 + 3},
		{"1.2E+30", row{"n": number("1.2E+30")}, 1 + 2},
		{"38 digits", row{"n": number("12345678901234567890123456789012345678")}, 1 + 20},
		{"a set of text", row{"s": &types.AttributeValueMemberSS{Value: []string{"a", "bc"}}}, 1 + 3},
		{"a set of numbers", row{"s": &types.AttributeValueMemberNS{Value: []string{"1", "123"}}}, 1 + 2 + 3},
		{"a set of bytes", row{"s": &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2, 3}}}}, 1 + 3},
		{"an empty list", row{"l": &types.AttributeValueMemberL{}}, 1 + 3},
		{"an empty map", row{"m": &types.AttributeValueMemberM{}}, 1 + 3},
		{"a list", row{"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("ab"), number("1")}}}, 1 + 3 + 1 + 2 + 1 + 2},
		{"a map in a map", row{"m": &types.AttributeValueMemberM{Value: row{
			"in": &types.AttributeValueMemberM{Value: row{"k": text("v")}},
		}}}, 1 + 3 + 1 + 2 + 3 + 1 + 1 + 1},
	}
	for _, test := range tests {
		if got := itemSize(test.row); got != test.want {
			t.Errorf("%s: %d bytes, want %d", test.name, got, test.want)
		}
	}
}

// An answerer plays a service: it answers attempt n, from 1, of any call.
type answerer struct {
	n      int
	answer func(n int) (status int, body string, err error)
}

func (a *answerer) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		io.Copy(io.Discard, req.Body)
	}
	a.n++
	status, body, err := a.answer(a.n)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)), Request: req,
	}, nil
}

func answers(status int, body string) *answerer {
	return &answerer{answer: func(int) (int, string, error) { return status, body, nil }}
}

func testConfig(client awssdk.HTTPClient) (awssdk.Config, *meter.Meter) {
	m := new(meter.Meter)
	cfg := awssdk.Config{
		Region: "eu-central-1", HTTPClient: client,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		Retryer: func() awssdk.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
	return metered(cfg, topology.Default("t"), m), m
}

func units(service, operation string, unit meter.Unit, n float64) map[meter.Key]float64 {
	if n == 0 {
		return map[meter.Key]float64{}
	}
	return map[meter.Key]float64{{Service: service, Operation: operation, Unit: unit}: n}
}

// call makes the call of an SDK's client that takes that input.
func call(t *testing.T, client, input any) error {
	t.Helper()
	name := strings.TrimSuffix(reflect.TypeOf(input).Elem().Name(), "Input")
	method := reflect.ValueOf(client).MethodByName(name)
	if !method.IsValid() {
		t.Fatalf("%T has no operation %s", client, name)
	}
	out := method.Call([]reflect.Value{reflect.ValueOf(t.Context()), reflect.ValueOf(input)})
	err, _ := out[1].Interface().(error)
	return err
}

func TestSQSIsBilledByPayload(t *testing.T) {
	body := func(n int) *string { return awssdk.String(strings.Repeat("x", n)) }
	entries := func(n, size int) (batch []sqstypes.SendMessageBatchRequestEntry) {
		for i := range n {
			batch = append(batch, sqstypes.SendMessageBatchRequestEntry{Id: awssdk.String(fmt.Sprint(i)), MessageBody: body(size)})
		}
		return batch
	}
	attribute := map[string]sqstypes.MessageAttributeValue{"name": {DataType: awssdk.String("String"), StringValue: awssdk.String("value")}}
	received := func(sizes ...int) string {
		var all []string
		for _, n := range sizes {
			all = append(all, `{"MessageId":"m","ReceiptHandle":"r","Body":"`+*body(n)+`"}`)
		}
		return `{"Messages":[` + strings.Join(all, ",") + `]}`
	}
	url := awssdk.String("https://sqs.eu-central-1.amazonaws.com/1/q")
	tests := []struct {
		name   string
		input  any
		answer string
		want   float64
	}{
		{"one byte", &sqs.SendMessageInput{QueueUrl: url, MessageBody: body(1)}, "{}", 1},
		{"64 KB", &sqs.SendMessageInput{QueueUrl: url, MessageBody: body(64 * kb)}, "{}", 1},
		{"64 KB and a byte", &sqs.SendMessageInput{QueueUrl: url, MessageBody: body(64*kb + 1)}, "{}", 2},
		{"attributes are payload", &sqs.SendMessageInput{QueueUrl: url, MessageBody: body(64*kb - 15), MessageAttributes: attribute}, "{}", 1},
		{"attributes over the step", &sqs.SendMessageInput{QueueUrl: url, MessageBody: body(64*kb - 14), MessageAttributes: attribute}, "{}", 2},
		{"ten small ones", &sqs.SendMessageBatchInput{QueueUrl: url, Entries: entries(10, 100)}, "{}", 1},
		{"ten of 50 KB", &sqs.SendMessageBatchInput{QueueUrl: url, Entries: entries(10, 50*kb)}, "{}", 8},
		{"nothing received", &sqs.ReceiveMessageInput{QueueUrl: url}, "{}", 1},
		{"ten of 20 KB received", &sqs.ReceiveMessageInput{QueueUrl: url}, received(20*kb, 20*kb, 20*kb, 20*kb, 20*kb, 20*kb, 20*kb, 20*kb, 20*kb, 20*kb), 4},
		{"ten deleted", &sqs.DeleteMessageBatchInput{QueueUrl: url, Entries: []sqstypes.DeleteMessageBatchRequestEntry{{Id: url, ReceiptHandle: url}}}, "{}", 1},
		{"a time-out changed", &sqs.ChangeMessageVisibilityInput{QueueUrl: url, ReceiptHandle: url}, "{}", 1},
		{"an address asked for", &sqs.GetQueueUrlInput{QueueName: url}, "{}", 1},
	}
	for _, test := range tests {
		cfg, m := testConfig(answers(200, test.answer))
		client := sqs.NewFromConfig(cfg, func(o *sqs.Options) { o.DisableMessageChecksumValidation = true })
		operation := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", test.input), "*sqs."), "Input")
		if err := call(t, client, test.input); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(units("SQS", operation, meter.SQSRequest, test.want), m.Take()); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", test.name, diff)
		}
	}
}

func TestRowsAreBilledByTheirSize(t *testing.T) {
	stack := topology.Default("t")
	frontier, jobs := awssdk.String(stack.TableName(topology.TableFrontier)), awssdk.String(stack.TableName(topology.TableJobs))
	yes := awssdk.Bool(true)
	key := row{"job": text("j"), "unit": text("u")}
	big := strings.Repeat("x", 5000)
	items := func(n int) string {
		return `[` + strings.TrimSuffix(strings.Repeat(`{"a":{"S":"`+strings.Repeat("x", 999)+`"}},`, n), ",") + `]`
	}
	keys := func(n int) (all []row) {
		for range n {
			all = append(all, key)
		}
		return all
	}
	puts := func(sizes ...int) (all []types.WriteRequest) {
		for _, n := range sizes {
			all = append(all, types.WriteRequest{PutRequest: &types.PutRequest{Item: rowOf(n)}})
		}
		return append(all, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}})
	}
	const refused = `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no"`
	job := row{"phase": text("running"), "created": text("2026"), "a": text("x")}
	tests := []struct {
		name        string
		input       any
		status      int
		answer      string
		read, write float64
	}{
		{"a miss", &dynamodb.GetItemInput{TableName: frontier, Key: key}, 200, `{}`, 0.5, 0},
		{"a miss, read strongly", &dynamodb.GetItemInput{TableName: frontier, Key: key, ConsistentRead: yes}, 200, `{}`, 1, 0},
		{"a row of 5 KB", &dynamodb.GetItemInput{TableName: frontier, Key: key}, 200, `{"Item":{"a":{"S":"` + big + `"}}}`, 1, 0},
		{"a row of 5 KB, read strongly", &dynamodb.GetItemInput{TableName: frontier, Key: key, ConsistentRead: yes}, 200, `{"Item":{"a":{"S":"` + big + `"}}}`, 2, 0},
		{
			"two rows, a miss and one not looked at", &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{*frontier: {Keys: keys(4), ConsistentRead: yes}}}, 200,
			`{"Responses":{"` + *frontier + `":[{"a":{"S":"` + big + `"}},{"a":{"S":"x"}}]},"UnprocessedKeys":{"` + *frontier + `":{"Keys":[{"job":{"S":"j"}}]}}}`, 2 + 1 + 1, 0,
		},
		{"a query of nothing", &dynamodb.QueryInput{TableName: frontier}, 200, `{"Items":[],"Count":0,"ScannedCount":0}`, 0.5, 0},
		{"a query of 9 rows", &dynamodb.QueryInput{TableName: frontier}, 200, `{"Count":9,"ScannedCount":9,"Items":` + items(9) + `}`, 1.5, 0},
		{"a query of 9 rows, read strongly", &dynamodb.QueryInput{TableName: frontier, ConsistentRead: yes}, 200, `{"Count":9,"ScannedCount":9,"Items":` + items(9) + `}`, 3, 0},
		{"a query that a filter thins", &dynamodb.QueryInput{TableName: frontier, ConsistentRead: yes}, 200, `{"Count":1,"ScannedCount":9,"Items":` + items(1) + `}`, 3, 0},
		{"a scan", &dynamodb.ScanInput{TableName: frontier}, 200, `{"Count":9,"ScannedCount":9,"Items":` + items(9) + `}`, 1.5, 0},

		{"a row of 1 KB written", &dynamodb.PutItemInput{TableName: frontier, Item: rowOf(kb)}, 200, `{}`, 0, 1},
		{"a row of 1 KB and a byte", &dynamodb.PutItemInput{TableName: frontier, Item: rowOf(kb + 1)}, 200, `{}`, 0, 2},
		{"a long row overwritten", &dynamodb.PutItemInput{TableName: frontier, Item: rowOf(9)}, 200, `{"Attributes":{"a":{"S":"` + big + `"}}}`, 0, 5},
		{"a row not written", &dynamodb.PutItemInput{TableName: frontier, Item: rowOf(kb + 1)}, 400, refused + `}`, 0, 2},
		{"a long row in the way", &dynamodb.PutItemInput{TableName: frontier, Item: rowOf(9)}, 400, refused + `,"Item":{"a":{"S":"` + big + `"}}}`, 0, 5},
		{"a row in an index", &dynamodb.PutItemInput{TableName: jobs, Item: job}, 200, `{}`, 0, 2},
		{"a row in an index, not written", &dynamodb.PutItemInput{TableName: jobs, Item: job}, 400, refused + `}`, 0, 1},
		{"a row outside of the index", &dynamodb.PutItemInput{TableName: jobs, Item: rowOf(9)}, 200, `{}`, 0, 1},
		{"an update", &dynamodb.UpdateItemInput{TableName: frontier, Key: key, ExpressionAttributeValues: row{":a": number("1")}}, 200, `{}`, 0, 1},
		{"an update with a long value", &dynamodb.UpdateItemInput{TableName: frontier, Key: key, ExpressionAttributeValues: row{":a": text(big)}}, 200, `{}`, 0, 5},
		{"an update of a long row", &dynamodb.UpdateItemInput{TableName: frontier, Key: key}, 200, `{"Attributes":{"a":{"S":"` + big + `"}}}`, 0, 5},
		{"an update refused", &dynamodb.UpdateItemInput{TableName: frontier, Key: key}, 400, refused + `}`, 0, 1},
		{"a row deleted", &dynamodb.DeleteItemInput{TableName: frontier, Key: key}, 200, `{}`, 0, 1},
		{"a long row deleted", &dynamodb.DeleteItemInput{TableName: frontier, Key: key}, 200, `{"Attributes":{"a":{"S":"` + big + `"}}}`, 0, 5},
		{"a batch", &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*frontier: puts(10, kb+1, 2*kb+1)}}, 200, `{}`, 0, 1 + 2 + 3 + 1},
		{
			"a batch of which a row is left", &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*frontier: puts(10, 5001)}}, 200,
			`{"UnprocessedItems":{"` + *frontier + `":[{"PutRequest":{"Item":{"a":{"S":"` + big + `"}}}}]}}`, 0, 2,
		},
		{
			"a transaction", &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: frontier, Item: rowOf(kb + 1)}},
				{Update: &types.Update{TableName: frontier, Key: key, UpdateExpression: jobs}},
				{Delete: &types.Delete{TableName: frontier, Key: key}},
				{ConditionCheck: &types.ConditionCheck{TableName: frontier, Key: key, ConditionExpression: jobs}},
			}}, 200, `{}`, 0, 4 + 2 + 2 + 2,
		},
		{"mistaken", &dynamodb.PutItemInput{TableName: frontier, Item: rowOf(9)}, 400, `{"__type":"com.amazon.coral.validate#ValidationException"}`, 0, 0},
		{"throttled", &dynamodb.GetItemInput{TableName: frontier, Key: key}, 400, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}`, 0, 0},
		{"broken", &dynamodb.PutItemInput{TableName: frontier, Item: rowOf(9)}, 500, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`, 0, 0},
		{"a table asked about", &dynamodb.DescribeTableInput{TableName: frontier}, 200, `{}`, 0, 0},
	}
	for _, test := range tests {
		cfg, m := testConfig(answers(test.status, test.answer))
		client := dynamodb.NewFromConfig(cfg)
		if err := call(t, client, test.input); (err == nil) != (test.status == 200) {
			t.Errorf("%s: %v", test.name, err)
		}
		got := meter.Totals(m.Take())
		if got[meter.ReadUnit] != test.read || got[meter.WriteUnit] != test.write {
			t.Errorf("%s: %v, want %v read and %v written", test.name, got, test.read, test.write)
		}
	}
}

func TestEachAnsweredAttemptIsCounted(t *testing.T) {
	client := &answerer{answer: func(n int) (int, string, error) {
		switch n {
		case 1:
			return 500, `{"__type":"InternalFailure"}`, nil
		case 2:
			return 0, "", errors.New("connection reset")
		}
		return 200, `{}`, nil
	}}
	cfg, m := testConfig(client)
	_, err := sqs.NewFromConfig(cfg).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: awssdk.String("https://sqs/1/q")})
	if err != nil || client.n != 3 {
		t.Fatalf("%d attempts, %v", client.n, err)
	}
	if diff := cmp.Diff(units("SQS", "ReceiveMessage", meter.SQSRequest, 2), m.Take()); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
}

func TestObjectsAreBilledByTheClassOfTheRequest(t *testing.T) {
	name := awssdk.String("b")
	tests := []struct {
		input  any
		status int
		want   meter.Unit
	}{
		{&s3.PutObjectInput{Bucket: name, Key: name}, 200, meter.S3Put},
		{&s3.CopyObjectInput{Bucket: name, Key: name, CopySource: name}, 200, meter.S3Put},
		{&s3.ListObjectsV2Input{Bucket: name}, 200, meter.S3Put},
		{&s3.CreateMultipartUploadInput{Bucket: name, Key: name}, 200, meter.S3Put},
		{&s3.UploadPartInput{Bucket: name, Key: name, UploadId: name, PartNumber: awssdk.Int32(1)}, 200, meter.S3Put},
		{&s3.CompleteMultipartUploadInput{Bucket: name, Key: name, UploadId: name}, 200, meter.S3Put},
		{&s3.PutObjectInput{Bucket: name, Key: name}, 412, meter.S3Put},
		{&s3.GetObjectInput{Bucket: name, Key: name}, 200, meter.S3Get},
		{&s3.GetObjectInput{Bucket: name, Key: name}, 404, meter.S3Get},
		{&s3.HeadObjectInput{Bucket: name, Key: name}, 200, meter.S3Get},
		{&s3.DeleteObjectInput{Bucket: name, Key: name}, 204, ""},
		{&s3.AbortMultipartUploadInput{Bucket: name, Key: name, UploadId: name}, 204, ""},
		{&s3.GetObjectInput{Bucket: name, Key: name}, 503, ""},
	}
	for _, test := range tests {
		cfg, m := testConfig(answers(test.status, ""))
		err := call(t, s3.NewFromConfig(cfg), test.input)
		if test.status < 300 && err != nil && !strings.Contains(err.Error(), "EOF") {
			t.Errorf("%T: %v", test.input, err)
		}
		want := map[meter.Unit]float64{}
		if test.want != "" {
			want[test.want] = 1
		}
		if diff := cmp.Diff(want, meter.Totals(m.Take())); diff != "" {
			t.Errorf("%T, status %d (-want, +got):\n%s", test.input, test.status, diff)
		}
	}
}

func TestNoMeterNoMiddleware(t *testing.T) {
	cfg := metered(awssdk.Config{}, topology.Default("t"), nil)
	if len(cfg.APIOptions) != 0 {
		t.Errorf("%d options without a meter", len(cfg.APIOptions))
	}
}
