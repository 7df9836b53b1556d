package emulatortest

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

type row = map[string]ddbtypes.AttributeValue

func text(s string) ddbtypes.AttributeValue { return &ddbtypes.AttributeValueMemberS{Value: s} }

func number(n int64) ddbtypes.AttributeValue {
	return &ddbtypes.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// A table is a test's, with an index by phase.
type table struct {
	t      *testing.T
	client *dynamodb.Client
	name   *string
}

// inBoth runs a test at each DynamoDB that there is.
func inBoth(t *testing.T, test func(t *testing.T, rows table)) {
	t.Parallel()
	t.Run("moto", func(t *testing.T) { test(t, newTable(t, Moto(t))) })
	t.Run("dynalite", func(t *testing.T) { test(t, newTable(t, Dynalite(t))) })
}

func newTable(t *testing.T, cfg awssdk.Config) table {
	t.Helper()
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	rows := table{t, client, awssdk.String(strings.ReplaceAll(t.Name(), "/", "-"))}
	attribute := func(name string) ddbtypes.AttributeDefinition {
		return ddbtypes.AttributeDefinition{AttributeName: &name, AttributeType: ddbtypes.ScalarAttributeTypeS}
	}
	key := func(name string, kind ddbtypes.KeyType) ddbtypes.KeySchemaElement {
		return ddbtypes.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: rows.name, BillingMode: ddbtypes.BillingModePayPerRequest,
		AttributeDefinitions: []ddbtypes.AttributeDefinition{attribute("pk"), attribute("sk"), attribute("phase")},
		KeySchema:            []ddbtypes.KeySchemaElement{key("pk", ddbtypes.KeyTypeHash), key("sk", ddbtypes.KeyTypeRange)},
		GlobalSecondaryIndexes: []ddbtypes.GlobalSecondaryIndex{{
			IndexName:  awssdk.String("phase"),
			KeySchema:  []ddbtypes.KeySchemaElement{key("phase", ddbtypes.KeyTypeHash)},
			Projection: &ddbtypes.Projection{ProjectionType: ddbtypes.ProjectionTypeAll},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	there := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 10*time.Millisecond, 100*time.Millisecond
	})
	if err := there.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: rows.name}, startTime); err != nil {
		t.Fatal(err)
	}
	return rows
}

// put writes a row and returns the write units that it is said to have used.
func (r table) put(item row) float64 {
	r.t.Helper()
	out, err := r.client.PutItem(r.t.Context(), &dynamodb.PutItemInput{
		TableName: r.name, Item: item, ReturnConsumedCapacity: ddbtypes.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return *out.ConsumedCapacity.CapacityUnits
}

func (r table) query(in dynamodb.QueryInput, key, value string) *dynamodb.QueryOutput {
	r.t.Helper()
	in.TableName = r.name
	in.KeyConditionExpression = awssdk.String(key + " = :v")
	in.ExpressionAttributeValues = row{":v": text(value)}
	out, err := r.client.Query(r.t.Context(), &in)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func TestARefusedWriteShowsWhatStandsThere(t *testing.T) {
	inBoth(t, func(t *testing.T, rows table) {
		item := row{"pk": text("a"), "sk": text("b"), "n": number(1)}
		rows.put(item)
		_, err := rows.client.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: rows.name, Item: item, ConditionExpression: awssdk.String("attribute_not_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: ddbtypes.ReturnValuesOnConditionCheckFailureAllOld,
		})
		var refused *ddbtypes.ConditionalCheckFailedException
		if !errors.As(err, &refused) {
			t.Fatalf("error %v", err)
		}
		want := len(item)
		if strings.HasSuffix(t.Name(), "dynalite") {
			want = 0 // it does not know the parameter
		}
		if len(refused.Item) != want {
			t.Errorf("%d attributes came with the refusal, want %d", len(refused.Item), want)
		}
	})
}

// TestAnExpiredRowIsStillRead is the reason why whoever reads looks at the
// time (case EMU-04). AWS deletes within some days, and these never.
func TestAnExpiredRowIsStillRead(t *testing.T) {
	inBoth(t, func(t *testing.T, rows table) {
		_, err := rows.client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
			TableName: rows.name,
			TimeToLiveSpecification: &ddbtypes.TimeToLiveSpecification{
				AttributeName: awssdk.String("expires"), Enabled: awssdk.Bool(true),
			},
		})
		var api smithy.APIError
		if strings.HasSuffix(t.Name(), "dynalite") {
			if !errors.As(err, &api) || api.ErrorCode() != "UnknownOperationException" {
				t.Errorf("error of dynalite, which knows no time to live: %v", err)
			}
		} else if err != nil {
			t.Error(err)
		}
		key := row{"pk": text("a"), "sk": text("b")}
		rows.put(row{"pk": key["pk"], "sk": key["sk"], "expires": number(time.Now().Unix() - 10)})
		got, err := rows.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: rows.name, Key: key})
		if err != nil || len(got.Item) != 3 {
			t.Errorf("read %v, %v", got, err)
		}
	})
}

// TestAQueryHasPages reads 1.5 MB, of which one answer has 1 MB at most.
func TestAQueryHasPages(t *testing.T) {
	inBoth(t, func(t *testing.T, rows table) {
		const n = 15
		for i := range int64(n) {
			rows.put(row{"pk": text("a"), "sk": text(strconv.FormatInt(i, 36)), "v": text(strings.Repeat("x", 100_000))})
		}
		first := rows.query(dynamodb.QueryInput{}, "pk", "a")
		if len(first.Items) == n || first.LastEvaluatedKey == nil {
			t.Fatalf("one page has %d rows of %d, and the next begins after %v", len(first.Items), n, first.LastEvaluatedKey)
		}
		second := rows.query(dynamodb.QueryInput{ExclusiveStartKey: first.LastEvaluatedKey}, "pk", "a")
		if got := len(first.Items) + len(second.Items); got != n || second.LastEvaluatedKey != nil {
			t.Errorf("two pages have %d rows, want %d", got, n)
		}
	})
}

// TestAnIndexHoldsWhatHasItsKey leaves a row without the attribute out.
func TestAnIndexHoldsWhatHasItsKey(t *testing.T) {
	inBoth(t, func(t *testing.T, rows table) {
		rows.put(row{"pk": text("a"), "sk": text("1"), "phase": text("open")})
		rows.put(row{"pk": text("a"), "sk": text("2")})
		got := rows.query(dynamodb.QueryInput{IndexName: awssdk.String("phase")}, "phase", "open")
		if len(got.Items) != 1 {
			t.Errorf("the index has %d rows, want 1", len(got.Items))
		}
	})
}

// TestConsumedCapacity is what dynalite is there for: a row of 5 KB costs five
// writes there, as it does at AWS, and one at moto.
func TestConsumedCapacity(t *testing.T) {
	inBoth(t, func(t *testing.T, rows table) {
		want := 1.0
		if strings.HasSuffix(t.Name(), "dynalite") {
			want = 5
		}
		if got := rows.put(row{"pk": text("a"), "sk": text("b"), "v": text(strings.Repeat("x", 5000))}); got != want {
			t.Errorf("%v write units, want %v", got, want)
		}
	})
}

// TestABatchHasTwentyFiveRows is held by dynalite, and not by moto.
func TestABatchHasTwentyFiveRows(t *testing.T) {
	inBoth(t, func(t *testing.T, rows table) {
		var puts []ddbtypes.WriteRequest
		for i := range int64(26) {
			item := row{"pk": text("a"), "sk": text(strconv.FormatInt(i, 36))}
			puts = append(puts, ddbtypes.WriteRequest{PutRequest: &ddbtypes.PutRequest{Item: item}})
		}
		_, err := rows.client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]ddbtypes.WriteRequest{*rows.name: puts},
		})
		if refused := err != nil; refused != strings.HasSuffix(t.Name(), "dynalite") {
			t.Errorf("26 rows in a batch: %v", err)
		}
	})
}
