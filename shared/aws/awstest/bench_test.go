package awstest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/aws/awstest"
)

// BenchmarkOwn measures calls without the SDK.
func BenchmarkOwn(b *testing.B) {
	backend := awstest.New(nil)
	newTable(b, backend)
	client := backend.Config().HTTPClient
	for _, c := range []struct{ target, body string }{
		{"DynamoDB_20120810.PutItem", `{"TableName":"table","Item":{"pk":{"S":"a"},"sk":{"N":"1"},"n":{"N":"7"},"b":{"B":"aGVsbG8="},"s":{"S":"hello"},"t":{"S":"there"}}}`},
		{"DynamoDB_20120810.GetItem", `{"TableName":"table","Key":{"pk":{"S":"a"},"sk":{"N":"1"}},"ConsistentRead":true}`},
		{"DynamoDB_20120810.UpdateItem", `{"TableName":"table","Key":{"pk":{"S":"a"},"sk":{"N":"1"}},"UpdateExpression":"SET n = :n, #s = :s","ConditionExpression":"attribute_exists(pk) AND #s = :s",` +
			`"ExpressionAttributeNames":{"#s":"s"},"ExpressionAttributeValues":{":n":{"N":"1"},":s":{"S":"hello"}},"ReturnValues":"ALL_NEW"}`},
		{"AmazonSQS.CreateQueue", `{"QueueName":"q"}`},
		{"AmazonSQS.SendMessage", `{"QueueUrl":"http://aws.test/000000000000/q","MessageBody":"` + strings.Repeat("x", 500) + `"}`},
		{"AmazonSQS.ReceiveMessage", `{"QueueUrl":"http://aws.test/000000000000/q","MaxNumberOfMessages":1}`},
	} {
		b.Run(c.target, func(b *testing.B) {
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, awstest.Endpoint, strings.NewReader(c.body))
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("X-Amz-Target", c.target)
				if resp, err := client.Do(r); err != nil || resp.StatusCode != http.StatusOK {
					b.Fatal(resp, err)
				}
			}
		})
	}
}
