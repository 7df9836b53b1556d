// Package slotrows is the port to the rows of download slots, which keep
// politeness across all processes and jobs: one row a slot. DynamoDB serves it
// in the cloud, SQLite on one machine.
//
// It holds no logic: what the clocks mean is the business of package slots.
package slotrows

import (
	"context"
	"time"
)

// A Lease is a permit that is out.
type Lease struct {
	// ID is the holder's, unique.
	ID string `json:"id"`
	// Until is when it ends by itself.
	Until time.Time `json:"until"`
	// Process is the holding process where the family frees the leases of
	// processes that are gone; else empty. The store fills it in.
	Process string `json:"process,omitempty"`
}

// A Row is one slot.
type Row struct {
	// Version is raised by each write; 0 for a row that is not there yet.
	Version int64 `json:"-"`
	// Gate is the earliest next start.
	Gate time.Time `json:"gate,omitzero"`
	// Tail is the end of the line of those who were refused.
	Tail time.Time `json:"tail,omitzero"`
	// BlockedUntil keeps everybody out, after a 429 or 503.
	BlockedUntil time.Time `json:"blocked,omitzero"`
	// Leases are the permits that are out.
	Leases []Lease `json:"leases,omitempty"`
}

// A Store keeps the rows. It is safe for concurrent use.
type Store interface {
	// Get reads a row strongly; the zero Row with Version 0 if there is
	// none. Leases of processes that are gone are left out.
	Get(ctx context.Context, slot string) (Row, error)

	// Swap writes a row if the version that stands there is still
	// row.Version (0: none stands there), and raises it by one. It reports
	// whether it did. New leases become those of this process.
	Swap(ctx context.Context, slot string, row Row) (bool, error)
}
