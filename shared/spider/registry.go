package spider

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/spelling"
)

// A Registry finds spiders by name. It does not change after it is made.
type Registry struct {
	spiders map[string]*Spider
}

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
			errs = append(errs, fmt.Errorf("spider %q: %w", shownName(s.Name), err))
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
	there := strings.Join(names, ", ")
	if near := spelling.Nearest(name, names); near != "" {
		return nil, fmt.Errorf("unknown spider %q: did you mean %s? There are %s", name, near, there)
	}
	return nil, fmt.Errorf("unknown spider %q: there are %s", name, there)
}

// Names returns the spiders' names, sorted.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.spiders)) }
