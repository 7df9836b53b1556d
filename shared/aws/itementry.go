package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/items"
)

// longestItem is the longest item that lies in its pack, 8,000 bytes after
// compression: eight write units cost what a put of S3 does. Source: Amazon
// DynamoDB and Amazon S3 pricing, $0.625 a million write units, $5 a million
// puts.
const longestItem = 8000

// An itemForm says what an entry has of its item.
type itemForm byte

// The forms of items: JSON, JSON that is compressed, and the key of a blob that
// has either, as its ending tells.
const (
	plainItem itemForm = iota
	smallItem
	blobItem
)

// An itemEntry is a row as it lies in a pack.
type itemEntry struct {
	items.Key
	state items.State
	why   string
	form  itemForm
	body  []byte
	put   int64 // the time of its pack; not in the entry
}

// packedEnding ends the keys of blobs that are compressed.
const packedEnding = ".zst"

// entry makes an entry of a row, and a blob of its item if that is long.
func (t *Items) entry(ctx context.Context, job crawl.JobUID, row items.Row) (itemEntry, error) {
	e := itemEntry{Key: row.Key, state: row.State, why: row.Why}
	if row.Ordinal < 0 {
		return e, fmt.Errorf("item %d of unit %s: items are numbered from 0", row.Ordinal, row.Unit)
	}
	// MarshalJSON itself, since package json would escape <, > and &.
	body, err := row.Item.MarshalJSON()
	if err != nil {
		return e, fmt.Errorf("item %d of unit %s: %w", row.Ordinal, row.Unit, err)
	}
	if e.body = body; len(body) <= longestItem {
		return e, nil
	}
	body, small := compressed(body)
	if small && len(body) <= longestItem {
		e.form, e.body = smallItem, body
		return e, nil
	}
	at := fmt.Sprintf("items/%s/%s/%s/%d", segment(string(job)), row.Unit, segment(string(row.Run)), row.Ordinal)
	if small {
		at += packedEnding
	}
	e.form, e.body = blobItem, []byte(at)
	return e, t.bodies.Put(ctx, at, body)
}

// fetch puts the blobs of entries in the place of their keys.
func (t *Items) fetch(ctx context.Context, entries []itemEntry) error {
	var long []*itemEntry
	for i := range entries {
		if entries[i].form == blobItem {
			long = append(long, &entries[i])
		}
	}
	return forEach(ctx, len(long), func(ctx context.Context, i int) error {
		e, at := long[i], string(long[i].body)
		body, err := t.bodies.Get(ctx, at, 0, -1)
		if err != nil {
			return fmt.Errorf("item %d of unit %s: %w", e.Ordinal, e.Unit, err)
		}
		e.form, e.body = plainItem, body
		if strings.HasSuffix(at, packedEnding) {
			e.form = smallItem
		}
		return nil
	})
}

// row is the row of an entry that has its item.
func (e itemEntry) row() (items.Row, error) {
	row, body := items.Row{Key: e.Key, State: e.state, Why: e.why}, e.body
	var err error
	if e.form == smallItem {
		body, err = decompress(body)
	}
	if err == nil {
		err = json.Unmarshal(body, &row.Item)
	}
	if err != nil {
		return items.Row{}, fmt.Errorf("item %d of unit %s: %w", e.Ordinal, e.Unit, err)
	}
	return row, nil
}
