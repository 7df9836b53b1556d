package spidertest

import (
	"testing"

	"github.com/skitterhq/skitter/shared/spider"
)

// Contracts checks the spider's contracts on saved pages, in place of the web:
// files has the file of each contract's URL. `skitter fetch URL > FILE` saves
// one.
func Contracts(t *testing.T, s spider.Spider, files map[string]string) {
	t.Helper()
	unused := make(map[string]bool, len(files))
	for url := range files {
		unused[url] = true
	}
	for k := range s.Contracts {
		c := &s.Contracts[k]
		file := files[c.URL]
		if file == "" {
			t.Errorf("the contract for %s has no file; save the page with: skitter fetch %s > testdata/page.html", c.URL, c.URL)
			continue
		}
		delete(unused, c.URL)
		p := Page{URL: c.URL, Callback: c.Callback, Args: c.Args, Meta: c.Meta, CBKwargs: c.CBKwargs, File: file}
		page, out, err := p.run(t, s)
		if err != nil {
			t.Errorf("%s of %s: %v", c.CallbackName(), c.URL, err)
			continue
		}
		for _, err := range c.Verify(page, out.Items, out.Requests) {
			t.Errorf("%s of %s: %v", c.CallbackName(), c.URL, err)
		}
	}
	for url := range unused {
		t.Errorf("no contract is for %s, whose file is %s", url, files[url])
	}
}
