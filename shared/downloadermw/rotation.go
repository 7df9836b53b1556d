package downloadermw

import (
	"math/rand/v2"
	"sync"
	"time"
)

// A rotation is a list of proxies and how each of them fares. It is safe for
// concurrent use.
type rotation struct {
	now func() time.Time

	mu      sync.Mutex
	proxies []rotated
}

// A rotated proxy is good, left out until a time, or has not been tried since.
type rotated struct {
	endpoint
	good     bool
	failures int       // since it last worked
	until    time.Time // when it may be tried again
}

func newRotation(endpoints []endpoint, now func() time.Time) *rotation {
	r := &rotation{now: now, proxies: make([]rotated, len(endpoints))}
	for i, e := range endpoints {
		r.proxies[i].endpoint = e
	}
	return r
}

// take returns a random proxy that is not left out, and its number. If there is
// none it says when the first may be tried again.
func (r *rotation) take() (n int, e endpoint, next time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, usable := r.now(), 0
	for i := range r.proxies {
		p := &r.proxies[i]
		if p.until.After(now) {
			if next.IsZero() || p.until.Before(next) {
				next = p.until
			}
			continue
		}
		usable++
		if rand.IntN(usable) == 0 {
			n = i
		}
	}
	if usable == 0 {
		return 0, endpoint{}, next, false
	}
	return n, r.proxies[n].endpoint, time.Time{}, true
}

// failed leaves a proxy out, for a time drawn from 0 to base, doubled with each
// failure before, at most limit. It reports whether the proxy was in, and how
// many still are. Requests that were under way when it was left out do not count.
func (r *rotation) failed(n int, base, limit time.Duration) (wait time.Duration, fell bool, left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	p := &r.proxies[n]
	if !p.until.After(now) {
		most := min(base, limit)
		for range p.failures {
			if most >= limit {
				break // no overflow
			}
			most = min(2*most, limit)
		}
		wait, fell = time.Duration(rand.Float64()*float64(most)), true
		p.good, p.failures, p.until = false, p.failures+1, now.Add(wait)
	}
	for i := range r.proxies {
		if !r.proxies[i].until.After(now) {
			left++
		}
	}
	return wait, fell, left
}

// worked brings a proxy back in, and reports whether that is news.
func (r *rotation) worked(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.proxies[n]
	news := !p.good
	p.good, p.failures, p.until = true, 0, time.Time{}
	return news
}
