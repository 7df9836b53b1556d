package extract

import "sync"

// maxCompiled bounds the compiled selectors that are kept: a project has some
// hundreds, and one that makes them up on the way must not fill the memory.
const maxCompiled = 1000

// compiled is the one variable of the package that changes. It holds nothing
// but what the text of a selector always compiles to, so no test and no job can
// see that another was there before.
var compiled queryCache

// A queryCache keeps compiled selectors by their text. It is safe for
// concurrent use.
type queryCache struct {
	mu      sync.RWMutex
	queries map[string]*Query
}

func (c *queryCache) get(selector string) (*Query, error) {
	c.mu.RLock()
	q := c.queries[selector]
	c.mu.RUnlock()
	if q != nil {
		return q, nil
	}
	q, err := CompileCSS(selector)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.queries == nil || len(c.queries) >= maxCompiled {
		c.queries = make(map[string]*Query)
	}
	c.queries[selector] = q
	return q, nil
}
