package extract_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/extract"
)

func TestSiblingsAreAskedOnce(t *testing.T) {
	d := extract.NewDocument([]byte(`<div>`+strings.Repeat(`<p>x</p>`, 60_000)+`<q>q</q><p>z</p></div>`), "text/html", "")
	begun := time.Now()
	if n := d.CSS("h2 ~ p").Len(); n != 0 {
		t.Errorf("got %d", n)
	}
	if got := d.CSS("q ~ p::text").Get(); got != "z" {
		t.Errorf("got %q", got)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it takes %v", took)
	}
}

func TestSiblingsAtAllDepths(t *testing.T) {
	d := extract.NewDocument([]byte(`<div><h2>a</h2><p id=1>1</p><section><h2>b</h2><p id=2>2</p><p id=3>3</p><ul><li>x<li class=k>y<li id=4>z</ul></section><p id=5>5</p></div>`+
		`<section><p id=6>6</p><h2>c</h2><p id=7>7</p></section>`), "text/html", "")
	for selector, want := range map[string][]string{
		"h2 ~ p::attr(id)":               {"1", "2", "3", "5", "7"},
		"section h2 ~ p::attr(id)":       {"2", "3", "7"},
		"p ~ p::attr(id)":                {"3", "5", "7"},
		"h2 ~ p ~ p::attr(id)":           {"3", "5"},
		"h2 ~ section p::attr(id)":       {"2", "3"},
		"h2 ~ ul li.k ~ li::attr(id)":    {"4"},
		"div ~ section h2 ~ p::attr(id)": {"7"},
		"nav ~ p, h2 ~ ul li::attr(id)":  {"4"},
	} {
		if diff := cmp.Diff(want, d.CSS(selector).All()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", selector, diff)
		}
	}
}
