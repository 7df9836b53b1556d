package site

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// What clients may make the site remember: of one string, of hosts told apart,
// and of ids of /status/503.
const (
	maxKeptBytes = 256
	maxHosts     = 10_000
	maxIDs       = 10_000
)

// otherHosts stands for the hosts seen after the first maxHosts.
const otherHosts = "*"

// What is known of a product.
const (
	asked byte = 1 << iota
	fetched
)

// visits counts requests. It is safe for concurrent use.
type visits struct {
	mu       sync.Mutex
	log      ring
	counts   Stats // MaxInFlight is in hosts
	hosts    map[string]*inFlight
	products []byte // asked, fetched
	ids      map[string]bool
}

// inFlight says how many requests to one host are being served, and the most
// there have been.
type inFlight struct{ now, most int }

// A visit is one request that has started.
type visit struct {
	number   uint64 // in the log
	host     *inFlight
	product  int  // -1: not a product's page
	firstTry bool // at this product
	whole    bool // a GET, not a HEAD
}

func newVisits(pages, logLimit int) *visits {
	return &visits{
		log:      ring{limit: logLimit},
		counts:   newCounts(pages),
		hosts:    map[string]*inFlight{},
		products: make([]byte, pages),
		ids:      map[string]bool{},
	}
}

func newCounts(pages int) Stats {
	return Stats{Pages: pages, Statuses: map[int]int{}}
}

// start counts a request in. The product is its number, or -1.
func (vs *visits) start(r *http.Request, product int) visit {
	entry := Entry{
		Method:    short(r.Method),
		Host:      short(strings.ToLower(r.Host)),
		Path:      short(r.URL.Path),
		Query:     short(r.URL.RawQuery),
		UserAgent: short(r.UserAgent()),
	}
	v := visit{product: product, whole: r.Method == http.MethodGet}

	vs.mu.Lock()
	defer vs.mu.Unlock()
	entry.Start = time.Now() // under the lock, so that the log is in its order
	v.number = vs.log.add(entry)
	vs.counts.Hits++
	if strings.HasPrefix(r.URL.Path, "/private/") {
		vs.counts.ForbiddenHits++
	}
	if product >= 0 {
		vs.counts.ProductHits++
		v.firstTry = vs.products[product]&asked == 0
		vs.products[product] |= asked
	}
	v.host = vs.host(entry.Host)
	v.host.now++
	v.host.most = max(v.host.most, v.host.now)
	return v
}

// finish counts a request out. One that began before the last reset only
// leaves its host.
func (vs *visits) finish(v visit, status int) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	v.host.now--
	if v.number < vs.log.first {
		return
	}
	vs.counts.Statuses[status]++
	if vs.log.holds(v.number) {
		entry := vs.log.at(v.number)
		entry.End, entry.Status = time.Now(), status
	}
	if v.product >= 0 && v.whole && status == http.StatusOK && vs.products[v.product]&fetched == 0 {
		vs.products[v.product] |= fetched
		vs.counts.DistinctProducts++
	}
}

// host returns the count of a host, or of all those beyond maxHosts. Needs the
// lock.
func (vs *visits) host(name string) *inFlight {
	h := vs.hosts[name]
	if h == nil && len(vs.hosts) >= maxHosts {
		name = otherHosts
		h = vs.hosts[name]
	}
	if h == nil {
		h = new(inFlight)
		vs.hosts[name] = h
	}
	return h
}

// firstWith reports whether no request has come with this id.
func (vs *visits) firstWith(id string) bool {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.ids[id] {
		return false
	}
	if len(vs.ids) >= maxIDs {
		clear(vs.ids)
	}
	vs.ids[id] = true
	return true
}

func (vs *visits) entries() []Entry {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.log.all()
}

func (vs *visits) stats() Stats {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.snapshot()
}

// snapshot returns a copy of the figures. Needs the lock.
func (vs *visits) snapshot() Stats {
	st := vs.counts
	st.Statuses = maps.Clone(st.Statuses)
	st.MaxInFlight = make(map[string]int, len(vs.hosts))
	for name, h := range vs.hosts {
		st.MaxInFlight[name] = h.most
	}
	return st
}

// reset forgets all but the requests being served, and returns the stats up to
// then.
func (vs *visits) reset() Stats {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	st := vs.snapshot()
	vs.log.empty()
	vs.counts = newCounts(st.Pages)
	for name, h := range vs.hosts {
		h.most = h.now
		if h.now == 0 {
			delete(vs.hosts, name)
		}
	}
	clear(vs.products)
	clear(vs.ids)
	return st
}

// short cuts s to maxKeptBytes bytes, without keeping the rest in memory.
func short(s string) string {
	if len(s) <= maxKeptBytes {
		return s
	}
	return strings.Clone(s[:maxKeptBytes])
}
