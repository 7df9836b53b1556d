package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// schemaVersion is the version that this build reads and writes: schema, and
// then each of steps. A later one adds a step.
const schemaVersion = firstVersion + len(steps)

// firstVersion is the version of schema; those before it were never released.
const firstVersion = 3

// openPatience is how long Open waits for others that have the database
// locked. No transaction of ours takes near as long.
const openPatience = 30 * time.Second

var (
	errNewer = errors.New("was written by a newer skitter")
	errOlder = errors.New("was written by an older skitter, before its first release")
)

// schema makes the tables of version 3. Keys are what is looked up, and where
// a key says the order of a walk, its last parts do. Times are nanoseconds
// since 1970, 0 for none. A process is one of processes(n); one that is not
// there any more is gone, and numbers are never used again.
const schema = `
CREATE TABLE processes (
	n INTEGER PRIMARY KEY AUTOINCREMENT,
	pid INTEGER NOT NULL,
	started INTEGER NOT NULL -- see startTime
);

-- The names of jobs and queues that keys have: see numbers.go.
CREATE TABLE numbers (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- A message is due at a time; holder is the process that has it, 0 for none.
-- A small body lies in the row. A large one lies apart and the row has NULL,
-- because a delivery moves the row.
CREATE TABLE messages (
	queue INTEGER NOT NULL, job INTEGER NOT NULL, due INTEGER NOT NULL, id INTEGER NOT NULL,
	holder INTEGER NOT NULL, receives INTEGER NOT NULL, body BLOB,
	PRIMARY KEY (queue, job, due, id)
) WITHOUT ROWID;
CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL);

CREATE TABLE frontier (
	job INTEGER NOT NULL, unit BLOB NOT NULL,
	parent BLOB NOT NULL, state TEXT NOT NULL, priority INTEGER NOT NULL, depth INTEGER NOT NULL,
	req BLOB NOT NULL, marks INTEGER NOT NULL, rounds INTEGER NOT NULL,
	run TEXT NOT NULL, items INTEGER NOT NULL, why TEXT NOT NULL,
	PRIMARY KEY (job, unit)
) WITHOUT ROWID;

CREATE TABLE items (
	job INTEGER NOT NULL, unit BLOB NOT NULL, run TEXT NOT NULL, ordinal INTEGER NOT NULL,
	state TEXT NOT NULL, why TEXT NOT NULL, item BLOB NOT NULL,
	PRIMARY KEY (job, unit, run, ordinal)
) WITHOUT ROWID;

CREATE TABLE jobs (
	uid TEXT NOT NULL PRIMARY KEY,
	project TEXT NOT NULL, name TEXT NOT NULL, created INTEGER NOT NULL, rev INTEGER NOT NULL,
	job TEXT NOT NULL, -- JSON
	UNIQUE (project, name)
) WITHOUT ROWID;
CREATE INDEX jobs_created ON jobs (created, uid);
CREATE TABLE counters (
	job TEXT NOT NULL, stage TEXT NOT NULL, moved INTEGER NOT NULL, counts BLOB NOT NULL, -- see packCounts
	PRIMARY KEY (job, stage)
) WITHOUT ROWID;
CREATE TABLE leases (name TEXT NOT NULL PRIMARY KEY, until INTEGER NOT NULL, process INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE driven (job TEXT NOT NULL PRIMARY KEY, process INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE slots (
	slot TEXT NOT NULL PRIMARY KEY,
	version INTEGER NOT NULL, gate INTEGER NOT NULL, tail INTEGER NOT NULL, blocked INTEGER NOT NULL,
	leases BLOB NOT NULL -- see packLeases
) WITHOUT ROWID;

CREATE TABLE origins (
	origin TEXT NOT NULL PRIMARY KEY,
	status INTEGER NOT NULL DEFAULT 0, body BLOB NOT NULL DEFAULT x'',
	expires INTEGER NOT NULL DEFAULT 0, since INTEGER NOT NULL DEFAULT 0,
	leased_until INTEGER NOT NULL DEFAULT 0, leased_to INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE dead (
	job TEXT NOT NULL, id TEXT NOT NULL,
	unit BLOB NOT NULL, queue TEXT NOT NULL, reason TEXT NOT NULL, time INTEGER NOT NULL, body BLOB NOT NULL,
	PRIMARY KEY (job, id)
) WITHOUT ROWID;

PRAGMA user_version = 3;
`

// steps lead from each version to the next.
var steps = [...]string{
	// 4: the cookies that do not travel in their requests.
	`CREATE TABLE jars (job INTEGER NOT NULL, hash TEXT NOT NULL, jars BLOB NOT NULL, PRIMARY KEY (job, hash));
	PRAGMA user_version = 4;`,
}

// openConn opens a connection and sets what holds for it alone.
//
//   - synchronous NORMAL: with a write-ahead log, a crash of the machine may
//     forget the last commits but damages nothing; a crash of the process
//     forgets nothing. Source: sqlite.org/pragma.html#pragma_synchronous.
//   - cache_size: so many KiB of pages are kept in memory at most.
//   - wal_autocheckpoint: the log is worked off at 12,000 pages (48 MiB), twelve
//     times SQLite's default, so that a page that is written again and again
//     is copied once. (Measured: up to a tenth less processor time than at
//     4,000; 2 or 8 KiB pages, a larger cache or mmap_size gain nothing. A
//     log of 45 MiB takes 40 ms to open after kill -9.)
func openConn(ctx context.Context, path string, cacheKiB int) (*sqlite.Conn, error) {
	conn, err := sqlite.Open(path)
	if err != nil {
		return nil, err
	}
	pragmas := fmt.Sprintf(`PRAGMA synchronous = NORMAL; PRAGMA cache_size = -%d; PRAGMA wal_autocheckpoint = 12000;`, cacheKiB)
	if err := retry(ctx, func() error { return conn.Exec(pragmas) }); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// migrate brings the database to schemaVersion.
func migrate(ctx context.Context, c *sqlite.Conn) error {
	version := 0
	read := func() error {
		q := c.Stmt(`PRAGMA user_version`)
		if q.Next() {
			version = int(q.ColInt(0))
		}
		return q.End()
	}
	if err := retry(ctx, read); err != nil {
		return err
	}
	if version > schemaVersion {
		return fmt.Errorf("%w (schema %d, this one knows %d)", errNewer, version, schemaVersion)
	}
	if version == schemaVersion {
		return nil
	}
	if version != 0 && version < firstVersion {
		return fmt.Errorf("%w (schema %d, this one knows %d)", errOlder, version, schemaVersion)
	}
	// The mode is the file's, and cannot be set within a transaction.
	if err := retry(ctx, func() error { return c.Exec(`PRAGMA journal_mode = WAL`) }); err != nil {
		return err
	}
	return immediate(ctx, c, func() error {
		// Another process may have been faster.
		if err := read(); err != nil || version >= schemaVersion {
			return err
		}
		if version == 0 {
			if err := c.Exec(schema); err != nil {
				return err
			}
			version = firstVersion
		}
		for _, step := range steps[version-firstVersion:] {
			if err := c.Exec(step); err != nil {
				return err
			}
		}
		return nil
	})
}
