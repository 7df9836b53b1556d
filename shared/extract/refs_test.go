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
