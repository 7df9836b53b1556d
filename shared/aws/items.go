package aws

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/topology"
)

// longestItem is the longest item that stands in its row, 8,000 bytes: a row of
// eight write units costs what a put of S3 does. Source: Amazon DynamoDB and
// Amazon S3 pricing, $0.625 a million write units, $5 a million puts.
const longestItem = 8000

// Items keeps the rows of items in the table items. Its rows are s (state), w
// (why), and of the item j (JSON) or z (JSON, compressed); a longer one lies
// in a blob whose key is f, and whose ending tells whether it is compressed.
type Items struct {
	s      *Store
	bodies blob.Store
}

// Items returns the rows of items.
func (s *Store) Items() *Items { return &Items{s, s.blobs} }

var _ items.Store = (*Items)(nil)

// runKey begins the sort key of each item of a run.
func runKey(unit crawl.UnitID, run crawl.RunID) []byte {
	return append(append(unit[:len(unit):len(unit)], run...), 0)
}

// itemKey is an item's sort key: unit, run, 0 and the ordinal, so that it sorts
// as they do.
func itemKey(k items.Key) ([]byte, error) {
	if strings.Contains(string(k.Run), "\x00") || k.Ordinal < 0 || k.Ordinal > math.MaxUint32 {
		return nil, fmt.Errorf("item %d of run %q of unit %s has no key", k.Ordinal, k.Run, k.Unit)
	}
	return binary.BigEndian.AppendUint32(runKey(k.Unit, k.Run), uint32(k.Ordinal)), nil
}

func readItemKey(b []byte) (items.Key, error) {
	var k items.Key
	if len(b) < len(k.Unit)+1+4 {
		return k, fmt.Errorf("row of an item with a key of %d bytes", len(b))
	}
	copy(k.Unit[:], b)
	k.Run = crawl.RunID(b[len(k.Unit) : len(b)-5])
	k.Ordinal = int(binary.BigEndian.Uint32(b[len(b)-4:]))
	return k, nil
}

// Put implements [items.Store].
func (t *Items) Put(ctx context.Context, job crawl.JobUID, rows []items.Row) error {
	if len(rows) == 0 {
		return nil
	}
	expires, err := t.s.jobs.expiry.of(ctx, job)
	if err != nil {
		return fmt.Errorf("write %d items of job %s: %w", len(rows), job, err)
	}
	rows = lastOfEach(rows)
	packed := make([]record, len(rows))
	err = forEach(ctx, len(rows), func(ctx context.Context, i int) (err error) {
		if packed[i], err = t.pack(ctx, job, rows[i]); err == nil {
			packed[i][topology.TTL] = asNumber(expires)
		}
		return err
	})
	if err == nil {
		err = t.s.batchPut(ctx, topology.TableItems, packed)
	}
	if err != nil {
		return fmt.Errorf("write %d items of job %s: %w", len(rows), job, err)
	}
	return nil
}

// lastOfEach keeps the last row of each key: DynamoDB refuses a batch that has
// one twice.
func lastOfEach(rows []items.Row) []items.Row {
	place := make(map[items.Key]int, len(rows))
	kept := make([]items.Row, 0, len(rows))
	for _, row := range rows {
		if i, twice := place[row.Key]; twice {
			kept[i] = row
			continue
		}
		place[row.Key] = len(kept)
		kept = append(kept, row)
	}
	return kept
}

// Scan implements [items.Store].
func (t *Items) Scan(ctx context.Context, job crawl.JobUID, shard int, after *items.Key, limit int) ([]items.Row, error) {
	if shard < 0 || shard >= frontier.Shards {
		return nil, fmt.Errorf("scan items of shard %d of job %s: there are 0 to %d", shard, job, frontier.Shards-1)
	}
	condition, value := "", types.AttributeValue(nil)
	if after != nil {
		key, err := itemKey(*after)
		if err != nil {
			return nil, fmt.Errorf("scan items of job %s: %w", job, err)
		}
		condition, value = sortsAfter, asBytes(key)
	}
	rows, err := t.read(ctx, t.s.partOf(topology.TableItems, partition(job, shard), condition, value), limit)
	if err != nil {
		return nil, fmt.Errorf("scan items of shard %d of job %s: %w", shard, job, err)
	}
	return rows, nil
}

// Of implements [items.Store].
func (t *Items) Of(ctx context.Context, job crawl.JobUID, unit crawl.UnitID, run crawl.RunID) ([]items.Row, error) {
	of := t.s.partOf(topology.TableItems, partitionOf(job, unit), beginsWith, asBytes(runKey(unit, run)))
	rows, err := t.read(ctx, of, 0)
	if err != nil {
		return nil, fmt.Errorf("read items of unit %s of job %s: %w", unit, job, err)
	}
	return rows, nil
}

func (t *Items) read(ctx context.Context, in *dynamodb.QueryInput, limit int) ([]items.Row, error) {
	found, err := t.s.query(ctx, in, limit)
	if err != nil {
		return nil, err
	}
	rows := make([]items.Row, len(found))
	err = forEach(ctx, len(found), func(ctx context.Context, i int) (err error) {
		rows[i], err = t.unpack(ctx, found[i])
		return err
	})
	return rows, err
}
