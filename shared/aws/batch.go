package aws

import (
	"context"
	"slices"
	"sync"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// What one call takes. Source: Amazon DynamoDB API Reference, BatchGetItem and
// BatchWriteItem.
const (
	mostGets = 100
	mostPuts = 25
)

// rowsAtOnce is how many calls of one method are on the way at the same time.
const rowsAtOnce = 16

// forEach calls f for 0 to n-1, [rowsAtOnce] of them at the same time, and returns
// the first error; what has not begun by then is left out.
func forEach(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	places := make(chan struct{}, rowsAtOnce)
	for i := range n {
		places <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-places }()
			if err := f(ctx, i); err != nil {
				cancel(err) // only the first counts
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// batchGet reads rows by their keys, which must differ, and returns those that
// are there and live, in no order.
func (s *Store) batchGet(ctx context.Context, table string, keys []record, strong bool) ([]record, error) {
	chunks := slices.Collect(slices.Chunk(keys, mostGets))
	found := make([][]record, len(chunks))
	err := forEach(ctx, len(chunks), func(ctx context.Context, i int) (err error) {
		found[i], err = s.getChunk(ctx, *s.table(table), chunks[i], strong)
		return err
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Concat(found...), s.expired), nil
}

func (s *Store) getChunk(ctx context.Context, table string, keys []record, strong bool) ([]record, error) {
	var found []record
	pause := stall{s: s}
	for {
		out, err := s.rows.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys, ConsistentRead: awssdk.Bool(strong)}},
		})
		if err != nil {
			return nil, err
		}
		found = append(found, out.Responses[table]...)
		left := out.UnprocessedKeys[table].Keys
		if len(left) == 0 {
			return found, nil
		}
		if err := pause.wait(ctx, len(left), len(left) < len(keys)); err != nil {
			return nil, err
		}
		keys = left
	}
}

// batchPut writes rows without condition; their keys must differ.
func (s *Store) batchPut(ctx context.Context, table string, rows []record) error {
	chunks := slices.Collect(slices.Chunk(rows, mostPuts))
	return forEach(ctx, len(chunks), func(ctx context.Context, i int) error {
		return s.putChunk(ctx, *s.table(table), chunks[i])
	})
}

func (s *Store) putChunk(ctx context.Context, table string, rows []record) error {
	puts := make([]types.WriteRequest, len(rows))
	for i, row := range rows {
		puts[i] = types.WriteRequest{PutRequest: &types.PutRequest{Item: row}}
	}
	pause := stall{s: s}
	for {
		out, err := s.rows.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: puts},
		})
		if err != nil {
			return err
		}
		left := out.UnprocessedItems[table]
		if len(left) == 0 {
			return nil
		}
		if err := pause.wait(ctx, len(left), len(left) < len(puts)); err != nil {
			return err
		}
		puts = left
	}
}
