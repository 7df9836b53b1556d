package aws

import (
	"reflect"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/topology"
)

type row = map[string]types.AttributeValue

// indexKeys are the key attributes of each table's indexes.
func indexKeys(stack topology.Stack) map[string][][]string {
	keys := map[string][][]string{}
	for _, t := range stack.Tables {
		for _, i := range t.Indexes {
			names := []string{i.Partition.Name}
			if i.Sort.Name != "" {
				names = append(names, i.Sort.Name)
			}
			keys[stack.TableName(t.Name)] = append(keys[stack.TableName(t.Name)], names)
		}
	}
	return keys
}

// dynamoUnits is what an attempt is billed: read and write units. A refused
// one costs nothing unless it is a condition that failed.
//
// Sizes are those of what is sent and what comes back. That is exact for a row
// of up to 1 KB, as ours are but for the longest requests and items; of a
// longer one it is a lower bound where DynamoDB changes, deletes, projects or
// filters what it does not return.
func (c *counter) dynamoUnits(a attempt) (reads, writes float64) {
	if a.failed() {
		if as[*types.TransactionCanceledException](a.err) == nil && as[*types.ConditionalCheckFailedException](a.err) == nil {
			return 0, 0
		}
	}
	switch in := a.input.(type) {
	case *dynamodb.GetItemInput, *dynamodb.BatchGetItemInput, *dynamodb.QueryInput, *dynamodb.ScanInput, *dynamodb.TransactGetItemsInput:
		return readUnits(in, a.output), 0
	}
	return 0, c.writeUnits(a)
}

func readUnits(input, output any) float64 {
	units := 0.0
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		if out, ok := output.(*dynamodb.GetItemOutput); ok {
			units = meter.ReadUnits(itemSize(out.Item), awssdk.ToBool(in.ConsistentRead))
		}
	case *dynamodb.BatchGetItemInput:
		if out, ok := output.(*dynamodb.BatchGetItemOutput); ok {
			for table, asked := range in.RequestItems {
				units += batchReadUnits(asked, out.Responses[table], len(out.UnprocessedKeys[table].Keys))
			}
		}
	case *dynamodb.TransactGetItemsInput:
		if out, ok := output.(*dynamodb.TransactGetItemsOutput); ok {
			for _, r := range out.Responses {
				units += 2 * meter.ReadUnits(itemSize(r.Item), true)
			}
		}
	case *dynamodb.QueryInput:
		if out, ok := output.(*dynamodb.QueryOutput); ok {
			units = meter.ReadUnits(scanned(out.Items, out.Count, out.ScannedCount), awssdk.ToBool(in.ConsistentRead))
		}
	case *dynamodb.ScanInput:
		if out, ok := output.(*dynamodb.ScanOutput); ok {
			units = meter.ReadUnits(scanned(out.Items, out.Count, out.ScannedCount), awssdk.ToBool(in.ConsistentRead))
		}
	}
	return units
}

// batchReadUnits counts every key that was looked at: those that found a row,
// and those that missed.
func batchReadUnits(asked types.KeysAndAttributes, found []row, unprocessed int) float64 {
	consistent := awssdk.ToBool(asked.ConsistentRead)
	missed := max(0, len(asked.Keys)-unprocessed-len(found))
	units := float64(missed) * meter.ReadUnits(0, consistent)
	for _, r := range found {
		units += meter.ReadUnits(itemSize(r), consistent)
	}
	return units
}

// scanned is the size in bytes of all rows that a query has read. Those that a
// filter held back are taken to be as long as the others.
func scanned(rows []row, returned, read int32) int {
	bytes := 0
	for _, r := range rows {
		bytes += itemSize(r)
	}
	if n := int(returned); n > 0 && read > returned {
		bytes = bytes * int(read) / n
	}
	return bytes
}

func (c *counter) writeUnits(a attempt) float64 {
	old := row(nil) // the row that stood in the way, if it was asked for
	if failed := as[*types.ConditionalCheckFailedException](a.err); failed != nil {
		old = failed.Item
	}
	w := writing{counter: c, done: !a.failed()}
	switch in := a.input.(type) {
	case *dynamodb.PutItemInput:
		if out, ok := a.output.(*dynamodb.PutItemOutput); ok && w.done {
			old = out.Attributes
		}
		return w.units(in.TableName, in.Item, old)
	case *dynamodb.UpdateItemInput:
		changed := row(nil)
		if out, ok := a.output.(*dynamodb.UpdateItemOutput); ok && w.done {
			changed = out.Attributes
		}
		return w.units(in.TableName, updated(in.Key, in.ExpressionAttributeValues), old, changed)
	case *dynamodb.DeleteItemInput:
		if out, ok := a.output.(*dynamodb.DeleteItemOutput); ok && w.done {
			old = out.Attributes
		}
		return w.units(in.TableName, in.Key, old)
	case *dynamodb.BatchWriteItemInput:
		units := w.batch(in.RequestItems)
		if out, ok := a.output.(*dynamodb.BatchWriteItemOutput); ok {
			units -= w.batch(out.UnprocessedItems)
		}
		return units
	case *dynamodb.TransactWriteItemsInput:
		return w.transaction(in.TransactItems)
	}
	return 0
}

// updated is at least what an update leaves: the key, and the values that it
// speaks of, under the names of the expression.
func updated(key, values row) row {
	left := row{}
	for name, v := range key {
		left[name] = v
	}
	for name, v := range values {
		left[name] = v
	}
	return left
}

// A writing adds up what one call writes.
type writing struct {
	*counter
	done bool // no condition has failed
}

// units is what writing a row costs of which several pictures are known, before
// and after it: the largest counts, and each place that an index has for the
// row is written as well, the one that it leaves too. That is exact where the
// row before is asked for (ReturnValues ALL_OLD), else a lower bound. Source:
// Amazon DynamoDB Developer Guide, "Provisioned throughput considerations for
// Global Secondary Indexes".
func (w writing) units(table *string, pictures ...row) float64 {
	size, entries := 0, 0
	for _, p := range pictures {
		size = max(size, itemSize(p))
	}
	if w.done {
		for _, keys := range w.indexes[awssdk.ToString(table)] {
			entries += places(pictures, keys)
		}
	}
	return meter.WriteUnits(size) * float64(1+entries)
}

// places counts the different places in an index that pictures of a row have.
func places(pictures []row, keys []string) int {
	var seen []row
	for _, p := range pictures {
		same := func(q row) bool {
			return !slices.ContainsFunc(keys, func(k string) bool { return !reflect.DeepEqual(p[k], q[k]) })
		}
		if hasAll(p, keys) && !slices.ContainsFunc(seen, same) {
			seen = append(seen, p)
		}
	}
	return len(seen)
}

func (w writing) batch(tables map[string][]types.WriteRequest) float64 {
	units := 0.0
	for table, requests := range tables {
		for _, r := range requests {
			switch {
			case r.PutRequest != nil:
				units += w.units(&table, r.PutRequest.Item)
			case r.DeleteRequest != nil:
				units += w.units(&table, r.DeleteRequest.Key)
			}
		}
	}
	return units
}

// transaction counts each row twice: it is prepared and then written.
func (w writing) transaction(items []types.TransactWriteItem) float64 {
	units := 0.0
	for _, i := range items {
		switch {
		case i.Put != nil:
			units += 2 * w.units(i.Put.TableName, i.Put.Item)
		case i.Update != nil:
			units += 2 * w.units(i.Update.TableName, updated(i.Update.Key, i.Update.ExpressionAttributeValues))
		case i.Delete != nil:
			units += 2 * w.units(i.Delete.TableName, i.Delete.Key)
		case i.ConditionCheck != nil:
			units += 2 * w.units(i.ConditionCheck.TableName, i.ConditionCheck.Key)
		}
	}
	return units
}

func hasAll(r row, names []string) bool {
	for _, n := range names {
		if _, ok := r[n]; !ok {
			return false
		}
	}
	return true
}
