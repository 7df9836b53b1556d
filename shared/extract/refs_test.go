package extract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/extract"
)

func TestRefsOfASelection(t *testing.T) {
	const page = `<link href="/feed"><a href="/a">A</a><a>none</a><map><area href="/area"></map><img src="/i.png"><p>/text</p>`
	tests := []struct {
		selector string
		want     []string
		wrong    string
	}{
		{"a, area, link", []string{"/feed", "/a", "/area"}, ""},
		{"a::attr(href)", []string{"/a"}, ""},
		{"img::attr(src)", []string{"/i.png"}, ""},
		{"p::text", []string{"/text"}, ""},
		{"a, img", []string{"/a"}, "<img>"},
		{"table", []string{}, ""},
	}
	for _, test := range tests {
		doc := extract.NewDocument([]byte(page), "text/html", "http://example.com/")
		got, err := doc.CSS(test.selector).Refs()
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.selector, diff)
		}
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: got %v, want %q", test.selector, err, test.wrong)
		}
	}
}

func TestRefsOfJSONAndXML(t *testing.T) {
	json := extract.NewDocument([]byte(`{"next": "/2", "prev": null, "all": ["/a", "/b"]}`), "application/json", "http://example.com/")
	xml := extract.NewDocument([]byte(`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><link href="/1"/><id>/2</id></feed>`), "application/atom+xml", "http://example.com/")
	for name, test := range map[string]struct {
		sel  extract.Selection
		want []string
	}{
		"a value":  {json.JMESPath("next"), []string{"/2"}},
		"null":     {json.JSONPath("$.prev"), []string{}},
		"a list":   {json.JMESPath("all[]"), []string{"/a", "/b"}},
		"an Atom":  {xml.CSS("link"), []string{"/1"}},
		"its text": {xml.XPath("//id/text()"), []string{"/2"}},
	} {
		got, err := test.sel.Refs()
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
