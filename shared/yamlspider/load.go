package yamlspider

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
)

// Load makes a spider of a YAML text. Name is the file's, for errors. What is
// wrong is told all together, as [Mistakes]: keys that are not known or stand
// twice, values of the wrong type, and all that a registry would refuse, such
// as selectors that do not compile and callbacks that are not there.
func Load(name string, text []byte) (spider.Spider, error) {
	return Reader{Kinds: legs.Kinds()}.Load(name, text)
}

// A Reader reads spiders made of the legs that it is given.
type Reader struct {
	// Kinds are the legs that there are, by their names in YAML.
	Kinds []legs.Kind
}

// Load is [Load] with the reader's legs.
func (r Reader) Load(name string, text []byte) (spider.Spider, error) {
	d := &decoder{report: newReport(name, text), kinds: r.Kinds}
	root := parse(text, d.report)
	if root == nil {
		return spider.Spider{}, d.err()
	}
	d.root = root
	var f file
	d.decode(root, reflect.ValueOf(&f).Elem(), "the file")
	s := d.build(&f)
	if len(d.found) > 0 {
		return s, d.err()
	}
	// What has no place of its own in the file.
	if _, err := spider.NewRegistry(s); err != nil {
		for _, err := range each(err) {
			if errors.Is(err, spider.ErrReadsNoPage) {
				d.at(root, "nothing reads a page: give the spider legs that do, such as fields or regex_links, under parse, callbacks or legs")
				continue
			}
			d.add(0, 0, "%v", err)
		}
		return s, d.err()
	}
	d.contracts(&f, &s)
	return s, d.err()
}

// build makes the spider, and checks what was read of it.
func (d *decoder) build(f *file) spider.Spider {
	d.checkNames(f)
	s := spider.Spider{
		Name: f.Name.text, AllowedDomains: texts(f.AllowedDomains), HandleStatusList: f.HandleHTTPStatusList,
		Settings: d.settings(f), CallbackLegs: make(map[string][]spider.Leg),
	}
	d.start(f, &s)
	for _, domain := range f.AllowedDomains {
		if _, err := downloadermw.OffsiteScope([]string{domain.text}); domain.at != nil && err != nil {
			d.at(domain.at, "%v", err)
		}
	}
	names := &legNames{taken: make(map[string]bool), last: make(map[string]int)}
	for _, l := range f.all() {
		names.taken[l.name] = true
	}
	if len(f.Parse) > 0 {
		s.CallbackLegs[spider.DefaultCallback] = makeAll(f.Parse, names)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Callbacks)) {
		s.CallbackLegs[name] = makeAll(f.Callbacks[name], names)
	}
	s.Legs = makeAll(f.Legs, names)
	d.checkLegs(f, s)
	return s
}

// checkLegs checks each leg by itself, as one of a spider that has what legs
// bring.
func (d *decoder) checkLegs(f *file, top spider.Spider) {
	top.Callbacks = make(map[string]spider.Callback)
	for _, l := range f.all() {
		for name := range l.made.Callbacks {
			top.Callbacks[name] = func(context.Context, *spider.Page, *spider.Output) error { return nil }
		}
	}
	everyPage := make(map[*leg]bool)
	for _, l := range appendLegs(nil, f.Legs) {
		everyPage[l] = true
	}
	for _, l := range f.all() {
		if len(d.found) >= maxFound {
			d.unchecked = true
			return
		}
		d.check(l, &top, !everyPage[l])
	}
}

// checkNames checks the names of spider, callbacks and legs.
func (d *decoder) checkNames(f *file) {
	root := d.root
	switch wrong := spider.CheckName(f.Name.text); {
	case f.Name.at == nil && root.Kind == yaml.MappingNode && find(root, "name") == nil:
		d.at(root, "the spider has no name: give it one, such as name: shop")
	case f.Name.at != nil && wrong != nil:
		d.at(f.Name.at, "%v", wrong)
	}
	if at := find(root, "callbacks", spider.DefaultCallback); at != nil && len(f.Parse) > 0 {
		d.at(at, "the callback parse stands above, too: put its legs in one place")
	}
	for name, list := range f.Callbacks {
		if at := find(root, "callbacks", name); len(list) == 0 && at != nil && at.Kind == yaml.SequenceNode {
			d.at(at, "callback %s has no legs", name)
		}
	}
	lines := make(map[string]int)
	for _, l := range f.all() {
		at := l.find("name")
		switch wrong := spider.CheckName(l.name); {
		case l.name == "":
		case wrong != nil:
			d.at(at, "%v", wrong)
		case lines[l.name] > 0:
			d.at(at, "two legs are named %q; the first is in line %d", l.name, lines[l.name])
		default:
			lines[l.name] = at.Line
		}
	}
}

// find follows keys from a mapping to a value, nil if it is not there.
func find(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		if n = child(n, key, ""); n == nil {
			return nil
		}
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
	}
	return n
}

// settings checks each setting by itself, so that its mistake has its place.
func (d *decoder) settings(f *file) map[string]any {
	if f.Settings == nil {
		return nil
	}
	values := make(map[string]any, len(f.Settings))
	for _, name := range slices.Sorted(maps.Keys(f.Settings)) {
		s := f.Settings[name]
		if s.at == nil {
			continue
		}
		values[name] = s.value
		if _, err := settings.Resolve(settings.Layer{Name: "the spider", Values: map[string]any{name: s.value}}); err != nil {
			d.at(s.at, "%v", err)
		}
	}
	return values
}
