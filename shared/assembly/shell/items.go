package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
)

// runItems hands the page to a spider, and prints the items as JSON Lines and
// the requests after them. Without a name it is the shell's spider, or the one
// whose domains the page is in.
func (s *Shell) runItems(ctx context.Context, rest string) error {
	words := strings.Fields(rest)
	if len(words) > 2 {
		return fmt.Errorf("items wants a spider and a callback at most, got %d words", len(words))
	}
	spec, req := s.Spec, s.page.Request.Clone()
	if len(words) > 0 {
		spec.Spider = words[0]
	}
	if len(words) > 1 {
		req.Callback = words[1]
	}
	if spec.Spider == "" {
		var err error
		if spec.Spider, err = s.Singles.SpiderFor(s.page.Response.URL); err != nil {
			return fmt.Errorf("%w; name one: items SPIDER", err)
		}
	}
	single, err := s.Singles.Single(spec)
	if err != nil {
		return err
	}
	if sp := single.Spider(); !sp.HasCallback(req.Callback) {
		return fmt.Errorf("spider %s has no callback %q; there are %s", sp.Name, req.Callback, strings.Join(sp.CallbackNames(), ", "))
	}
	resp := *s.page.Response
	resp.Request = req
	v := single.Read(ctx, single.Page(&resp))
	if err := s.printVisit(v.Items, v.Requests); err != nil {
		return err
	}
	if v.Ignored {
		fmt.Fprintf(s.Tell, "the spider does not see this answer: status %d\n", resp.Status)
	}
	return v.Err
}

func (s *Shell) printVisit(items []crawl.Item, requests []*crawl.Request) error {
	enc := json.NewEncoder(s.Out)
	enc.SetEscapeHTML(false)
	for _, item := range items {
		if err := enc.Encode(item); err != nil {
			return err
		}
	}
	for _, req := range requests {
		if _, err := fmt.Fprintln(s.Out, strings.TrimRight(req.HTTPMethod()+" "+req.URL+"  "+req.Callback, " ")); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.Tell, "%d items, %d requests\n", len(items), len(requests))
	return nil
}
