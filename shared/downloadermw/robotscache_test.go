package downloadermw

import (
	"fmt"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/robots"
)

func TestTheCacheOfRulesIsBounded(t *testing.T) {
	var c knownCache
	for n := range 100_000 {
		c.put(fmt.Sprintf("https://host-%d.example", n), known{rules: robots.AllowAll(), size: n % 5000})
		c.get("https://host-0.example")
	}
	if c.bytes > cacheBytes || c.bytes < cacheBytes/2 {
		t.Errorf("%d bytes are kept, the bound is %d", c.bytes, cacheBytes)
	}
	if len(c.byName) != c.recent.Len() {
		t.Errorf("%d names for %d entries", len(c.byName), c.recent.Len())
	}
	if c.get("https://host-0.example").rules == nil {
		t.Error("the most used entry is gone")
	}
	if c.get("https://host-1.example").rules != nil {
		t.Error("an unused entry is still there")
	}
	for origin := range c.byName {
		c.put(origin, known{})
	}
	var sum int
	for e := c.recent.Front(); e != nil; e = e.Next() {
		sum += e.Value.(*cached).bytes()
	}
	if sum != c.bytes {
		t.Errorf("%d bytes are counted, there are %d", c.bytes, sum)
	}
}

func TestAFileLargerThanTheCacheIsKeptAlone(t *testing.T) {
	var c knownCache
	c.put("a", known{rules: robots.AllowAll()})
	c.put("b", known{rules: robots.AllowAll(), size: cacheBytes})
	if c.get("a").rules != nil || c.get("b").rules == nil {
		t.Error("not the last one is kept")
	}
}

func TestAHoldKeepsWhatIsKnown(t *testing.T) {
	var c knownCache
	now := time.Now()
	c.put("a", known{rules: robots.AllowAll(), size: 7})
	c.hold("a", now)
	if k := c.get("a"); k.rules == nil || !k.pending.Equal(now) {
		t.Errorf("%+v", k)
	}
}
