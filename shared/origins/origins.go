// Package origins is the port to what is known of an origin (scheme, host and
// port) for all jobs: its robots.txt. DynamoDB serves it in the cloud, SQLite
// on one machine.
//
// It holds no logic: who fetches the file and what an answer means is the
// business of package downloadermw.
package origins

import (
	"context"
	"time"
)

// A Row is one origin.
type Row struct {
	// Status is the HTTP status of the answer that is kept; 0 while there
	// is none, less than zero if the file could not be had.
	Status int
	// Body is robots.txt as it came, at most 500 KiB. Source: RFC 9309,
	// section 2.5. The store may keep it compressed.
	Body []byte
	// Expires is when the answer is to be asked for again; a row past it is
	// returned all the same.
	Expires time.Time
	// Since is when the file was first found unreachable; zero while it was
	// not.
	Since time.Time
}

// A Store keeps the rows. It is safe for concurrent use.
type Store interface {
	// Get reads a row strongly, and whether there is an answer in it: a
	// Status that is not 0.
	Get(ctx context.Context, origin string) (Row, bool, error)

	// Lease lets one asker fetch the file: it reports whether the lease was
	// free and is now the caller's until a time. It leaves an answer that is
	// there, expired or not, to be read. A lease ends by itself,
	// and at once with the holding process where the family can tell.
	Lease(ctx context.Context, origin string, until time.Time) (bool, error)

	// Put keeps an answer and gives the lease back.
	Put(ctx context.Context, origin string, row Row) error
}
