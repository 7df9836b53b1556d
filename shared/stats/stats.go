// Package stats counts what happens, under Scrapy's keys
// ("downloader/response_count", "item_scraped_count", …).
//
// A [Collector] counts in memory for one job in one process; the engine takes
// its counts at the end of each invocation and adds them to the job's counters
// (package jobs), which sum over all processes.
package stats

import (
	"maps"
	"sync"
)

// A Collector counts under keys. Its methods are safe for concurrent use. The
// zero Collector is empty and ready.
type Collector struct {
	mu     sync.Mutex
	counts map[string]int64
}

// Add adds n to a key.
func (c *Collector) Add(key string, n int64) {
	if n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = make(map[string]int64)
	}
	c.counts[key] += n
}

// Inc adds 1 to a key.
func (c *Collector) Inc(key string) { c.Add(key, 1) }

// Take returns what was counted since the last Take, and begins anew.
func (c *Collector) Take() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.counts
	c.counts = nil
	return counts
}

// Snapshot returns a copy of what was counted since the last Take.
func (c *Collector) Snapshot() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counts)
}
