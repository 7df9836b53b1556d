package aws

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// query reads the rows of a query that live, in its order, at most limit of
// them (0: all). A page of DynamoDB ends at 1 MB, so one that is short says
// nothing: only the absence of a next key is the end.
func (s *Store) query(ctx context.Context, in *dynamodb.QueryInput, limit int) ([]record, error) {
	var rows []record
	err := s.queryEach(ctx, in, limit, func(r record) (bool, error) {
		rows = append(rows, r)
		return limit == 0 || len(rows) < limit, nil
	})
	return rows, err
}

// queryEach calls f with each row of a query that lives until it wants no
// more. About page rows are read at a time; 0 is what DynamoDB gives.
func (s *Store) queryEach(ctx context.Context, in *dynamodb.QueryInput, page int, f func(record) (more bool, err error)) error {
	if page > 0 {
		in.Limit = awssdk.Int32(int32(min(page, 1<<20)))
	}
	for {
		out, err := s.rows.Query(ctx, in)
		if err != nil {
			return err
		}
		for _, row := range out.Items {
			if s.expired(row) {
				continue
			}
			if more, err := f(row); err != nil || !more {
				return err
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// partOf is a strong query of a table's partition. Where a condition is given
// it is one of the sort key, #sort, and a value, :sort.
func (s *Store) partOf(table, partition, condition string, value types.AttributeValue) *dynamodb.QueryInput {
	t := s.stack.Table(table)
	in := &dynamodb.QueryInput{
		TableName: s.table(table), ConsistentRead: awssdk.Bool(true),
		KeyConditionExpression:    awssdk.String("#partition = :partition"),
		ExpressionAttributeNames:  map[string]string{"#partition": t.Partition.Name},
		ExpressionAttributeValues: record{":partition": asText(partition)},
	}
	if condition != "" {
		in.KeyConditionExpression = awssdk.String("#partition = :partition AND " + condition)
		in.ExpressionAttributeNames["#sort"] = t.Sort.Name
		in.ExpressionAttributeValues[":sort"] = value
	}
	return in
}

// The conditions of [Store.partOf].
const (
	sortsAfter = "#sort > :sort"
	beginsWith = "begins_with(#sort, :sort)"
)
