package local

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
	"github.com/skitterhq/skitter/shared/slotrows"
)

// SlotRows keeps the rows of slots. A lease ends at once with the process that
// has it.
type SlotRows struct{ s *Store }

// SlotRows returns the store of slots.
func (s *Store) SlotRows() *SlotRows { return &SlotRows{s} }

var _ slotrows.Store = (*SlotRows)(nil)

// Get implements [slotrows.Store].
func (s *SlotRows) Get(ctx context.Context, slot string) (slotrows.Row, error) {
	if err := s.s.reapSometimes(ctx); err != nil {
		return slotrows.Row{}, fmt.Errorf("read slot %s: %w", slot, err)
	}
	var row slotrows.Row
	err := s.s.writer.readOne(ctx, func(c *sqlite.Conn) error {
		row = slotrows.Row{}
		leases, err := readSlot(c, slot, &row)
		if err != nil || leases == nil {
			return err
		}
		if row.Leases, err = unpackLeases(leases); err != nil {
			return err
		}
		return s.dropDead(c, &row)
	})
	if err != nil {
		return slotrows.Row{}, fmt.Errorf("read slot %s: %w", slot, err)
	}
	return row, nil
}

// readSlot reads a row and returns its leases as they are kept.
func readSlot(c *sqlite.Conn, slot string, row *slotrows.Row) ([]byte, error) {
	q := c.Stmt(`SELECT version, gate, tail, blocked, leases FROM slots WHERE slot = ?`).Text(slot)
	var leases []byte
	if q.Next() {
		row.Version = q.ColInt(0)
		row.Gate, row.Tail, row.BlockedUntil = fromNano(q.ColInt(1)), fromNano(q.ColInt(2)), fromNano(q.ColInt(3))
		leases = q.ColBlob(4)
	}
	return leases, q.End()
}

// dropDead leaves out the leases of processes that are gone.
func (s *SlotRows) dropDead(c *sqlite.Conn, row *slotrows.Row) error {
	own := strconv.FormatInt(s.s.self, 10)
	gone := map[string]bool{own: false}
	for _, lease := range row.Leases {
		if _, known := gone[lease.Process]; known {
			continue
		}
		n, err := strconv.ParseInt(lease.Process, 10, 64)
		if err != nil {
			return fmt.Errorf("lease %s: %w", lease.ID, err)
		}
		q := c.Stmt(`SELECT 1 FROM processes WHERE n = ?`).Int(n)
		gone[lease.Process] = !q.Next()
		if err := q.End(); err != nil {
			return err
		}
	}
	row.Leases = slices.DeleteFunc(row.Leases, func(l slotrows.Lease) bool { return gone[l.Process] })
	return nil
}

// Swap implements [slotrows.Store].
func (s *SlotRows) Swap(ctx context.Context, slot string, row slotrows.Row) (bool, error) {
	leases := s.packLeases(row.Leases)
	did := false
	err := s.s.writer.doOne(ctx, func(c *sqlite.Conn) error {
		var q *sqlite.Stmt
		if row.Version == 0 {
			q = c.Stmt(`INSERT INTO slots (version, gate, tail, blocked, leases, slot) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
		} else {
			q = c.Stmt(`UPDATE slots SET version = ?, gate = ?, tail = ?, blocked = ?, leases = ? WHERE slot = ? AND version = ?`)
		}
		q.Int(row.Version + 1).Int(nano(row.Gate)).Int(nano(row.Tail)).Int(nano(row.BlockedUntil)).Blob(leases).Text(slot)
		if row.Version != 0 {
			q.Int(row.Version)
		}
		err := q.Run()
		did = c.Changes() > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("write slot %s: %w", slot, err)
	}
	return did, nil
}

// packLeases writes leases as they are kept, new ones as this process's.
func (s *SlotRows) packLeases(leases []slotrows.Lease) []byte {
	b := make([]byte, 0, 32*len(leases))
	for _, l := range leases {
		if l.Process == "" {
			l.Process = strconv.FormatInt(s.s.self, 10)
		}
		b = packInt(packString(packString(b, l.ID), l.Process), nano(l.Until))
	}
	return b
}

func unpackLeases(b []byte) ([]slotrows.Lease, error) {
	var leases []slotrows.Lease
	u := unpacker{rest: b}
	for u.more() {
		leases = append(leases, slotrows.Lease{ID: u.string(), Process: u.string(), Until: fromNano(u.int())})
	}
	return leases, u.err
}
