package topology

import "time"

// The tables.
const (
	TableFrontier = "frontier"
	TableItems    = "items"
	TableJobs     = "jobs"
	TableHosts    = "hosts"
)

// IndexPhase lists the jobs that have not ended, and those that have, each by
// time.
const IndexPhase = "phase"

// TTL is the attribute of every table that says when a row expires, in seconds
// since 1970. DynamoDB deletes it within some days of then, so whoever reads
// looks at it, too. Source: Amazon DynamoDB Developer Guide, "Using time to
// live".
const TTL = "expires"

// An AttributeType is the type of a key: "S" for text, "B" for bytes, "N" for
// a number.
type AttributeType string

// The types of keys.
const (
	Text   AttributeType = "S"
	Bytes  AttributeType = "B"
	Number AttributeType = "N"
)

// A Key is an attribute that rows are found by.
type Key struct {
	Name string
	Type AttributeType
}

// A Table is one DynamoDB table, paid for by use.
type Table struct {
	Name string
	// Partition and Sort make up the key; Sort may be the zero Key.
	Partition, Sort Key
	Indexes         []Index
	// Recovery keeps the table's past, to go back to (point-in-time
	// recovery): for what cannot be made again.
	Recovery bool
}

// An Index finds a table's rows by another key. It holds whole rows.
type Index struct {
	Name            string
	Partition, Sort Key
}

func tables() []Table {
	return []Table{
		// A row a unit: job and shard; unit. Beside them a row for cookies that
		// do not travel in their requests: their hash.
		{Name: TableFrontier, Partition: Key{"job", Text}, Sort: Key{"unit", Bytes}},
		// A row a pack of items, of one job and shard; its least unit and
		// random bytes.
		{Name: TableItems, Partition: Key{"job", Text}, Sort: Key{"item", Bytes}, Recovery: true},
		// Jobs, their names and counters, leases and dead letters.
		{
			Name: TableJobs, Partition: Key{"pk", Text}, Sort: Key{"sk", Text}, Recovery: true,
			Indexes: []Index{{Name: IndexPhase, Partition: Key{"phase", Text}, Sort: Key{"created", Text}}},
		},
		// Slots and origins.
		{Name: TableHosts, Partition: Key{"pk", Text}},
	}
}

// Table returns a table by its name within the stack. An unknown name is a
// mistake of the program.
func (s Stack) Table(name string) Table {
	for _, t := range s.Tables {
		if t.Name == name {
			return t
		}
	}
	panic("topology: no table " + name)
}

// A Prefix is a folder of the bucket.
type Prefix struct {
	Name string
	// Expires is after how long its objects are deleted; 0 is never.
	Expires time.Duration
}

func prefixes() []Prefix {
	return []Prefix{
		{Name: "requests/", Expires: longestJob + retention}, // what is too long for its row
		{Name: "pages/", Expires: longestJob + retention},    // what is too long for its message
		{Name: "messages/", Expires: 15 * day},               // no message lives longer than 14 days
		{Name: "dead/", Expires: longestJob + retention},
		{Name: "items/"}, // what is too long for its pack, and belongs to the job's output
		{Name: "jobs/"},
		{Name: "feeds/"},
		{Name: "httpcache/"}, // HTTPCACHE_EXPIRATION_SECS says what is void
		{Name: "start/"},     // an object put here starts a job
	}
}
