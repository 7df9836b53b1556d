package main

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/weburl"
)

// parsed is what parse prints. JSON Lines come as the pages do. The form for
// people is Scrapy's: the items of all levels and the requests of the last, or
// with -v each level by itself.
type parsed struct {
	w      io.Writer
	flags  parseFlags
	levels []level
}

// level is what came of the pages of one level.
type level struct {
	items    []crawl.Item
	requests []*crawl.Request
}

// add takes a visit, in the order of the levels.
func (p *parsed) add(v assembly.Visit) error {
	for len(p.levels) < v.Level {
		p.levels = append(p.levels, level{})
	}
	l := &p.levels[v.Level-1]
	l.items = append(l.items, v.Items...)
	l.requests = append(l.requests, v.Requests...)
	switch {
	case p.flags.output == "-":
		return printJSON(p.w, v.Items)
	case p.flags.jsonForm:
		return p.printVisit(v)
	}
	return nil
}

// A parsedLine is a line of --json.
type parsedLine struct {
	Level   int            `json:"level"`
	Item    *crawl.Item    `json:"item,omitempty"`
	Request *crawl.Request `json:"request,omitempty"`
}

func (p *parsed) printVisit(v assembly.Visit) error {
	var lines []parsedLine
	if !p.flags.noItems {
		for k := range v.Items {
			lines = append(lines, parsedLine{Level: v.Level, Item: &v.Items[k]})
		}
	}
	if !p.flags.noLinks {
		for _, req := range v.Requests {
			lines = append(lines, parsedLine{Level: v.Level, Request: req.Redacted()})
		}
	}
	return printJSON(p.w, lines)
}

// close prints the form for people.
func (p *parsed) close() error {
	if p.flags.jsonForm || p.flags.output == "-" || len(p.levels) == 0 {
		return nil
	}
	if p.flags.verbose {
		for k, l := range p.levels {
			if err := p.printLevel(k+1, l.items, l.requests); err != nil {
				return err
			}
		}
		return nil
	}
	var items []crawl.Item
	for _, l := range p.levels {
		items = append(items, l.items...)
	}
	last := len(p.levels)
	return p.printLevel(last, items, p.levels[last-1].requests)
}

func (p *parsed) printLevel(number int, items []crawl.Item, requests []*crawl.Request) error {
	fmt.Fprintf(p.w, ">>> STATUS DEPTH LEVEL %d <<<\n", number)
	if !p.flags.noItems {
		fmt.Fprintln(p.w, heading("Scraped Items", len(items)))
		if err := printJSON(p.w, items); err != nil {
			return err
		}
	}
	if p.flags.noLinks {
		return nil
	}
	fmt.Fprintln(p.w, heading("Requests", len(requests)))
	for _, req := range requests {
		line := req.HTTPMethod() + " " + weburl.Redact(req.URL)
		if req.Callback != "" {
			line += "  " + req.Callback
		}
		if _, err := fmt.Fprintln(p.w, line); err != nil {
			return err
		}
	}
	return nil
}

// heading is a line of Scrapy's width.
func heading(title string, n int) string {
	text := fmt.Sprintf("# %s (%d) ", title, n)
	return text + strings.Repeat("-", max(76-len(text), 0))
}

// allItems are the items of all levels, for a file.
func (p *parsed) allItems() iter.Seq2[crawl.Item, error] {
	return func(yield func(crawl.Item, error) bool) {
		for _, l := range p.levels {
			for _, item := range l.items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// printJSON prints values as JSON Lines.
func printJSON[T any](w io.Writer, values []T) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
