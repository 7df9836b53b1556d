// Package jars is the port to the cookies that are too long to travel in the
// requests that carry them: a row for each, under the hash of what is in it.
// DynamoDB serves it in the cloud, SQLite on one machine.
//
// It holds no logic: package scheduler is its only writer, and decides what
// travels and what lies here. What a text means is the business of package
// cookies. It is secret: no adapter shows it in an error or a log.
package jars

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"

	"github.com/skitterhq/skitter/shared/crawl"
)

// ErrNotFound is returned for a hash that nothing is kept under.
var ErrNotFound = errors.New("cookies not found")

// A Hash names a text by what is in it: the SHA-256 of its bytes, in the 43
// characters of base64url.
type Hash string

// HashOf is the hash of a text.
func HashOf(text string) Hash {
	sum := sha256.Sum256([]byte(text))
	return Hash(base64.RawURLEncoding.EncodeToString(sum[:]))
}

// A Store keeps texts of any characters, those of each job apart and for as long
// as the job's other rows. One is to stay under 8 KB. A store is safe for
// concurrent use, and each method may be repeated after an error.
type Store interface {
	// Put keeps a text under its [HashOf]. One that is there stays.
	Put(ctx context.Context, job crawl.JobUID, text string) error

	// Get returns the text of a hash. It finds whatever a Put that has
	// returned nil has kept, in whatever process; else it is [ErrNotFound].
	Get(ctx context.Context, job crawl.JobUID, hash Hash) (string, error)
}
