package yamlspider

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
)

// A leg is one entry of a list of legs: a kind with its options, or the kind
// alone. Besides its kind's options a leg may have sub-legs, under the key
// "legs".
type leg struct {
	kind    string
	options legs.Builder
	name    string // as the file gives it; empty for the default
	legs    []leg
	made    spider.Leg

	at     *yaml.Node // the kind
	values *yaml.Node // the options; nil if there are none
	wrong  bool       // something was, and is told already
}

// keySubLegs is the key of a leg's sub-legs, beside its options.
const keySubLegs = "legs"

func (l *leg) readNode(d *decoder, n *yaml.Node) {
	before := len(d.found)
	defer func() { l.wrong = len(d.found) > before }()
	switch {
	case isText(n):
		l.choose(d, n)
	case n.Kind != yaml.MappingNode || len(n.Content) == 0:
		d.at(n, "a leg is its kind, with its options below it, and this is %s; the kinds are %s", describe(n), strings.Join(d.kindNames(), ", "))
	case len(n.Content) > 2:
		d.at(n.Content[2], "a leg has one key, its kind (here %s), and the options stand below that: move this further to the right, or begin another leg with \"- \"", shorten(n.Content[0].Value))
	default:
		if l.choose(d, n.Content[0]) {
			l.read(d, n.Content[1])
		}
	}
}

// choose finds the leg's kind.
func (l *leg) choose(d *decoder, n *yaml.Node) bool {
	l.at, l.kind = n, n.Value
	for _, k := range d.kinds {
		if k.Name == l.kind {
			l.options = k.New()
			return true
		}
	}
	d.at(n, "%s", unknown("leg", n.Value, d.kindNames()))
	return false
}

// read fills in the options.
func (l *leg) read(d *decoder, n *yaml.Node) {
	if n = d.enter(n); n == nil || isNull(n) {
		return
	}
	l.values = n
	v := reflect.ValueOf(l.options).Elem()
	there := fields(v.Type())
	d.pairs(n, l.kind, func(key string, at, value *yaml.Node) {
		i := slices.IndexFunc(there, func(f field) bool { return f.name == key })
		switch {
		case key == keySubLegs:
			d.decode(value, reflect.ValueOf(&l.legs).Elem(), keySubLegs)
		case i < 0:
			d.at(at, "%s", unknown("option", key, append(names(there), keySubLegs)))
		case key == "name":
			l.name = value.Value
			fallthrough
		default:
			d.field(value, v, there[i])
		}
	})
}

func (d *decoder) kindNames() []string {
	var there []string
	for _, k := range d.kinds {
		there = append(there, k.Name)
	}
	return there
}

// legNames gives legs names that the spider has once.
type legNames struct {
	taken map[string]bool
	last  map[string]int // the last number that a kind's name was given
}

// of is the name of a leg whose file gives none: its kind's, or with a number.
func (n *legNames) of(kind, name string) string {
	number := max(1, n.last[kind])
	for n.taken[name] {
		number++
		name = fmt.Sprintf("%s-%d", kind, number)
	}
	n.last[kind] = number
	return name
}

// make makes the leg and its sub-legs, under names that the spider has once.
func (l *leg) make(names *legNames) spider.Leg {
	if l.options == nil {
		return spider.Leg{Name: "unknown"} // it is told, and the others are still to be checked
	}
	l.made = l.options.Leg()
	if l.name == "" {
		if name := names.of(l.kind, l.made.Name); name != l.made.Name {
			l.made = l.named(name)
		}
	}
	names.taken[l.made.Name] = true
	sub := makeAll(l.legs, names)
	made := l.made
	if set := made.SetSpider; set != nil && len(sub) > 0 {
		made.SetSpider = func(top *spider.Spider) (spider.Leg, error) {
			bound, err := set(top)
			bound.Legs = slices.Concat(bound.Legs, sub)
			return bound, err
		}
	}
	made.Legs = slices.Concat(made.Legs, sub)
	return made
}

// named makes the leg with a name in its options, which may name more by it.
func (l *leg) named(name string) spider.Leg {
	options := reflect.New(reflect.TypeOf(l.options).Elem())
	options.Elem().Set(reflect.ValueOf(l.options).Elem())
	options.Elem().FieldByName("Name").SetString(name)
	return options.Interface().(legs.Builder).Leg()
}

func makeAll(list []leg, names *legNames) []spider.Leg {
	var all []spider.Leg
	for i := range list {
		all = append(all, list[i].make(names))
	}
	return all
}
