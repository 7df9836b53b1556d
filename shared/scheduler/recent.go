package scheduler

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/skitterhq/skitter/shared/crawl"
)

const (
	// recentUnits is how many units of a job the cache holds: 20,000 of 40
	// bytes are about 3.5 MB with the cache's own bookkeeping.
	recentUnits = 20_000
	// recentJobs is how many jobs have a cache at one time in a process.
	recentJobs = 8
)

// mostlyNewBelow is the share of known units among those that the cache lacks,
// below which they are not read before they are put. An eventually consistent
// read of a row costs half a read unit, $0.0625 a million; a put that finds a
// row costs a write unit for nothing, $0.625 a million. Source: Amazon DynamoDB
// on-demand pricing, US East.
const mostlyNewBelow = 0.1

// learnOver is over how many units that share is averaged.
const learnOver = 100

// recent remembers units that need no look at the rows, for each job by
// itself. It saves reads, since every page of a site links to the same few;
// forgetting a unit costs a read and never work.
type recent struct {
	mu   sync.Mutex
	jobs *lru.Cache[crawl.JobUID, *memory]
}

// A memory is what is remembered of one job.
type memory struct {
	// units are those that need no look, and for whom: the value is the only
	// parent that must look all the same, since it may have to send the unit;
	// zero for a unit that is known to be sent.
	units *lru.Cache[crawl.UnitID, crawl.UnitID]
	mu    sync.Mutex
	// known is the share of units, among those that were not remembered, that
	// had a row. It begins above the limit: the first some hundred are read.
	known float64
}

func newRecent() *recent {
	// New fails only on a size that is not positive.
	jobs, _ := lru.New[crawl.JobUID, *memory](recentJobs)
	return &recent{jobs: jobs}
}

func (r *recent) of(job crawl.JobUID) *memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.jobs.Get(job)
	if !ok {
		units, _ := lru.New[crawl.UnitID, crawl.UnitID](recentUnits)
		m = &memory{units: units, known: 2 * mostlyNewBelow}
		r.jobs.Add(job, m)
	}
	return m
}

// has reports whether a unit needs no look when a parent gives it.
func (r *recent) has(job crawl.JobUID, unit, parent crawl.UnitID) bool {
	owner, ok := r.of(job).units.Get(unit)
	return ok && (owner.IsZero() || owner != parent)
}

// add remembers units with the parents that answer for them; see memory.
func (r *recent) add(job crawl.JobUID, owners map[crawl.UnitID]crawl.UnitID) {
	cache := r.of(job).units
	for unit, owner := range owners {
		cache.Add(unit, owner)
	}
}

// learn notes how many of so many units had a row.
func (r *recent) learn(job crawl.JobUID, units, known int) {
	if units == 0 {
		return
	}
	m := r.of(job)
	m.mu.Lock()
	defer m.mu.Unlock()
	weight := min(float64(units)/learnOver, 1)
	m.known += (float64(known)/float64(units) - m.known) * weight
}

// mostlyNew reports whether nearly all units that are not remembered have no
// row.
func (r *recent) mostlyNew(job crawl.JobUID) bool {
	m := r.of(job)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known < mostlyNewBelow
}
