package handlers

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// How long an address is believed. Names of the web have times to live from a
// minute up; resolvers do not tell them.
const nameLife = time.Minute

// names finds the addresses of hosts, and knows them for a while. One lookup of
// a name is on its way at a time; what has failed is not kept. It is safe for
// concurrent use.
type names struct {
	resolver *net.Resolver // nil: that of the process

	mu    sync.Mutex
	limit int // names that are kept
	known map[string]*lookup
}

// A lookup is one name's. Its fields are set once done is closed.
type lookup struct {
	done  chan struct{}
	addrs []netip.Addr
	err   error
	until time.Time
}

func newNames(resolver *net.Resolver) *names {
	return &names{resolver: resolver, known: make(map[string]*lookup)}
}

// keep makes room for so many names; the most that was asked for counts.
func (n *names) keep(limit int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.limit = max(n.limit, limit)
}

// find returns the addresses of a host. It waits no longer than ctx allows, and
// looks no longer than limit. The slice is not to be changed.
func (n *names) find(ctx context.Context, host string, limit time.Duration, cached bool) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	if !cached {
		return n.ask(ctx, host, limit)
	}
	l := n.of(host, limit)
	select {
	case <-l.done:
		return l.addrs, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// of is the lookup of a name: one that is good, or is on its way, or a new one.
func (n *names) of(host string, limit time.Duration) *lookup {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l := n.known[host]; l != nil && (!isDone(l) || time.Now().Before(l.until)) {
		return l
	}
	delete(n.known, host)
	n.makeRoom()
	l := &lookup{done: make(chan struct{})}
	n.known[host] = l
	// Not within the time of the request that began: others wait too.
	go func() {
		addrs, err := n.ask(context.Background(), host, limit)
		n.mu.Lock()
		defer n.mu.Unlock()
		l.addrs, l.err, l.until = addrs, err, time.Now().Add(nameLife)
		close(l.done)
		if err != nil && n.known[host] == l {
			delete(n.known, host)
		}
	}()
	return l
}

func isDone(l *lookup) bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// makeRoom forgets names where there are too many: what is past its time, else
// any, as a map gives them in no order.
func (n *names) makeRoom() {
	const looks = 8
	seen, now := 0, time.Now()
	for host, l := range n.known {
		if isDone(l) && now.After(l.until) || len(n.known) >= n.limit {
			delete(n.known, host)
		}
		if seen++; seen >= looks {
			return
		}
	}
}

// ask asks the resolver. A lookup that takes too long is an error of time, any
// other a *net.DNSError.
func (n *names) ask(ctx context.Context, host string, limit time.Duration) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	resolver := n.resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", host)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("looking up the host took more than %s: %w", limit, ctx.Err())
	case err != nil:
		return nil, err
	case len(addrs) == 0:
		return nil, &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	for i, addr := range addrs {
		addrs[i] = addr.Unmap()
	}
	return addrs, nil
}
