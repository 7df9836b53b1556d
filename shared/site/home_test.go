package site_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/skitterhq/skitter/shared/site"
)

func TestHome(t *testing.T) {
	s := newSite(t, site.Options{Pages: 5})
	want := []string{"/p/0", "/quotes/page/1/", "/sitemap.xml", "/feed.xml", "/private/secret"}
	if got := hrefs(page(t, s, "/")); !slices.Equal(got, want) {
		t.Errorf("got links %q, want %q", got, want)
	}
	for _, href := range append(want, "/static/shop.css") {
		page(t, s, href)
	}
	if got := get(s, "/nowhere").Code; got != http.StatusNotFound {
		t.Errorf("a page that is not there: status %d, want 404", got)
	}
}

func TestRobots(t *testing.T) {
	tests := []struct {
		name  string
		pages int
		want  string
	}{
		{"names the sitemap", 50_000, "User-agent: *\nDisallow: /private/\n\nSitemap: http://shop.test/sitemap.xml\n"},
		{"names the index where the sitemap is too long", 50_001, "User-agent: *\nDisallow: /private/\n\nSitemap: http://shop.test/sitemap_index.xml\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := page(t, newSite(t, site.Options{Pages: test.pages}), "/robots.txt"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
