package spider

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
)

// ErrReadsNoPage is wrapped by the error of a spider that could not read any page.
var ErrReadsNoPage = errors.New("it reads no page: give it Parse, a callback or a leg with ProcessResponse")

// bind checks a spider and returns a copy whose legs are bound to it and lie
// in one list, each sub-leg right after its leg. Nothing of s is changed, so one
// value may be bound more than once, and at the same time.
func bind(s Spider) (*Spider, error) {
	if err := CheckName(s.Name); err != nil {
		return nil, err
	}
	if s.Parse != nil && s.Callbacks[DefaultCallback] != nil {
		return nil, fmt.Errorf("it has a Parse and a callback %q, which are the same", DefaultCallback)
	}
	top := &s
	top.Callbacks, top.Errbacks = copied(s.Callbacks), copied(s.Errbacks)
	top.CallbackLegs = copied(s.CallbackLegs)
	top.promised = make(map[string]bool)
	promise(top.promised, s.Legs)
	for _, legs := range s.CallbackLegs {
		promise(top.promised, legs)
	}
	b := &binding{top: top, names: make(map[string]bool)}
	legs, err := b.legs(s.Legs, nil)
	if err != nil {
		return nil, err
	}
	own, err := b.callbackLegs()
	if err != nil {
		return nil, err
	}
	top.Legs, top.CallbackLegs, top.promised = legs, own, nil
	if top.Parse == nil && len(top.Callbacks) == 0 && len(own) == 0 && !slices.ContainsFunc(legs, reads) {
		return nil, ErrReadsNoPage
	}
	if err := checkContracts(top); err != nil {
		return nil, err
	}
	return top, nil
}

// copied is a map that can be added to.
func copied[V any](m map[string]V) map[string]V {
	c := make(map[string]V, len(m))
	maps.Copy(c, m)
	return c
}

// promise notes the callbacks that legs bring, before any is bound.
func promise(names map[string]bool, legs []Leg) {
	for _, l := range legs {
		for name := range l.Callbacks {
			names[name] = true
		}
		for name, own := range l.CallbackLegs {
			names[name] = true
			promise(names, own)
		}
		promise(names, l.Legs)
	}
}

// A binding is a spider whose legs are being bound.
type binding struct {
	top   *Spider
	names map[string]bool // of legs; unique in all of a spider, for the stats' sake

	brought []string // the callbacks of legs that legs have brought
}

// legs appends legs to those that are bound, each with its sub-legs after it.
func (b *binding) legs(legs, bound []Leg) ([]Leg, error) {
	for _, l := range legs {
		l, err := b.leg(l)
		if err != nil {
			return nil, err
		}
		sub := l.Legs
		l.SetSpider, l.Legs, l.Callbacks, l.Errbacks, l.CallbackLegs = nil, nil, nil, nil, nil
		if bound, err = b.legs(sub, append(bound, l)); err != nil {
			return nil, err
		}
	}
	return bound, nil
}

// leg binds one leg, and takes what it brings.
func (b *binding) leg(l Leg) (Leg, error) {
	name := l.Name
	if set := l.SetSpider; set != nil {
		err := crawl.Guard(func() (err error) { l, err = set(b.top); return err })
		if err != nil {
			return l, fmt.Errorf("leg %q: %w", name, err)
		}
	}
	if err := CheckName(l.Name); err != nil {
		return l, fmt.Errorf("leg %q: %w", shownName(l.Name), err)
	}
	if b.names[l.Name] {
		return l, fmt.Errorf("two legs are named %q", l.Name)
	}
	b.names[l.Name] = true
	err := errors.Join(takeIn(b.top.Callbacks, l.Callbacks, "callback"), takeIn(b.top.Errbacks, l.Errbacks, "errback"),
		takeIn(b.top.CallbackLegs, l.CallbackLegs, "callback of legs"))
	if err != nil {
		return l, fmt.Errorf("leg %q: %w", l.Name, err)
	}
	b.brought = slices.AppendSeq(b.brought, maps.Keys(l.CallbackLegs))
	return l, nil
}

// takeIn adds what a leg brings to what the spider has.
func takeIn[V any](has, brings map[string]V, what string) error {
	for _, name := range slices.Sorted(maps.Keys(brings)) {
		if _, double := has[name]; double || name == DefaultCallback && what != "errback" {
			return fmt.Errorf("it brings the %s %q, which the spider has", what, name)
		}
		has[name] = brings[name]
	}
	return nil
}

// callbackLegs binds the legs of each callback, those included that legs bring.
func (b *binding) callbackLegs() (map[string][]Leg, error) {
	bound := make(map[string][]Leg, len(b.top.CallbackLegs))
	for names := slices.Sorted(maps.Keys(b.top.CallbackLegs)); len(names) > 0; {
		b.brought = nil
		for _, name := range names {
			legs, err := b.legs(b.top.CallbackLegs[name], nil)
			if err != nil {
				return nil, fmt.Errorf("callback %q: %w", name, err)
			}
			function := b.top.Callbacks[name] != nil || name == DefaultCallback && b.top.Parse != nil
			if !function && !slices.ContainsFunc(legs, reads) {
				return nil, fmt.Errorf("callback %q reads no page: give it a leg with ProcessResponse", name)
			}
			bound[name] = legs
		}
		slices.Sort(b.brought)
		names = b.brought
	}
	return bound, nil
}

func reads(l Leg) bool { return l.ProcessResponse != nil }
