package aws

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/topology"
)

// SlotRows keeps the rows of slots in the table hosts. A row is v (version), g
// (gate), l (tail), b (blocked until) and p (leases, packed). Nothing tells
// that a process is gone, so leases have none and end by themselves.
type SlotRows struct{ s *Store }

// SlotRows returns the rows of slots.
func (s *Store) SlotRows() *SlotRows { return &SlotRows{s} }

var _ slotrows.Store = (*SlotRows)(nil)

func slotKey(slot string) record { return record{"pk": asText("slot#" + keyText(slot))} }

// Get implements [slotrows.Store].
func (t *SlotRows) Get(ctx context.Context, slot string) (slotrows.Row, error) {
	r, err := t.s.getRow(ctx, topology.TableHosts, slotKey(slot))
	if err != nil {
		return slotrows.Row{}, fmt.Errorf("read slot %s: %w", slot, err)
	}
	in := reader{record: r}
	row := slotrows.Row{
		Version: in.number("v"), Gate: fromNano(in.number("g")), Tail: fromNano(in.number("l")),
		BlockedUntil: fromNano(in.number("b")),
	}
	leases, err := unpackLeases(in.raw("p"))
	if row.Leases = leases; err == nil {
		err = in.err
	}
	if err != nil {
		return slotrows.Row{}, fmt.Errorf("read slot %s: %w", slot, err)
	}
	return row, nil
}

// Swap implements [slotrows.Store].
func (t *SlotRows) Swap(ctx context.Context, slot string, row slotrows.Row) (bool, error) {
	r := slotKey(slot)
	r["v"], r[token], r[topology.TTL] = asNumber(row.Version+1), newToken(), asNumber(t.ends(row).Unix())
	setNumber(r, "g", nano(row.Gate))
	setNumber(r, "l", nano(row.Tail))
	setNumber(r, "b", nano(row.BlockedUntil))
	setRaw(r, "p", packLeases(row.Leases))
	in := &dynamodb.PutItemInput{
		TableName: t.s.table(topology.TableHosts), Item: r,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if row.Version == 0 {
		in.ConditionExpression = awssdk.String(isAbsent)
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = t.s.absent("pk")
	} else {
		in.ConditionExpression = awssdk.String("v = :v AND " + isPresent)
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = t.s.present()
		in.ExpressionAttributeValues[":v"] = asNumber(row.Version)
	}
	_, err := t.s.rows.PutItem(ctx, in)
	if err == nil {
		return true, nil
	}
	stands, err := t.s.lost(ctx, topology.TableHosts, slotKey(slot), err)
	if err != nil {
		return false, fmt.Errorf("write slot %s: %w", slot, err)
	}
	return isOurs(stands, r[token]), nil
}

// ends is when a row of a slot means nothing any more: a day after its latest
// clock, and a day from now at least.
func (t *SlotRows) ends(row slotrows.Row) time.Time {
	latest := t.s.now()
	clocks := []time.Time{row.Gate, row.Tail, row.BlockedUntil}
	for _, lease := range row.Leases {
		clocks = append(clocks, lease.Until)
	}
	for _, clock := range clocks {
		if clock.After(latest) {
			latest = clock
		}
	}
	return latest.Add(day)
}

// packLeases writes leases as they are kept: for each the length of its ID,
// doubled, and one more if it is that many bytes in hexadecimal digits; the
// ID; and until when, a varint.
func packLeases(leases []slotrows.Lease) []byte {
	b := make([]byte, 0, 20*len(leases))
	for _, l := range leases {
		id, odd := []byte(l.ID), uint64(0)
		if bytes, err := hex.DecodeString(l.ID); err == nil && hex.EncodeToString(bytes) == l.ID {
			id, odd = bytes, 1
		}
		b = binary.AppendUvarint(b, uint64(len(id))<<1|odd)
		b = append(b, id...)
		b = binary.AppendVarint(b, nano(l.Until))
	}
	return b
}

var errLeases = errors.New("the packed leases end too early")

func unpackLeases(b []byte) ([]slotrows.Lease, error) {
	var leases []slotrows.Lease
	for len(b) > 0 {
		head, width := binary.Uvarint(b)
		if width <= 0 || head>>1 > uint64(len(b)-width) {
			return nil, errLeases
		}
		b = b[width:]
		id := b[:head>>1]
		b = b[head>>1:]
		until, width := binary.Varint(b)
		if width <= 0 {
			return nil, errLeases
		}
		b = b[width:]
		lease := slotrows.Lease{ID: string(id), Until: fromNano(until)}
		if head&1 == 1 {
			lease.ID = hex.EncodeToString(id)
		}
		leases = append(leases, lease)
	}
	return leases, nil
}
