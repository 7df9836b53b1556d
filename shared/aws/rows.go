package aws

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/topology"
)

// rowsClient is what the adapters need of DynamoDB.
type rowsClient interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// A record is one row as DynamoDB has it. Names of attributes are short, since
// they are billed with every row; what is zero is left out.
type record = map[string]types.AttributeValue

// token is the attribute of the last writer's mark, 8 random bytes: a write
// that the SDK sends again after a lost answer fails its condition, and the
// token that stands there tells that it was this very write.
const token = "t"

func newToken() types.AttributeValue {
	b := make([]byte, 8)
	rand.Read(b) // never fails, see crypto/rand
	return asBytes(b)
}

func asText(s string) types.AttributeValue  { return &types.AttributeValueMemberS{Value: s} }
func asBytes(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }
func asNumber(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// nano is a time as it is kept: nanoseconds since 1970, 0 for the zero time.
func nano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// setText, setRaw and setNumber leave out what is zero.
func setText(r record, name, s string) {
	if s != "" {
		r[name] = asText(s)
	}
}

func setRaw(r record, name string, b []byte) {
	if len(b) > 0 {
		r[name] = asBytes(b)
	}
}

func setNumber(r record, name string, n int64) {
	if n != 0 {
		r[name] = asNumber(n)
	}
}

// A reader reads the attributes of a record; one that is absent is zero. The
// first attribute of another type stays as its error.
type reader struct {
	record record
	err    error
}

func (r *reader) text(name string) string {
	switch v := r.record[name].(type) {
	case nil:
	case *types.AttributeValueMemberS:
		return v.Value
	default:
		r.wrong(name, v)
	}
	return ""
}

func (r *reader) raw(name string) []byte {
	switch v := r.record[name].(type) {
	case nil:
	case *types.AttributeValueMemberB:
		return v.Value
	default:
		r.wrong(name, v)
	}
	return nil
}

func (r *reader) number(name string) int64 {
	switch v := r.record[name].(type) {
	case nil:
	case *types.AttributeValueMemberN:
		n, err := strconv.ParseInt(v.Value, 10, 64)
		if err != nil && r.err == nil {
			r.err = fmt.Errorf("attribute %s: %w", name, err)
		}
		return n
	default:
		r.wrong(name, v)
	}
	return 0
}

func (r *reader) wrong(name string, v types.AttributeValue) {
	if r.err == nil {
		r.err = fmt.Errorf("attribute %s is a %T", name, v)
	}
}

// isOurs reports whether the token of a row is the one that was to be written.
func isOurs(stands record, mine types.AttributeValue) bool {
	a, ok := stands[token].(*types.AttributeValueMemberB)
	b, mineToo := mine.(*types.AttributeValueMemberB)
	return ok && mineToo && string(a.Value) == string(b.Value)
}

// table is the name of a table in its account.
func (s *Store) table(name string) *string { return awssdk.String(s.stack.TableName(name)) }

// getRow reads a row strongly; nil if there is none or it is expired.
func (s *Store) getRow(ctx context.Context, table string, key record) (record, error) {
	return s.readRow(ctx, table, key, true)
}

func (s *Store) readRow(ctx context.Context, table string, key record, strong bool) (record, error) {
	out, err := s.rows.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: s.table(table), Key: key, ConsistentRead: awssdk.Bool(strong),
	})
	if err != nil {
		return nil, err
	}
	if len(out.Item) == 0 || s.expired(out.Item) {
		return nil, nil
	}
	return out.Item, nil
}

// lost returns the row that stands where a condition failed, nil if none that
// lives does; any other error is handed back. DynamoDB hands the row over with
// its refusal; where an emulator does not, it is read.
func (s *Store) lost(ctx context.Context, table string, key record, err error) (record, error) {
	var refused *types.ConditionalCheckFailedException
	if !errors.As(err, &refused) {
		return nil, err
	}
	if len(refused.Item) == 0 {
		return s.getRow(ctx, table, key)
	}
	if s.expired(refused.Item) {
		return nil, nil
	}
	return refused.Item, nil
}

// expired reports whether a row is past its time: DynamoDB deletes it some
// days later only.
func (s *Store) expired(r record) bool {
	n, ok := r[topology.TTL].(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	at, err := strconv.ParseInt(n.Value, 10, 64)
	return err == nil && at <= s.now().Unix()
}

// The parts of conditions on whether a row is there, with the names and values
// of [Store.absent] and [Store.present].
const (
	isAbsent  = "(attribute_not_exists(#key) OR #expires <= :seconds)"
	isPresent = "#expires > :seconds"
)

// absent are the names and values of [isAbsent]; key is the name of the
// table's partition key.
func (s *Store) absent(key string) (map[string]string, record) {
	names, values := s.present()
	names["#key"] = key
	return names, values
}

// present are the names and values of [isPresent].
func (s *Store) present() (map[string]string, record) {
	return map[string]string{"#expires": topology.TTL}, record{":seconds": asNumber(s.now().Unix())}
}

// refusedIsFine is nil for a failed condition.
func refusedIsFine(err error) error {
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return nil
	}
	return err
}
