package aws

import (
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/topology"
)

// consumed is what a backend has reckoned, in the words of a meter.
func consumed(b *awstest.Backend) map[meter.Key]float64 {
	counts := map[meter.Key]float64{}
	for op, c := range b.Capacity() {
		name := strings.TrimPrefix(op, "dynamodb.")
		for unit, n := range map[meter.Unit]float64{meter.ReadUnit: c.Read, meter.WriteUnit: c.Write} {
			if n > 0 {
				counts[meter.Key{Service: dynamodb.ServiceID, Operation: name, Unit: unit}] = n
			}
		}
	}
	return counts
}

// TestTheMeterAgreesWithABackendThatSeesTheRows does one thing after another;
// the backend, which knows every row before and after, reckons on its own.
func TestTheMeterAgreesWithABackendThatSeesTheRows(t *testing.T) {
	b := awstest.New(nil)
	m := new(meter.Meter)
	stack := topology.Default("t")
	if err := provision.Create(t.Context(), b.Config(), stack); err != nil {
		t.Fatal(err)
	}
	client := dynamodb.NewFromConfig(metered(b.Config(), stack, m))
	frontier, jobs := awssdk.String(stack.TableName(topology.TableFrontier)), awssdk.String(stack.TableName(topology.TableJobs))
	yes := awssdk.Bool(true)
	key := func(n byte) row {
		return row{"job": text("j"), "unit": &types.AttributeValueMemberB{Value: []byte{n}}}
	}
	unit := func(n byte, size int) row {
		r := key(n)
		r["a"] = text(strings.Repeat("x", size))
		return r
	}
	put := func(r row) types.WriteRequest { return types.WriteRequest{PutRequest: &types.PutRequest{Item: r}} }
	absent := awssdk.String("attribute_not_exists(job)")
	jobKey := row{"pk": text("j"), "sk": text("job")}
	job := row{"pk": text("j"), "sk": text("job"), "phase": text("running"), "created": text("2026")}

	steps := []struct {
		name  string
		input any
		fails bool
	}{
		{"a new row", &dynamodb.PutItemInput{TableName: frontier, Item: unit(1, 100), ConditionExpression: absent}, false},
		{"a new row again", &dynamodb.PutItemInput{TableName: frontier, Item: unit(1, 100), ConditionExpression: absent}, true},
		{"a row of just 1 KB", &dynamodb.PutItemInput{TableName: frontier, Item: unit(2, kb-3-1-4-1-1)}, false},
		{"a row of 1 KB and a byte", &dynamodb.PutItemInput{TableName: frontier, Item: unit(3, kb-3-1-4-1)}, false},
		{"a long row", &dynamodb.PutItemInput{TableName: frontier, Item: unit(4, 5000)}, false},
		{"a long row in the way", &dynamodb.PutItemInput{
			TableName: frontier, Item: unit(4, 1), ConditionExpression: absent,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, true},
		{"a batch of rows", &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			*frontier: {put(unit(5, 10)), put(unit(6, kb)), put(unit(7, 3000)), {DeleteRequest: &types.DeleteRequest{Key: key(99)}}},
		}}, false},
		{"a row", &dynamodb.GetItemInput{TableName: frontier, Key: key(1)}, false},
		{"a row, strongly", &dynamodb.GetItemInput{TableName: frontier, Key: key(1), ConsistentRead: yes}, false},
		{"a long row read, strongly", &dynamodb.GetItemInput{TableName: frontier, Key: key(4), ConsistentRead: yes}, false},
		{"a miss", &dynamodb.GetItemInput{TableName: frontier, Key: key(98)}, false},
		{"a miss, strongly", &dynamodb.GetItemInput{TableName: frontier, Key: key(98), ConsistentRead: yes}, false},
		{"rows and misses", &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			*frontier: {Keys: []row{key(1), key(4), key(98), key(97)}, ConsistentRead: yes},
		}}, false},
		{"rows and misses, eventually", &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			*frontier: {Keys: []row{key(1), key(4), key(98)}},
		}}, false},
		{"all rows", &dynamodb.QueryInput{
			TableName: frontier, ConsistentRead: yes, KeyConditionExpression: awssdk.String("job = :j"),
			ExpressionAttributeValues: row{":j": text("j")},
		}, false},
		{"all rows, eventually", &dynamodb.QueryInput{
			TableName: frontier, KeyConditionExpression: awssdk.String("job = :j"), ExpressionAttributeValues: row{":j": text("j")},
		}, false},
		{"no rows", &dynamodb.QueryInput{
			TableName: frontier, KeyConditionExpression: awssdk.String("job = :j"), ExpressionAttributeValues: row{":j": text("none")},
		}, false},
		{"an update", &dynamodb.UpdateItemInput{
			TableName: frontier, Key: key(1), UpdateExpression: awssdk.String("SET n = :n"), ExpressionAttributeValues: row{":n": number("1")},
		}, false},
		{"an update of a long row", &dynamodb.UpdateItemInput{
			TableName: frontier, Key: key(4), UpdateExpression: awssdk.String("SET n = :n"), ExpressionAttributeValues: row{":n": number("1")},
			ReturnValues: types.ReturnValueAllNew,
		}, false},
		{"an update refused", &dynamodb.UpdateItemInput{
			TableName: frontier, Key: key(1), UpdateExpression: awssdk.String("SET n = :n"), ExpressionAttributeValues: row{":n": number("2")},
			ConditionExpression: absent,
		}, true},
		{"an update that makes a row", &dynamodb.UpdateItemInput{
			TableName: frontier, Key: key(50), UpdateExpression: awssdk.String("SET n = :n"), ExpressionAttributeValues: row{":n": text(strings.Repeat("x", 2000))},
		}, false},
		{"a row deleted", &dynamodb.DeleteItemInput{TableName: frontier, Key: key(1)}, false},
		{"a miss deleted", &dynamodb.DeleteItemInput{TableName: frontier, Key: key(98)}, false},
		{"a long row deleted", &dynamodb.DeleteItemInput{TableName: frontier, Key: key(4), ReturnValues: types.ReturnValueAllOld}, false},
		{"a transaction", &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: frontier, Item: unit(20, 1500)}},
			{Delete: &types.Delete{TableName: frontier, Key: key(2)}},
		}}, false},
		{"a row in an index", &dynamodb.PutItemInput{TableName: jobs, Item: job}, false},
		{"a row in an index again, changed", &dynamodb.UpdateItemInput{
			TableName: jobs, Key: jobKey, UpdateExpression: awssdk.String("SET n = :n"), ExpressionAttributeValues: row{":n": number("1")},
			ReturnValues: types.ReturnValueAllNew,
		}, false},
		{"a row in its place of the index", &dynamodb.PutItemInput{
			TableName: jobs, Item: row{"pk": text("j"), "sk": text("job"), "phase": text("running"), "created": text("2026"), "n": number("2")},
			ReturnValues: types.ReturnValueAllOld,
		}, false},
		{"a row elsewhere in the index", &dynamodb.PutItemInput{
			TableName: jobs, Item: row{"pk": text("j"), "sk": text("job"), "phase": text("ended"), "created": text("2026")},
			ReturnValues: types.ReturnValueAllOld,
		}, false},
		{"a row beside the index", &dynamodb.PutItemInput{TableName: jobs, Item: row{"pk": text("j"), "sk": text("lease")}}, false},
		{"the index read", &dynamodb.QueryInput{
			TableName: jobs, IndexName: awssdk.String(topology.IndexPhase), KeyConditionExpression: awssdk.String("phase = :p"),
			ExpressionAttributeValues: row{":p": text("ended")},
		}, false},
		{"a row out of the index", &dynamodb.DeleteItemInput{TableName: jobs, Key: jobKey, ReturnValues: types.ReturnValueAllOld}, false},
	}
	before := map[meter.Key]float64{}
	for _, step := range steps {
		if err := call(t, client, step.input); (err != nil) != step.fails {
			t.Errorf("%s: error %v, want one: %v", step.name, err, step.fails)
		}
		after := consumed(b)
		want := map[meter.Key]float64{}
		for k, n := range after {
			if n > before[k] {
				want[k] = n - before[k]
			}
		}
		if len(want) == 0 {
			t.Errorf("%s: the backend reckons nothing", step.name)
		}
		if diff := cmp.Diff(want, m.Take()); diff != "" {
			t.Errorf("%s (-the backend, +the meter):\n%s", step.name, diff)
		}
		before = after
	}
}
