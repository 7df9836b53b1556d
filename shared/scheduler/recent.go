package scheduler

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/skitterhq/skitter/shared/crawl"
)

const (
	// recentUnits is how many units of a job the cache holds: 20,000 of 20
	// bytes are about 3 MB with the cache's own bookkeeping.
	recentUnits = 20_000
	// recentJobs is how many jobs have a cache at one time in a process.
	recentJobs = 8
)

// recent remembers units that need no look at the rows, for each job by
// itself. It saves reads, since every page of a site links to the same few;
// forgetting a unit costs a read and never work.
type recent struct {
	mu   sync.Mutex
	jobs *lru.Cache[crawl.JobUID, *lru.Cache[crawl.UnitID, struct{}]]
}

func newRecent() *recent {
	// New fails only on a size that is not positive.
	jobs, _ := lru.New[crawl.JobUID, *lru.Cache[crawl.UnitID, struct{}]](recentJobs)
	return &recent{jobs: jobs}
}

func (r *recent) of(job crawl.JobUID) *lru.Cache[crawl.UnitID, struct{}] {
	r.mu.Lock()
	defer r.mu.Unlock()
	units, ok := r.jobs.Get(job)
	if !ok {
		units, _ = lru.New[crawl.UnitID, struct{}](recentUnits)
		r.jobs.Add(job, units)
	}
	return units
}

func (r *recent) has(job crawl.JobUID, unit crawl.UnitID) bool {
	_, ok := r.of(job).Get(unit)
	return ok
}

func (r *recent) add(job crawl.JobUID, units []crawl.UnitID) {
	cache := r.of(job)
	for _, u := range units {
		cache.Add(u, struct{}{})
	}
}
