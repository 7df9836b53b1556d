package yamlspider

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// check binds a leg to its spider for the sake of its mistakes: each is told
// where the option stands that it names. Legs of one callback start nothing.
func (d *decoder) check(l *leg, top *spider.Spider, ofCallback bool) {
	if l.wrong || l.options == nil {
		return
	}
	bound := l.made
	var err error
	if set := l.made.SetSpider; set != nil {
		err = crawl.Guard(func() (err error) { bound, err = set(top); return err })
	}
	if bound.Start != nil && ofCallback && err == nil {
		d.at(l.at, "%s begins a crawl, and legs of a callback do not: put it under legs", l.kind)
	}
	for _, err := range each(err) {
		problem, at := err.Error(), l.at
		if m := optionName.FindStringSubmatch(problem); m != nil {
			at = l.find(m[1])
		}
		d.at(at, "%s: %s", l.kind, problem)
	}
}

// each takes joined errors apart.
func each(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, each(e)...)
	}
	return all
}

// optionName finds the option that an error of package legs begins with, such
// as "option rules[0].url: …".
var optionName = regexp.MustCompile(`^option ([\w.\[\]-]+): `)

// optionStep is a step of an option's name: a key, or a number in brackets.
var optionStep = regexp.MustCompile(`\[(\d+)\]|[\w-]+`)

// find returns the node of an option, or the nearest that holds it.
func (l *leg) find(option string) *yaml.Node {
	n := l.values
	if n == nil {
		return l.at
	}
	at := l.at
	for _, step := range optionStep.FindAllStringSubmatch(option, -1) {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		next := child(n, step[0], step[1])
		if next == nil {
			break
		}
		n, at = next, next
	}
	return at
}

// child is the value of a key, or the entry of a number. A single value stands
// for a list of one.
func child(n *yaml.Node, key, number string) *yaml.Node {
	if number == "" {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if strings.EqualFold(n.Content[i].Value, key) {
				return n.Content[i+1]
			}
		}
		return nil
	}
	i, err := strconv.Atoi(number)
	if n.Kind == yaml.SequenceNode && err == nil && i < len(n.Content) {
		return n.Content[i]
	}
	return nil
}
