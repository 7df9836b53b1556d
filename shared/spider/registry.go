package spider

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Registry finds spiders by name. It does not change after it is made.
type Registry struct {
	spiders map[string]*Spider
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// NewRegistry returns a registry of the given spiders, their legs bound to
// them. It fails, naming each spider's first mistake, if two spiders or two
// legs of one share a name, if a name is not made of letters, digits and . _ -,
// or if a spider could not read any page.
func NewRegistry(spiders ...Spider) (*Registry, error) {
	r := &Registry{spiders: make(map[string]*Spider, len(spiders))}
	var errs []error
	for _, s := range spiders {
		bound, err := bind(s)
		if err != nil {
			errs = append(errs, fmt.Errorf("spider %q: %w", s.Name, err))
			continue
		}
		if r.spiders[s.Name] != nil {
			errs = append(errs, fmt.Errorf("spider %q: there are two of that name", s.Name))
			continue
		}
		r.spiders[s.Name] = bound
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return r, nil
}

// Get returns a spider. The error of an unknown name lists those there are.
func (r *Registry) Get(name string) (*Spider, error) {
	if s := r.spiders[name]; s != nil {
		return s, nil
	}
	names := r.Names()
	if len(names) == 0 {
		return nil, fmt.Errorf("unknown spider %q: the project has none", name)
	}
	return nil, fmt.Errorf("unknown spider %q: there are %s", name, strings.Join(names, ", "))
}

// Names returns the spiders' names, sorted.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.spiders)) }

// bind checks a spider and returns a copy whose legs are bound to it and lie
// in one list, each sub-leg right after its leg.
func bind(s Spider) (*Spider, error) {
	if !validName.MatchString(s.Name) {
		return nil, errors.New("a name is letters, digits and . _ - and begins with a letter or digit")
	}
	if s.Parse != nil && s.Callbacks[DefaultCallback] != nil {
		return nil, fmt.Errorf("it has a Parse and a callback %q, which are the same", DefaultCallback)
	}
	top := &s
	names := make(map[string]bool)
	legs, err := bindLegs(top, s.Legs, nil, names)
	if err != nil {
		return nil, err
	}
	own, err := bindCallbackLegs(top, names)
	if err != nil {
		return nil, err
	}
	top.Legs, top.CallbackLegs = legs, own
	if top.Parse == nil && len(top.Callbacks) == 0 && len(own) == 0 && !slices.ContainsFunc(legs, reads) {
		return nil, errors.New("it reads no page: give it Parse, a callback or a leg with ProcessResponse")
	}
	if err := checkContracts(top); err != nil {
		return nil, err
	}
	return top, nil
}

// bindCallbackLegs binds the legs of each callback.
func bindCallbackLegs(top *Spider, names map[string]bool) (map[string][]Leg, error) {
	bound := make(map[string][]Leg, len(top.CallbackLegs))
	for _, name := range slices.Sorted(maps.Keys(top.CallbackLegs)) {
		legs, err := bindLegs(top, top.CallbackLegs[name], nil, names)
		if err != nil {
			return nil, fmt.Errorf("callback %q: %w", name, err)
		}
		function := top.Callbacks[name] != nil || name == DefaultCallback && top.Parse != nil
		if !function && !slices.ContainsFunc(legs, reads) {
			return nil, fmt.Errorf("callback %q reads no page: give it a leg with ProcessResponse", name)
		}
		bound[name] = legs
	}
	return bound, nil
}

func reads(l Leg) bool { return l.ProcessResponse != nil }

// bindLegs appends the legs to bound, each with its sub-legs after it. Their
// names are unique in all of a spider, for the stats' sake.
func bindLegs(top *Spider, legs, bound []Leg, names map[string]bool) ([]Leg, error) {
	for _, l := range legs {
		if l.SetSpider != nil {
			var err error
			name := l.Name
			if l, err = l.SetSpider(top); err != nil {
				return nil, fmt.Errorf("leg %q: %w", name, err)
			}
		}
		if !validName.MatchString(l.Name) {
			return nil, fmt.Errorf("leg %q: a name is letters, digits and . _ - and begins with a letter or digit", l.Name)
		}
		if names[l.Name] {
			return nil, fmt.Errorf("two legs are named %q", l.Name)
		}
		names[l.Name] = true
		sub := l.Legs
		l.Legs = nil
		bound = append(bound, l)
		var err error
		if bound, err = bindLegs(top, sub, bound, names); err != nil {
			return nil, err
		}
	}
	return bound, nil
}
