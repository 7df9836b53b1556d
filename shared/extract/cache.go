package extract

import "sync"

// maxCompiled bounds the compiled selectors that are kept: a project has some
// hundreds, and one that makes them up on the way must not fill the memory.
const maxCompiled = 1000

// compiled and patterns are the variables of the package that change. They hold
// nothing but what the text of a selector always compiles to, so no test and no
// job can see that another was there before.
var (
	compiled cache[queryKey, *Query]
	patterns cache[string, *pattern]
)

type queryKey struct {
	language language
	text     string
}

// query returns the compiled form of a selector.
func query(l language, text string) (*Query, error) {
	return compiled.get(queryKey{l, text}, func() (*Query, error) { return compile(l, text) })
}

// A cache keeps what was compiled by its text. It is safe for concurrent use.
type cache[K comparable, V any] struct {
	mu   sync.RWMutex
	kept map[K]V
}

func (c *cache[K, V]) get(key K, compile func() (V, error)) (V, error) {
	c.mu.RLock()
	v, found := c.kept[key]
	c.mu.RUnlock()
	if found {
		return v, nil
	}
	v, err := compile()
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxCompiled {
		c.kept = make(map[K]V)
	}
	c.kept[key] = v
	return v, nil
}
