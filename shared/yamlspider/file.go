package yamlspider

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"
)

// A file is a spider as YAML tells it. Its doc comments are the descriptions in
// the JSON Schema.
type file struct {
	// Name is the spider's name, unique in a project: letters, digits and
	// . _ -
	Name word `json:"name"`

	// AllowedDomains keep the crawl to these domains and their subdomains.
	//
	// Default: every domain.
	AllowedDomains []word `json:"allowed_domains,omitempty"`

	// StartURLs are what the crawl begins with, unless the job brings its
	// own. {NAME} stands for the value of an argument.
	StartURLs []word `json:"start_urls,omitempty"`

	// Args are the arguments that the spider takes (-a NAME=VALUE), each with
	// its default. One without a default must be given.
	Args map[string]arg `json:"args,omitempty"`

	// Settings are the spider's own (custom_settings), between those of the
	// project and those of the job.
	Settings map[string]setting `json:"settings,omitempty"`

	// HandleHTTPStatusList names the statuses outside 200 to 299 whose pages
	// the spider wants to read.
	//
	// Default: none.
	HandleHTTPStatusList []int `json:"handle_httpstatus_list,omitempty"`

	// Parse are the legs that read the pages of requests which name no
	// callback, the start URLs among them.
	Parse []leg `json:"parse,omitempty"`

	// Callbacks are lists of legs by name: each reads the pages of the
	// requests that name it, and sees what these pages give alone.
	Callbacks map[string][]leg `json:"callbacks,omitempty"`

	// Legs read every page, after those of its callback, and see every
	// request and item.
	Legs []leg `json:"legs,omitempty"`

	// Contracts say what the callbacks make of pages on the web; skitter
	// check tells what does not hold any more.
	Contracts []contract `json:"contracts,omitempty"`
}

// A word is a text that knows where it stands; at is nil if it was none.
type word struct {
	text string
	at   *yaml.Node
}

func (w *word) readNode(d *decoder, n *yaml.Node) {
	if !isText(n) {
		d.at(n, "it wants a text, and got %s", describe(n))
		return
	}
	w.text, w.at = n.Value, n
}

func texts(words []word) []string {
	var all []string
	for _, w := range words {
		all = append(all, w.text)
	}
	return all
}

// A setting is a value that package settings is to judge.
type setting struct {
	value any
	at    *yaml.Node
}

func (s *setting) readNode(d *decoder, n *yaml.Node) {
	s.at, s.value = n, d.plain(n)
}

// all lists every leg of a file in its order, sub-legs after their leg.
func (f *file) all() []*leg {
	all := appendLegs(nil, f.Parse)
	for _, name := range slices.Sorted(maps.Keys(f.Callbacks)) {
		all = appendLegs(all, f.Callbacks[name])
	}
	return appendLegs(all, f.Legs)
}

// appendLegs appends legs, each with its sub-legs after it.
func appendLegs(all []*leg, legs []leg) []*leg {
	for i := range legs {
		all = appendLegs(append(all, &legs[i]), legs[i].legs)
	}
	return all
}
