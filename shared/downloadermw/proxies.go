package downloadermw

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/skitterhq/skitter/shared/weburl"
)

// mostRotations bounds the lists of proxies that a process remembers.
const mostRotations = 32

// Proxies are what a process knows of proxies, for all its jobs: those of its
// environment, and how those of the lists of ROTATING_PROXY_LIST fare. It is safe
// for concurrent use.
type Proxies struct {
	env httpproxy.Config
	now func() time.Time

	mu        sync.Mutex
	rotations []knownRotation // the one last used comes last
}

type knownRotation struct {
	key      [sha256.Size]byte
	rotation *rotation
}

// NewProxies makes a process's Proxies. env is the environment as it was read
// once, by httpproxy.FromEnvironment; the zero value has no proxies.
func NewProxies(env httpproxy.Config, now func() time.Time) *Proxies {
	return &Proxies{env: env, now: now}
}

// rotation returns what is known of a list of proxies; jobs with the same list
// share it.
func (p *Proxies) rotation(list []string, inUTF8 bool) (*rotation, error) {
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	endpoints := make([]endpoint, 0, len(list))
	for _, raw := range list {
		e, err := parseProxy(raw, inUTF8)
		if err != nil {
			return nil, fmt.Errorf("ROTATING_PROXY_LIST: %w", err)
		}
		endpoints = append(endpoints, e)
	}
	key := sha256.Sum256([]byte(fmt.Sprint(inUTF8) + "\n" + strings.Join(list, "\n")))

	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.rotations, func(k knownRotation) bool { return k.key == key })
	known := knownRotation{key: key}
	if at >= 0 {
		known = p.rotations[at]
		p.rotations = slices.Delete(p.rotations, at, at+1)
	} else {
		known.rotation = newRotation(endpoints, p.now)
	}
	if len(p.rotations) == mostRotations {
		p.rotations = slices.Delete(p.rotations, 0, 1)
	}
	p.rotations = append(p.rotations, known)
	return known.rotation, nil
}

// neededBy returns which URLs need a proxy, by a list as in the environment's
// no_proxy: hosts and domains, with a port or without, addresses, networks, "*"
// for all. Addresses of this machine need none in any case.
func neededBy(no string) func(weburl.URL) bool {
	const some = "http://proxy.invalid"
	proxyOf := (&httpproxy.Config{HTTPProxy: some, HTTPSProxy: some, NoProxy: no}).ProxyFunc()
	return func(u weburl.URL) bool {
		proxy, err := proxyOf(u.NetURL())
		return err == nil && proxy != nil
	}
}
