package spider

import (
	"context"
	"fmt"
	"maps"
)

// AsLeg makes a leg of a spider (SEP-016: legs are spiders too), so that another
// spider does what it does, beside what it does itself:
//
//   - its Parse reads the pages that it would read alone, which are those whose
//     request names no callback;
//   - its callbacks and errbacks join those of the spider at the top, and two of
//     one name are a mistake;
//   - its legs are sub-legs: their hooks see all that the spider gives.
//
// What is a job's stays with the spider at the top: start, allowed domains,
// statuses, settings and arguments. A spider whose Parse has legs of its own in
// CallbackLegs cannot be a leg, since they would meet what other Parse gave;
// NewRegistry says so.
func (s Spider) AsLeg() Leg {
	parse, callbacks := s.Parse, s.Callbacks
	if own := callbacks[DefaultCallback]; own != nil {
		parse, callbacks = own, maps.Clone(callbacks)
		delete(callbacks, DefaultCallback)
	}
	leg := Leg{Name: s.Name, Callbacks: callbacks, Errbacks: s.Errbacks, CallbackLegs: s.CallbackLegs, Legs: s.Legs}
	if s.CallbackLegs[DefaultCallback] != nil {
		leg.SetSpider = func(*Spider) (Leg, error) {
			return leg, fmt.Errorf("a spider whose callback %q has legs of its own is no leg: put them among its Legs", DefaultCallback)
		}
	}
	if parse != nil {
		leg.ProcessResponse = func(ctx context.Context, page *Page, out *Output) error {
			if name := page.Request.Callback; name != "" && name != DefaultCallback {
				return nil
			}
			return parse(ctx, page, out)
		}
	}
	return leg
}
