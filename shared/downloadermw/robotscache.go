package downloadermw

import (
	"container/list"
	"sync"
	"time"
)

const (
	// cacheBytes bounds the files that are kept parsed, by their estimated
	// size in memory: 16 MiB, a few thousand origins.
	cacheBytes = 16 << 20
	// A parsed file takes about three times its length, and a little for itself.
	bytesPerByte  = 3
	bytesPerEntry = 1 << 10
)

// A knownCache keeps what is known of origins, the most recently used ones. The
// zero value is empty.
type knownCache struct {
	mu     sync.Mutex
	byName map[string]*list.Element // of *cached
	recent list.List                // most recently used first
	bytes  int
}

type cached struct {
	origin string
	known  known
}

func (c *cached) bytes() int {
	return bytesPerEntry + len(c.origin) + bytesPerByte*c.known.size
}

// get returns what is known of an origin, also if it has expired.
func (c *knownCache) get(origin string) known {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.byName[origin]
	if element == nil {
		return known{}
	}
	c.recent.MoveToFront(element)
	return element.Value.(*cached).known
}

// put replaces what is known of an origin.
func (c *knownCache) put(origin string, k known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(origin, k)
}

// hold notes that there is no use in asking for an origin before a time.
func (c *knownCache) hold(origin string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var k known
	if element := c.byName[origin]; element != nil {
		k = element.Value.(*cached).known
	}
	k.pending = until
	c.set(origin, k)
}

func (c *knownCache) set(origin string, k known) {
	c.remove(c.byName[origin])
	if c.byName == nil {
		c.byName = make(map[string]*list.Element)
	}
	entry := &cached{origin, k}
	c.byName[origin] = c.recent.PushFront(entry)
	c.bytes += entry.bytes()
	for c.bytes > cacheBytes && c.recent.Len() > 1 {
		c.remove(c.recent.Back())
	}
}

func (c *knownCache) remove(element *list.Element) {
	if element == nil {
		return
	}
	entry := element.Value.(*cached)
	c.recent.Remove(element)
	delete(c.byName, entry.origin)
	c.bytes -= entry.bytes()
}

// The flights are the fetches of files that others of this process wait for.
type flights struct {
	mu       sync.Mutex
	byOrigin map[string]*flight
}

// A flight is one such fetch. What it brings may be read once done is closed.
type flight struct {
	done      chan struct{}
	known     known
	err       error
	abandoned bool // its request ended before there was an answer
}

// join returns the flight of an origin, and whether the caller has to lead it.
func (f *flights) join(origin string) (*flight, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if there := f.byOrigin[origin]; there != nil {
		return there, false
	}
	if f.byOrigin == nil {
		f.byOrigin = make(map[string]*flight)
	}
	mine := &flight{done: make(chan struct{})}
	f.byOrigin[origin] = mine
	return mine, true
}

// land ends a flight, so that those who wait go on.
func (f *flights) land(origin string, mine *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byOrigin, origin)
	close(mine.done)
}
