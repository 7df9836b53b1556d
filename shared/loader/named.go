package loader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Named makes a processor of its name, as YAML has it, and its arguments: in
// their order, or by name in one map[string]any. See [Kinds] for names and
// arguments. Processors among the arguments are names, or what [FromValue]
// takes.
func Named(name string, args ...any) (Processor, error) {
	kinds := Kinds()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Processor{}, unknownName(name, kinds)
	}
	kind := kinds[i]
	given, err := kind.match(args)
	if err != nil {
		return Processor{}, fmt.Errorf("processor %s: %w; it is %s", name, err, kind.usage())
	}
	var wrong []error
	p := kind.build(arguments{given, &wrong})
	if err := errors.Join(wrong...); err != nil {
		return Processor{}, fmt.Errorf("processor %s: %w", name, err)
	}
	return p, p.err
}

func unknownName(name string, kinds []Kind) error {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	slices.Sort(names)
	return fmt.Errorf("there is no processor %q; there are %s", name, strings.Join(names, ", "))
}

// FromValue makes a processor of what YAML or JSON has:
//
//   - a name: strip
//   - a name with its arguments: {join: ", "}, {replace: [old, new]} or
//     {replace: {old: a, with: b}}
//   - a list of these, which are run one after the other as in [Compose]
func FromValue(value any) (Processor, error) {
	switch v := value.(type) {
	case Processor:
		return v, v.err
	case string:
		return Named(v)
	case []any:
		processors, err := fromValues(v)
		if err != nil || len(processors) == 1 {
			return append(processors, Processor{})[0], err
		}
		p := Compose(processors...)
		return p, p.err
	case map[string]any:
		if len(v) != 1 {
			return Processor{}, fmt.Errorf("a processor has one name, as in {join: \", \"}; here are %d: %s", len(v), strings.Join(slices.Sorted(maps.Keys(v)), ", "))
		}
		for name, args := range v {
			if list, ok := args.([]any); ok {
				return Named(name, list...)
			}
			if args == nil {
				return Named(name)
			}
			return Named(name, args)
		}
	}
	return Processor{}, fmt.Errorf("%s is no processor; write a name (strip), a name with arguments ({join: \", \"}) or a list of these", excerpt(value))
}

func fromValues(values []any) ([]Processor, error) {
	processors := make([]Processor, len(values))
	for i, v := range values {
		p, err := FromValue(v)
		if err != nil {
			return nil, err
		}
		processors[i] = p
	}
	return processors, nil
}

// UnmarshalJSON reads what [FromValue] takes.
func (p *Processor) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return err
	}
	if value == nil {
		return nil
	}
	var err error
	*p, err = FromValue(value)
	return err
}

// match gives each argument its name.
func (k Kind) match(args []any) (map[string]any, error) {
	given := make(map[string]any)
	if len(args) == 1 {
		if named, ok := args[0].(map[string]any); ok && k.takesByName(named) {
			given = named
			args = nil
		}
	}
	for i, a := range k.Args {
		if i >= len(args) {
			break
		}
		given[a.Name] = args[i]
		if a.Type == argTexts || a.Type == argProcessors {
			given[a.Name] = args[i:]
			args = nil
		}
	}
	if len(args) > len(k.Args) {
		return nil, fmt.Errorf("%d arguments are too many", len(args))
	}
	for name := range given {
		if !slices.ContainsFunc(k.Args, func(a Arg) bool { return a.Name == name }) {
			return nil, fmt.Errorf("there is no argument %q", name)
		}
	}
	for _, a := range k.Args {
		if _, ok := given[a.Name]; a.Required && !ok {
			return nil, fmt.Errorf("the argument %q is missing", a.Name)
		}
	}
	return given, nil
}

// takesByName tells named arguments from a processor with arguments, both of
// which are maps: {map_compose: {replace: …}}.
func (k Kind) takesByName(m map[string]any) bool {
	if len(k.Args) == 0 || k.Args[0].Type != argProcessors {
		return true
	}
	_, ok := m[k.Args[0].Name]
	return ok
}

// arguments are those of one processor, by name. What is wrong with them is
// collected.
type arguments struct {
	given map[string]any
	wrong *[]error
}

func (a arguments) blame(name string, err error) {
	*a.wrong = append(*a.wrong, fmt.Errorf("argument %s: %w", name, err))
}

func (a arguments) text(name, missing string) string {
	v, ok := a.given[name]
	if !ok {
		return missing
	}
	s, err := textOf(v)
	if err != nil {
		a.blame(name, err)
	}
	return s
}

func (a arguments) texts(name string) []string {
	var texts []string
	for _, v := range spread(a.given[name]) {
		s, err := textOf(v)
		if err != nil {
			a.blame(name, err)
		}
		texts = append(texts, s)
	}
	return texts
}

func (a arguments) bool(name string, missing bool) bool {
	v, ok := a.given[name]
	if !ok {
		return missing
	}
	b, ok := v.(bool)
	if !ok {
		a.blame(name, fmt.Errorf("is %s; write true or false", describe(v)))
	}
	return b
}

func (a arguments) processors(name string) []Processor {
	processors, err := fromValues(spread(a.given[name]))
	if err == nil && len(processors) == 0 {
		err = errors.New("there are none; name one at least")
	}
	if err != nil {
		a.blame(name, err)
	}
	return processors
}

// spread takes a list that is given as one argument for its elements.
func spread(value any) []any {
	list := listOf(value)
	if len(list) == 1 {
		if inner, ok := list[0].([]any); ok {
			return inner
		}
	}
	return list
}
