package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/items"
)

// pack writes a row as it is kept, and its item into a blob if it is long.
func (t *Items) pack(ctx context.Context, job crawl.JobUID, row items.Row) (record, error) {
	key, err := itemKey(row.Key)
	if err != nil {
		return nil, err
	}
	// MarshalJSON itself, since package json would escape <, > and &.
	body, err := row.Item.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("item %d of unit %s: %w", row.Ordinal, row.Unit, err)
	}
	r := record{"job": asText(partitionOf(job, row.Unit)), "item": asBytes(key)}
	setText(r, "s", string(row.State))
	setText(r, "w", row.Why)
	body, small := compressed(body)
	if len(body)+len(key)+len(row.Why) <= longestItem {
		setRaw(r, bodyName(small), body)
		return r, nil
	}
	at := fmt.Sprintf("items/%s/%s/%s/%d", segment(string(job)), row.Unit, segment(string(row.Run)), row.Ordinal)
	if small {
		at += packedEnding
	}
	if err := t.bodies.Put(ctx, at, body); err != nil {
		return nil, err
	}
	r["f"] = asText(at)
	return r, nil
}

// packedEnding ends the keys of blobs that are compressed.
const packedEnding = ".zst"

// bodyName is the attribute of a body in a row.
func bodyName(compressed bool) string {
	if compressed {
		return "z"
	}
	return "j"
}

func (t *Items) unpack(ctx context.Context, r record) (items.Row, error) {
	in := reader{record: r}
	key, err := readItemKey(in.raw("item"))
	if err != nil {
		return items.Row{}, err
	}
	row := items.Row{Key: key, State: items.State(in.text("s")), Why: in.text("w")}
	body, at := in.raw("j"), in.text("f")
	_, small := r["z"]
	if small {
		body = in.raw("z")
	}
	small = small || strings.HasSuffix(at, packedEnding)
	if err = in.err; err == nil && at != "" {
		body, err = t.bodies.Get(ctx, at, 0, -1)
	}
	if err == nil && small {
		body, err = decompress(body)
	}
	if err == nil {
		err = json.Unmarshal(body, &row.Item)
	}
	if err != nil {
		return row, fmt.Errorf("item %d of unit %s: %w", row.Ordinal, row.Unit, err)
	}
	return row, nil
}
