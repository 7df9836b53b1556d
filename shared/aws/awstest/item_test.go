package awstest_test

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/aws/awstest"
)

type row = map[string]types.AttributeValue

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func num(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
func bin(s string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(s)} }

// newTable makes a table with the key (pk S, sk N) and an index by (phase S,
// created S).
func newTable(t testing.TB, b *awstest.Backend) *dynamodb.Client {
	t.Helper()
	client := dynamodb.NewFromConfig(b.Config())
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: awssdk.String("table"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: awssdk.String("pk"), AttributeType: "S"}, {AttributeName: awssdk.String("sk"), AttributeType: "N"},
			{AttributeName: awssdk.String("phase"), AttributeType: "S"}, {AttributeName: awssdk.String("created"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: awssdk.String("pk"), KeyType: "HASH"}, {AttributeName: awssdk.String("sk"), KeyType: "RANGE"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  awssdk.String("phase"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: awssdk.String("phase"), KeyType: "HASH"}, {AttributeName: awssdk.String("created"), KeyType: "RANGE"}},
			Projection: &types.Projection{ProjectionType: "ALL"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestConditionalWrites(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	put := &dynamodb.PutItemInput{
		TableName: awssdk.String("table"), Item: row{"pk": str("a"), "sk": num("1"), "n": num("007")},
		ConditionExpression:                 awssdk.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: "ALL_OLD",
	}
	if _, err := client.PutItem(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	_, err := client.PutItem(t.Context(), put)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || failed.Item["n"].(*types.AttributeValueMemberN).Value != "7" {
		t.Fatalf("%#v", err)
	}
	out, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: awssdk.String("table"), Key: row{"pk": str("a"), "sk": num("1.0")},
		UpdateExpression:          awssdk.String("SET n = n + :one, m = if_not_exists(m, :one) ADD c :one"),
		ExpressionAttributeValues: row{":one": num("1")}, ReturnValues: "UPDATED_NEW",
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"n": "8", "m": "1", "c": "1"} {
		if got := out.Attributes[name].(*types.AttributeValueMemberN).Value; got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}

// message is what a ValidationException says; other errors are told as they are.
func message(err error) string {
	if code(err) == "ValidationException" {
		return err.Error()
	}
	return ""
}

func write(t *testing.T, client *dynamodb.Client, items ...row) {
	t.Helper()
	for _, it := range items {
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: awssdk.String("table"), Item: it}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestValuesComeBackAsTheyWere(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	it := row{
		"pk": str("a"), "sk": num("-1.5"), "s": str(""), "b": &types.AttributeValueMemberB{Value: []byte{}}, "t": &types.AttributeValueMemberBOOL{Value: false},
		"nil": &types.AttributeValueMemberNULL{Value: true}, "l": &types.AttributeValueMemberL{Value: []types.AttributeValue{}},
		"m": &types.AttributeValueMemberM{Value: row{"k": &types.AttributeValueMemberM{Value: row{}}}}, "bin": bin("\x00\xff<&>"),
		"ss": &types.AttributeValueMemberSS{Value: []string{"<", "é"}}, "bs": &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
		"ns": &types.AttributeValueMemberNS{Value: []string{"1", "2"}}, "big": num("12345678901234567890123456789012345678"),
	}
	write(t, client, it)
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: awssdk.String("table"), Key: row{"pk": str("a"), "sk": num("-1.50")}})
	if err != nil || !reflect.DeepEqual(out.Item, it) {
		t.Fatalf("%+v, %v", out.Item, err)
	}
	out, err = client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: awssdk.String("table"), Key: row{"pk": str("a"), "sk": num("-1.5")}, ProjectionExpression: awssdk.String("m.k, s, nought"),
	})
	if want := (row{"m": it["m"], "s": str("")}); err != nil || !reflect.DeepEqual(out.Item, want) {
		t.Errorf("projected: %+v, %v", out, err)
	}
}

func TestBadWritesAreRefused(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	good := row{"pk": str("a"), "sk": num("1")}
	with := func(name string, v types.AttributeValue) row {
		r := maps.Clone(good)
		r[name] = v
		return r
	}
	for name, c := range map[string]struct {
		in   dynamodb.PutItemInput
		want string
	}{
		"no key":        {dynamodb.PutItemInput{Item: row{"pk": str("a")}}, "Missing the key sk"},
		"key's type":    {dynamodb.PutItemInput{Item: with("sk", str("1"))}, "Type mismatch for key"},
		"empty key":     {dynamodb.PutItemInput{Item: with("pk", str(""))}, "empty string value. Key: pk"},
		"long key":      {dynamodb.PutItemInput{Item: with("pk", str(strings.Repeat("x", 2049)))}, "2048"},
		"index key":     {dynamodb.PutItemInput{Item: with("phase", num("1"))}, "Index Key phase"},
		"large":         {dynamodb.PutItemInput{Item: with("x", str(strings.Repeat("x", 400<<10)))}, "Item size"},
		"number":        {dynamodb.PutItemInput{Item: with("x", num("one"))}, "numeric"},
		"empty set":     {dynamodb.PutItemInput{Item: with("x", &types.AttributeValueMemberSS{Value: []string{}})}, "may not be empty"},
		"double set":    {dynamodb.PutItemInput{Item: with("x", &types.AttributeValueMemberNS{Value: []string{"1", "1.0"}})}, "duplicates"},
		"unused name":   {dynamodb.PutItemInput{Item: good, ConditionExpression: awssdk.String("attribute_exists(pk)"), ExpressionAttributeNames: map[string]string{"#a": "a"}}, "unused in expressions: keys: {#a}"},
		"unused value":  {dynamodb.PutItemInput{Item: good, ConditionExpression: awssdk.String("attribute_exists(pk)"), ExpressionAttributeValues: row{":a": num("1")}}, "unused in expressions: keys: {:a}"},
		"empty names":   {dynamodb.PutItemInput{Item: good, ExpressionAttributeNames: map[string]string{}}, "must not be empty"},
		"return values": {dynamodb.PutItemInput{Item: good, ReturnValues: "ALL_NEW"}, "ReturnValues"},
	} {
		c.in.TableName = awssdk.String("table")
		if _, err := client.PutItem(t.Context(), &c.in); !strings.Contains(message(err), c.want) || err == nil {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: awssdk.String("table"), Key: good, UpdateExpression: awssdk.String("SET sk = :x"), ExpressionAttributeValues: row{":x": num("2")},
	})
	if !strings.Contains(message(err), "part of the key") {
		t.Errorf("update of a key: %v", err)
	}
	_, err = client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: awssdk.String("table"), Key: row{"pk": str("a")}})
	if !strings.Contains(message(err), "does not match the schema") {
		t.Errorf("half a key: %v", err)
	}
	_, err = client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: awssdk.String("none"), Key: good})
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) {
		t.Errorf("unknown table: %v", err)
	}
}

func TestReturnedValues(t *testing.T) {
	cases := map[types.ReturnValue]row{
		"NONE": nil, "ALL_OLD": {"pk": str("a"), "sk": num("1"), "n": num("1"), "o": num("9")}, "UPDATED_OLD": {"n": num("1")},
		"ALL_NEW": {"pk": str("a"), "sk": num("1"), "n": num("2"), "o": num("9"), "q": num("3")}, "UPDATED_NEW": {"n": num("2"), "q": num("3")},
	}
	for want, expected := range cases {
		client := newTable(t, awstest.New(nil))
		write(t, client, row{"pk": str("a"), "sk": num("1"), "n": num("1"), "o": num("9")})
		out, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: awssdk.String("table"), Key: row{"pk": str("a"), "sk": num("1")}, UpdateExpression: awssdk.String("SET n = :2, q = :3"),
			ExpressionAttributeValues: row{":2": num("2"), ":3": num("3")}, ReturnValues: want,
		})
		if err != nil || !maps.EqualFunc(out.Attributes, expected, func(a, b types.AttributeValue) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%s: %v, %v", want, out.Attributes, err)
		}
	}
	client := newTable(t, awstest.New(nil))
	write(t, client, row{"pk": str("a"), "sk": num("1")})
	out, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: awssdk.String("table"), Key: row{"pk": str("a"), "sk": num("1")}, ReturnValues: "ALL_OLD"})
	if err != nil || len(out.Attributes) != 2 || rows(t, client) != 0 {
		t.Errorf("delete: %v, %v", out, err)
	}
}

// sorts are the sort keys that a query finds, page by page.
func sorts(t *testing.T, client *dynamodb.Client, in dynamodb.QueryInput) (found []string, pages int) {
	t.Helper()
	in.TableName = awssdk.String("table")
	for {
		out, err := client.Query(t.Context(), &in)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, it := range out.Items {
			found = append(found, it["sk"].(*types.AttributeValueMemberN).Value)
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; out.LastEvaluatedKey == nil {
			return found, pages
		}
	}
}

func TestQueriesByTheSortKey(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	for _, n := range []string{"10", "-3", "2", "1.5", "7"} {
		write(t, client, row{"pk": str("a"), "sk": num(n), "x": num(n)}, row{"pk": str("b"), "sk": num(n)})
	}
	for condition, want := range map[string]string{
		"": "-3 1.5 2 7 10", " AND sk = :2": "2", " AND sk < :2": "-3 1.5", " AND sk <= :2": "-3 1.5 2", " AND sk > :2": "7 10",
		" AND sk >= :2": "2 7 10", " AND sk BETWEEN :2 AND :7": "2 7", " AND :2 < sk": "7 10",
	} {
		for _, limit := range []int32{0, 1, 2} {
			for _, forward := range []bool{true, false} {
				in := dynamodb.QueryInput{
					KeyConditionExpression: awssdk.String("pk = :a" + condition), ExpressionAttributeValues: row{":a": str("a")}, ScanIndexForward: &forward,
				}
				for _, n := range []string{"2", "7"} {
					if strings.Contains(condition, ":"+n) {
						in.ExpressionAttributeValues[":"+n] = num(n)
					}
				}
				if limit > 0 {
					in.Limit = &limit
				}
				got, _ := sorts(t, client, in)
				if !forward {
					slices.Reverse(got)
				}
				if strings.Join(got, " ") != want {
					t.Errorf("%q limit %d forward %v: %v, want %s", condition, limit, forward, got, want)
				}
			}
		}
	}
	out, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: awssdk.String("table"), KeyConditionExpression: awssdk.String("pk = :a"), FilterExpression: awssdk.String("x > :2"),
		ExpressionAttributeValues: row{":a": str("a"), ":2": num("2")}, Select: "COUNT",
	})
	if err != nil || out.Count != 2 || out.ScannedCount != 5 || out.Items != nil {
		t.Errorf("count: %+v, %v", out, err)
	}
}

func TestBadQueriesAreRefused(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	for condition, want := range map[string]string{
		"sk = :n": "missed key schema element", "pk = :n": "does not match schema type", "pk > :a": "not supported", "pk = :a AND x = :n": "missed key",
		"pk = :a OR sk = :n": "Invalid operator", "pk = :a AND NOT sk = :n": "Invalid operator", "pk = :a AND sk BETWEEN :n AND :m": "upper bound",
	} {
		in := &dynamodb.QueryInput{TableName: awssdk.String("table"), KeyConditionExpression: awssdk.String(condition), ExpressionAttributeValues: row{}}
		all := row{":a": str("a"), ":n": num("1"), ":m": num("0")}
		for name, v := range all {
			if strings.Contains(condition, name) {
				in.ExpressionAttributeValues[name] = v
			}
		}
		if _, err := client.Query(t.Context(), in); err == nil || !strings.Contains(message(err), want) {
			t.Errorf("%s: %v, want %q", condition, err, want)
		}
	}
	_, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: awssdk.String("table"), KeyConditionExpression: awssdk.String("pk = :a"), FilterExpression: awssdk.String("sk = :n"),
		ExpressionAttributeValues: row{":a": str("a"), ":n": num("1")},
	})
	if !strings.Contains(message(err), "non-primary key") {
		t.Errorf("filter by the key: %v", err)
	}
}

func TestAnIndexFollowsItsTable(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	open := func(limit int32) []string {
		in := dynamodb.QueryInput{
			IndexName: awssdk.String("phase"), KeyConditionExpression: awssdk.String("phase = :o AND begins_with(created, :c)"),
			ExpressionAttributeValues: row{":o": str("open"), ":c": str("2026")}, Limit: &limit,
		}
		found, _ := sorts(t, client, in)
		return found
	}
	write(t, client,
		row{"pk": str("a"), "sk": num("1"), "phase": str("open"), "created": str("2026-02")},
		row{"pk": str("b"), "sk": num("2"), "phase": str("open"), "created": str("2026-01")},
		row{"pk": str("c"), "sk": num("3"), "phase": str("open"), "created": str("2026-01")},
		row{"pk": str("d"), "sk": num("4"), "phase": str("open"), "created": str("2025-01")},
		row{"pk": str("e"), "sk": num("5"), "phase": str("open")},
	)
	for _, limit := range []int32{1, 2, 9} {
		if got := strings.Join(open(limit), " "); got != "2 3 1" {
			t.Errorf("limit %d: %s", limit, got)
		}
	}
	write(t, client, row{"pk": str("b"), "sk": num("2"), "phase": str("done"), "created": str("2026-01")})
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: awssdk.String("table"), Key: row{"pk": str("c"), "sk": num("3")}}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(open(9), " "); got != "1" {
		t.Error(got)
	}
	_, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: awssdk.String("table"), IndexName: awssdk.String("phase"), ConsistentRead: awssdk.Bool(true),
		KeyConditionExpression: awssdk.String("phase = :o"), ExpressionAttributeValues: row{":o": str("open")},
	})
	if !strings.Contains(message(err), "Consistent reads are not supported") {
		t.Error(err)
	}
}

func TestPagesEndAtOneMiB(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	for i := range 7 {
		write(t, client, row{"pk": str("a"), "sk": num(strconv.Itoa(i)), "x": str(strings.Repeat("x", 300<<10))})
	}
	got, pages := sorts(t, client, dynamodb.QueryInput{KeyConditionExpression: awssdk.String("pk = :a"), ExpressionAttributeValues: row{":a": str("a")}})
	if strings.Join(got, "") != "0123456" || pages != 2 {
		t.Errorf("%v in %d pages", got, pages)
	}
}

func TestScansSeeEachRowOnce(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	for i := range 30 {
		write(t, client, row{"pk": str(strconv.Itoa(i % 10)), "sk": num(strconv.Itoa(i))})
	}
	for _, segments := range []int32{1, 3} {
		seen := map[string]int{}
		for segment := range segments {
			in := &dynamodb.ScanInput{TableName: awssdk.String("table"), Limit: awssdk.Int32(4), Segment: &segment, TotalSegments: &segments}
			for {
				out, err := client.Scan(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				for _, it := range out.Items {
					seen[it["sk"].(*types.AttributeValueMemberN).Value]++
				}
				if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
					break
				}
			}
		}
		for i := range 30 {
			if n := seen[strconv.Itoa(i)]; n != 1 {
				t.Errorf("%d segments: row %d was seen %d times", segments, i, n)
			}
		}
	}
}

func keys(from, to int) (list []row) {
	for i := from; i < to; i++ {
		list = append(list, row{"pk": str("a"), "sk": num(strconv.Itoa(i))})
	}
	return list
}

func TestBatchesOfRowsHaveLimits(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	get := func(list []row) (*dynamodb.BatchGetItemOutput, error) {
		return client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"table": {Keys: list}}})
	}
	put := func(list []row) error {
		var w []types.WriteRequest
		for _, it := range list {
			w = append(w, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
		}
		_, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"table": w}})
		return err
	}
	if err := put(keys(0, 25)); err != nil {
		t.Fatal(err)
	}
	if err := put(keys(0, 26)); !strings.Contains(message(err), "Too many items") {
		t.Errorf("26 writes: %v", err)
	}
	if err := put(append(keys(0, 1), row{"pk": str("a"), "sk": num("0.0")})); !strings.Contains(message(err), "duplicates") {
		t.Errorf("one key twice: %v", err)
	}
	if out, err := get(keys(0, 100)); err != nil || len(out.Responses["table"]) != 25 {
		t.Errorf("100 reads: %v", err)
	}
	if _, err := get(keys(0, 101)); !strings.Contains(message(err), "Too many items") {
		t.Errorf("101 reads: %v", err)
	}
	if _, err := get(append(keys(0, 1), keys(0, 1)...)); !strings.Contains(message(err), "duplicates") {
		t.Errorf("one key twice: %v", err)
	}
	for _, k := range keys(0, 42) {
		k["x"] = str(strings.Repeat("x", 399<<10))
		write(t, client, k)
	}
	out, err := get(keys(0, 42))
	if n := len(out.Responses["table"]); err != nil || n != 41 || len(out.UnprocessedKeys["table"].Keys) != 1 {
		t.Errorf("beyond 16 MiB: %d read, %d left, %v", n, len(out.UnprocessedKeys["table"].Keys), err)
	}
}

func TestEventualReadsMissTheLastWrite(t *testing.T) {
	now := time.Unix(1e9, 0)
	client := newTable(t, awstest.New(func() time.Time { return now }, awstest.Stale(time.Second)))
	key := row{"pk": str("a"), "sk": num("1")}
	read := func(strong bool) string {
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: awssdk.String("table"), Key: key, ConsistentRead: &strong})
		if err != nil {
			t.Fatal(err)
		}
		if out.Item == nil {
			return "-"
		}
		return out.Item["n"].(*types.AttributeValueMemberN).Value
	}
	both := func() string { return read(true) + read(false) }
	write(t, client, row{"pk": str("a"), "sk": num("1"), "n": num("1")})
	if got := both(); got != "1-" {
		t.Error(got)
	}
	now = now.Add(time.Second)
	if got := both(); got != "11" {
		t.Error(got)
	}
	write(t, client, row{"pk": str("a"), "sk": num("1"), "n": num("2")})
	if got := both(); got != "21" {
		t.Error(got)
	}
	now = now.Add(time.Second)
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: awssdk.String("table"), Key: key}); err != nil {
		t.Fatal(err)
	}
	if got := both(); got != "-2" {
		t.Error(got)
	}
	now = now.Add(time.Second)
	if got := both(); got != "--" || rows(t, client) != 0 {
		t.Error(got)
	}
}

func TestTransactionsAreAllOrNothing(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	write(t, client, row{"pk": str("a"), "sk": num("1"), "n": num("1")})
	run := func(condition string) (*dynamodb.TransactWriteItemsOutput, error) {
		return client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: "TOTAL", TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: awssdk.String("table"), Item: row{"pk": str("a"), "sk": num("2")}}},
			{Update: &types.Update{
				TableName: awssdk.String("table"), Key: row{"pk": str("a"), "sk": num("1")}, UpdateExpression: awssdk.String("SET n = n + :1"),
				ConditionExpression: &condition, ExpressionAttributeValues: row{":1": num("1")}, ReturnValuesOnConditionCheckFailure: "ALL_OLD",
			}},
		}})
	}
	_, err := run("n > :1")
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || *cancelled.CancellationReasons[1].Code != "ConditionalCheckFailed" || cancelled.CancellationReasons[1].Item == nil || rows(t, client) != 1 {
		t.Errorf("%#v", err)
	}
	out, err := run("n = :1")
	if err != nil || rows(t, client) != 2 || *out.ConsumedCapacity[0].CapacityUnits != 4 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestTablesAreDescribed(t *testing.T) {
	b := awstest.New(nil)
	client := newTable(t, b)
	name := awssdk.String("table")
	out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: name})
	if err != nil || out.Table.TableStatus != "ACTIVE" || out.Table.GlobalSecondaryIndexes[0].IndexStatus != "ACTIVE" || out.Table.BillingModeSummary.BillingMode != "PAY_PER_REQUEST" {
		t.Errorf("%+v, %v", out, err)
	}
	_, err = client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: name, BillingMode: "PAY_PER_REQUEST", KeySchema: out.Table.KeySchema, AttributeDefinitions: out.Table.AttributeDefinitions,
	})
	var inUse *types.ResourceInUseException
	if !errors.As(err, &inUse) {
		t.Errorf("create again: %v", err)
	}
	_, err = client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: awssdk.String("other"), BillingMode: "PAY_PER_REQUEST", KeySchema: out.Table.KeySchema, AttributeDefinitions: out.Table.AttributeDefinitions,
	})
	if !strings.Contains(message(err), "does not exactly match") {
		t.Errorf("attributes that are no keys: %v", err)
	}
	spec := &types.TimeToLiveSpecification{AttributeName: awssdk.String("expires"), Enabled: awssdk.Bool(true)}
	if _, err := client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{TableName: name, TimeToLiveSpecification: spec}); err != nil {
		t.Error(err)
	}
	if _, err := client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{TableName: name, TimeToLiveSpecification: spec}); !strings.Contains(message(err), "already enabled") {
		t.Error(err)
	}
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: name})
	if err != nil || ttl.TimeToLiveDescription.TimeToLiveStatus != "ENABLED" || *ttl.TimeToLiveDescription.AttributeName != "expires" {
		t.Errorf("%+v, %v", ttl, err)
	}
	backups, err := client.UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{
		TableName: name, PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: awssdk.Bool(true)},
	})
	if err != nil || backups.ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus != "ENABLED" {
		t.Errorf("%+v, %v", backups, err)
	}
	list, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil || !slices.Equal(list.TableNames, []string{"table"}) {
		t.Errorf("%+v, %v", list, err)
	}
	for _, protected := range []bool{true, false} {
		if _, err := client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: name, DeletionProtectionEnabled: &protected}); err != nil {
			t.Error(err)
		}
		if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: name}); protected && message(err) == "" {
			t.Errorf("a protected table was deleted: %v", err)
		}
	}
	if _, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: name}); code(err) != "ResourceNotFoundException" {
		t.Error(err)
	}
}

func TestAnIndexIsAddedLater(t *testing.T) {
	client := newTable(t, awstest.New(nil))
	write(t, client, row{"pk": str("a"), "sk": num("1"), "created": str("now")})
	_, err := client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName:            awssdk.String("table"),
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: awssdk.String("created"), AttributeType: "S"}},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: awssdk.String("time"), Projection: &types.Projection{ProjectionType: "ALL"},
			KeySchema: []types.KeySchemaElement{{AttributeName: awssdk.String("created"), KeyType: "HASH"}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	found, _ := sorts(t, client, dynamodb.QueryInput{
		IndexName: awssdk.String("time"), KeyConditionExpression: awssdk.String("created = :now"), ExpressionAttributeValues: row{":now": str("now")},
	})
	if !slices.Equal(found, []string{"1"}) {
		t.Errorf("found %v", found)
	}
}
