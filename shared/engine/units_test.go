package engine_test

import (
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/scheduler"
)

// unit is the unit of a page of a world.
func unit(path string) (crawl.UnitID, error) { return unitOfURL(worldtest.Host + path) }

func unitOfURL(url string) (crawl.UnitID, error) {
	return scheduler.NewIdentifier(crawl.UnitID{}).Unit(&crawl.Request{URL: url})
}

// sameUnit reports whether two addresses are the same work.
func sameUnit(a, b string) bool {
	ua, erra := unitOfURL(a)
	ub, errb := unitOfURL(b)
	return erra == nil && errb == nil && ua == ub
}
