// Package blob is the port to the store of bytes: bodies that are too large
// for a message, job specifications, feeds. S3 serves it in the cloud, a
// folder on one machine.
//
// What a key means is its writer's business.
package blob

import (
	"context"
	"errors"
	"io"
)

// ErrNotFound is returned for a key that holds nothing.
var ErrNotFound = errors.New("blob not found")

// MaxKey is the longest key in bytes: 1,024.
// Source: Amazon S3 User Guide, "Naming Amazon S3 objects".
const MaxKey = 1024

// A Store keeps bytes under keys. Keys are 1 to [MaxKey] bytes of the letters,
// digits and - _ . = /, with no empty, "." or ".." segment; any other key is
// an error (see [CheckKey]). It is safe for concurrent use.
type Store interface {
	// Put keeps data under a key, whole or not at all, in place of what was
	// there. When it returns nil the bytes outlive this process.
	Put(ctx context.Context, key string, data []byte) error

	// PutReader is Put of all that r gives, without holding it in memory. An
	// error of r leaves what was there untouched.
	PutReader(ctx context.Context, key string, r io.Reader) error

	// Get returns the bytes from offset on, length of them or as many as
	// there are; length less than zero means all. An unknown key is
	// [ErrNotFound], an offset beyond the end gives none.
	Get(ctx context.Context, key string, offset, length int64) ([]byte, error)

	// Delete forgets a key; an unknown one is passed over.
	Delete(ctx context.Context, key string) error

	// DeletePrefix forgets all keys that begin with a prefix. It takes less
	// for a prefix that ends in a slash than a Delete of each. A key that is
	// put meanwhile may be forgotten too; after an error, or a crash, some
	// of the keys may be left.
	DeletePrefix(ctx context.Context, prefix string) error

	// List returns the keys that begin with a prefix, sorted, at most limit
	// of them (0: all), those after the key after ("" for the first).
	List(ctx context.Context, prefix, after string, limit int) ([]string, error)
}
