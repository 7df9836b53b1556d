package awstest_test

import (
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/aws/awstest"
)

// sized is a row of a size in bytes.
func sized(sk string, size int, more row) row {
	r := row{"pk": str("a"), "sk": num(sk)}
	for name, v := range more {
		r[name] = v
		size -= len(name) + len(v.(*types.AttributeValueMemberS).Value)
	}
	r["x"] = str(strings.Repeat("x", size-len("pk")-len("a")-len("sk")-2-len("x")))
	return r
}

func TestWritesCostTheLargerSize(t *testing.T) {
	b := awstest.New(nil)
	client := newTable(t, b)
	index := func(phase string) row { return row{"phase": str(phase), "created": str("1")} }
	for _, c := range []struct {
		name         string
		item         row
		table, index float64
	}{
		{"1 KB", sized("1", 1024, nil), 1, 0},
		{"a byte more", sized("1", 1025, nil), 2, 0},
		{"smaller than what was there", sized("1", 100, nil), 2, 0},
		{"into the index", sized("1", 1500, index("a")), 2, 2},
		{"the same again", sized("1", 1500, index("a")), 2, 0},
		{"another value there", sized("1", 500, index("a")), 2, 2},
		{"to another place", sized("1", 1500, index("b")), 2, 3},
		{"out of it", sized("1", 100, nil), 2, 2},
	} {
		out, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: awssdk.String("table"), Item: c.item, ReturnConsumedCapacity: "INDEXES"})
		if err != nil {
			t.Fatal(err)
		}
		used := out.ConsumedCapacity
		got := 0.0
		if x, ok := used.GlobalSecondaryIndexes["phase"]; ok {
			got = *x.CapacityUnits
		}
		if *used.Table.CapacityUnits != c.table || got != c.index || *used.CapacityUnits != c.table+c.index {
			t.Errorf("%s: %v of the table and %v of the index, want %v and %v", c.name, *used.Table.CapacityUnits, got, c.table, c.index)
		}
	}
}

func TestFailedConditionsCostToo(t *testing.T) {
	b := awstest.New(nil)
	client := newTable(t, b)
	write(t, client, sized("1", 2000, nil))
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: awssdk.String("table"), Item: row{"pk": str("a"), "sk": num("1")}, ConditionExpression: awssdk.String("attribute_not_exists(pk)"),
	})
	if code(err) != "ConditionalCheckFailedException" || b.Capacity()["dynamodb.PutItem"].Write != 4 {
		t.Errorf("%v, %+v", err, b.Capacity())
	}
}

func TestReadsCost(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	write(t, client, sized("1", 4096, nil), sized("2", 4097, nil), sized("3", 100, nil))
	get := func(sk string, strong bool) *types.ConsumedCapacity {
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: awssdk.String("table"), Key: row{"pk": str("a"), "sk": num(sk)}, ConsistentRead: &strong, ReturnConsumedCapacity: "TOTAL",
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.ConsumedCapacity
	}
	batch := func(strong bool) *types.ConsumedCapacity {
		out, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
			RequestItems:           map[string]types.KeysAndAttributes{"table": {Keys: keys(1, 5), ConsistentRead: &strong}},
			ReturnConsumedCapacity: "TOTAL",
		})
		if err != nil {
			t.Fatal(err)
		}
		return &out.ConsumedCapacity[0]
	}
	query := func(strong bool) *types.ConsumedCapacity {
		out, err := client.Query(t.Context(), &dynamodb.QueryInput{
			TableName: awssdk.String("table"), KeyConditionExpression: awssdk.String("pk = :a"), ExpressionAttributeValues: row{":a": str("a")},
			ConsistentRead: &strong, ReturnConsumedCapacity: "TOTAL",
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.ConsumedCapacity
	}
	for _, c := range []struct {
		name string
		used *types.ConsumedCapacity
		want float64
	}{
		{"4 KB strongly", get("1", true), 1}, {"4 KB", get("1", false), 0.5}, {"a byte more", get("2", true), 2}, {"none", get("9", false), 0.5},
		{"four keys, one of them free", batch(true), 5}, {"four keys", batch(false), 2.5},
		{"8293 bytes together", query(true), 3}, {"8293 bytes", query(false), 1.5},
	} {
		if got := *c.used.CapacityUnits; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
