package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skitterhq/skitter/shared/spelling"
)

// A Layer is what one place says: the project file, a spider, a job.
type Layer struct {
	// Name tells people where a bad value stands: "skitter.yaml",
	// "spider quotes", "job".
	Name string
	// Values are by setting name. A value may be what YAML or JSON reads, a
	// text as from a flag, or the Go value of the field.
	Values map[string]any
}

// Cloud is the layer of what differs where waiting is billed and a function's
// time is short. It goes before the project's own.
func Cloud() Layer {
	return Layer{Name: "cloud", Values: map[string]any{
		"DOWNLOAD_CONNECT_TIMEOUT": "5s",
		"DOWNLOAD_TIMEOUT":         "30s",
		"ROBOTSTXT_WAIT":           "10m",
	}}
}

// Resolve lays the layers over the defaults, in the order given: a later one
// wins. Every bad value of every layer is in the error, one a line, with its
// setting, its layer and what would be right; the Settings are then not to be
// used.
func Resolve(layers ...Layer) (Settings, error) {
	table := Definitions()
	var s Settings
	for _, d := range table {
		d.clear(&s)
	}
	var bad []error
	for _, layer := range layers {
		for _, name := range slices.Sorted(maps.Keys(layer.Values)) {
			if err := set(&s, table, name, layer.Values[name]); err != nil {
				bad = append(bad, fmt.Errorf("setting %s of %s: %w", name, layer.Name, err))
			}
		}
	}
	bad = append(bad, s.checkTogether())
	return s, errors.Join(bad...)
}

func set(s *Settings, table []Definition, name string, value any) error {
	for _, d := range table {
		if d.Name == name {
			return d.set(s, value)
		}
	}
	names := make([]string, len(table))
	for k, d := range table {
		names[k] = d.Name
	}
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Errorf("there is none of that name; did you mean %s?", near)
	}
	return errors.New("there is none of that name")
}

// A wrongValue is a value that a setting does not take.
type wrongValue struct {
	value any
	want  string
	hide  bool
}

func (e *wrongValue) Error() string {
	if e.hide {
		return "the value is not " + e.want
	}
	return quoted(e.value) + " is not " + e.want
}
