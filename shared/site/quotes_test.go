package site_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/site"
)

func TestQuotes(t *testing.T) {
	s := newSite(t, site.Options{})
	seen := map[string]bool{}
	authors := map[string]string{} // name by address
	tags := map[string]int{}       // quotations by address
	path, pages := "/quotes/page/1/", 0
	for path != "" {
		body := page(t, s, path)
		pages++
		quotes := texts(body, `<span class="text">`)
		names := texts(body, `<small class="author">`)
		if len(quotes) != 10 || len(names) != 10 || strings.Count(body, `<div class="quote">`) != 10 {
			t.Fatalf("%s has %d quotations of %d authors, want 10 of 10", path, len(quotes), len(names))
		}
		for _, q := range quotes {
			if seen[q] {
				t.Errorf("%s: %s stands twice", path, q)
			}
			seen[q] = true
		}
		var next string
		for _, href := range hrefs(body) {
			if strings.HasPrefix(href, "/author/") {
				authors[href] = names[0]
				names = names[1:]
			}
			if strings.HasPrefix(href, "/quotes/tag/") {
				tags[href]++
			}
		}
		if _, after, found := strings.Cut(body, `<li class="next">`); found {
			next = hrefs("</head>" + after)[0]
		}
		path = next
	}
	if pages != 10 || len(seen) != 100 || len(authors) != 10 || len(tags) != 10 {
		t.Errorf("got %d pages, %d quotations, %d authors and %d tags, want 10, 100, 10 and 10", pages, len(seen), len(authors), len(tags))
	}

	t.Run("each author has a page", func(t *testing.T) {
		for href, name := range authors {
			body := page(t, s, href)
			if got := texts(body, `<h3 class="author-title">`); !slices.Equal(got, []string{name}) {
				t.Errorf("%s: got titles %q, want %q", href, got, name)
			}
			if got := texts(body, `<span class="author-born-date">`); len(got) != 1 || got[0] == "" {
				t.Errorf("%s: got dates of birth %q, want one", href, got)
			}
		}
	})

	t.Run("each tag has a page of its quotations", func(t *testing.T) {
		for href, want := range tags {
			if got := len(texts(page(t, s, href), `<span class="text">`)); got != want {
				t.Errorf("%s: got %d quotations, want %d", href, got, want)
			}
		}
	})

	t.Run("the area leads to its first page", func(t *testing.T) {
		w := get(s, "/quotes/")
		if got := w.Header().Get("Location"); w.Code != http.StatusMovedPermanently || got != "/quotes/page/1/" {
			t.Errorf("got status %d to %q", w.Code, got)
		}
	})

	for _, path := range []string{"/quotes/page/0/", "/quotes/page/11/", "/quotes/page/01/", "/quotes/page/x/", "/quotes/tag/none/", "/author/Nobody/"} {
		t.Run("there is no "+path, func(t *testing.T) {
			if got := get(s, path).Code; got != http.StatusNotFound {
				t.Errorf("status %d, want 404", got)
			}
		})
	}
}
