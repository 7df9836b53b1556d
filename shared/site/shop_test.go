package site_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/site"
)

// productLinks returns the numbers of the products a page links to.
func productLinks(t *testing.T, body []byte) []int {
	t.Helper()
	var found []int
	for {
		_, after, more := bytes.Cut(body, []byte(`href="/p/`))
		if !more {
			return found
		}
		digits, _, _ := bytes.Cut(after, []byte(`"`))
		n, err := strconv.Atoi(string(digits))
		if err != nil {
			t.Fatalf("link to /p/%s: %v", digits, err)
		}
		found, body = append(found, n), after
	}
}

func TestEveryProductIsReachable(t *testing.T) {
	for _, pages := range []int{1, 2, 7, 30, 1200, 3000} {
		t.Run(fmt.Sprintf("of %d", pages), func(t *testing.T) {
			s := newSite(t, site.Options{Pages: pages})
			seen := make([]bool, pages)
			seen[0] = true
			queue := []int{0}
			var body []byte
			for i := 0; i < len(queue); i++ {
				body = s.AppendProduct(body[:0], queue[i])
				for _, n := range productLinks(t, body) {
					if n < 0 || n >= pages {
						t.Fatalf("/p/%d links to /p/%d, which is not there", queue[i], n)
					}
					if !seen[n] {
						seen[n] = true
						queue = append(queue, n)
					}
				}
			}
			if len(queue) != pages {
				t.Errorf("reached %d products, want %d; /p/%d is the first not reached", len(queue), pages, slices.Index(seen, false))
			}
		})
	}
}

// The random links alone reach every product of these shops, but only the heap
// is sure to.
func TestRelatedLinksLeadDownAHeap(t *testing.T) {
	for _, pages := range []int{1, 5, 7, 1200} {
		t.Run(fmt.Sprintf("of %d", pages), func(t *testing.T) {
			s := newSite(t, site.Options{Pages: pages})
			for n := 1; n < pages; n++ {
				parent := (n - 1) / 4
				links := productLinks(t, s.AppendProduct(nil, parent))
				related := links[len(links)-30:]
				if got := related[(n-1)%4]; got != n {
					t.Fatalf("related link %d of /p/%d leads to /p/%d, want /p/%d", (n-1)%4, parent, got, n)
				}
			}
		})
	}
}

func TestProductPage(t *testing.T) {
	s := newSite(t, site.Options{})
	price := regexp.MustCompile(`^£[0-9]{1,2}\.[0-9]{2}$`)
	prices := map[string]bool{}
	for _, n := range []int{0, 1, 12, 100, 123, 1199} {
		t.Run(fmt.Sprintf("%d has what the spiders read", n), func(t *testing.T) {
			w := get(s, fmt.Sprintf("/p/%d", n))
			body := w.Body.String()
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
				t.Errorf("got status %d and type %q", w.Code, w.Header().Get("Content-Type"))
			}
			if got, want := w.Header().Get("Content-Length"), strconv.Itoa(len(body)); got != want {
				t.Errorf("got Content-Length %s, want %s", got, want)
			}
			if len(body) < 16_500 || len(body) > 17_500 {
				t.Errorf("the page has %d bytes, want about 17,000", len(body))
			}
			if got, want := texts(body, `<h1 class="name">`), []string{fmt.Sprintf("Product %d", n)}; !slices.Equal(got, want) {
				t.Errorf("got names %q, want %q", got, want)
			}
			if got, want := texts(body, `<p class="sku">`), []string{fmt.Sprintf("SKU-%06d", n)}; !slices.Equal(got, want) {
				t.Errorf("got stock numbers %q, want %q", got, want)
			}
			got := texts(body, `<p class="price">`)
			if len(got) != 1 || !price.MatchString(got[0]) || prices[got[0]] {
				t.Errorf("got prices %q, want one that no other product here has", got)
			}
			prices[strings.Join(got, "")] = true

			tags := texts(body, `<li class="tag">`)
			slices.Sort(tags)
			if len(slices.Compact(tags)) != 5 {
				t.Errorf("got tags %q, want five different ones", tags)
			}
			paragraphs := texts(body, `<p class="para">`)
			slices.Sort(paragraphs)
			if len(slices.Compact(paragraphs)) != 24 {
				t.Errorf("got %d different paragraphs, want 24", len(slices.Compact(paragraphs)))
			}
			if got := strings.Count(body, `class="rel"`); got != 30 {
				t.Errorf("got %d related links, want 30", got)
			}
			links := productLinks(t, w.Body.Bytes())
			if len(links) != 60 {
				t.Fatalf("got %d links to products, want 60", len(links))
			}
			for i, n := range links[:30] {
				if i != n {
					t.Errorf("navigation link %d leads to /p/%d, want /p/%d", i, n, i)
				}
			}
			others := slices.DeleteFunc(hrefs(body), func(href string) bool { return strings.HasPrefix(href, "/p/") })
			var want []string
			if n%100 == 0 {
				want = []string{"/private/secret"}
			}
			if !slices.Equal(others, want) {
				t.Errorf("got links %q beside the products, want %q", others, want)
			}
		})
	}

	t.Run("has the same bytes on every site", func(t *testing.T) {
		other := newSite(t, site.Options{Fail: 0.5, Pages: 1200})
		for n := range 1200 {
			if !bytes.Equal(s.AppendProduct(nil, n), other.AppendProduct(nil, n)) {
				t.Fatalf("page %d differs between two sites", n)
			}
		}
	})

	t.Run("differs from the page of another product", func(t *testing.T) {
		s := newSite(t, site.Options{Pages: 30_000})
		seen := map[[sha256.Size]byte]bool{}
		var body []byte
		for n := range 10_000 {
			body = s.AppendProduct(body[:0], n)
			_, description, _ := bytes.Cut(body, []byte(`<div class="desc">`))
			description, _, _ = bytes.Cut(description, []byte("</div>"))
			sum := sha256.Sum256(description)
			if seen[sum] {
				t.Fatalf("product %d has the description of another", n)
			}
			seen[sum] = true
		}
	})
}

func TestProductAddress(t *testing.T) {
	s := newSite(t, site.Options{Pages: 1200})
	tests := []struct {
		name, method, target string
		status               int
	}{
		{"the first is there", "GET", "/p/0", 200},
		{"the last is there", "GET", "/p/1199", 200},
		{"a query changes nothing", "GET", "/p/7?from=mail", 200},
		{"its head is there", "HEAD", "/p/7", 200},
		{"one past the last is not there", "GET", "/p/1200", 404},
		{"a number too great for an int is not there", "GET", "/p/18446744073709551623", 404}, // 7 and 2 to the 64th
		{"a negative number is not there", "GET", "/p/-1", 404},
		{"a leading zero is not there", "GET", "/p/07", 404},
		{"a plus sign is not there", "GET", "/p/+7", 404},
		{"a word is not there", "GET", "/p/seven", 404},
		{"no number is not there", "GET", "/p/", 404},
		{"more path is not there", "GET", "/p/7/", 404},
		{"nobody can post to it", "POST", "/p/7", 405},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := do(s, test.method, test.target).Code; got != test.status {
				t.Errorf("%s %s: status %d, want %d", test.method, test.target, got, test.status)
			}
		})
	}
}

func BenchmarkAppendProduct(b *testing.B) {
	s := newSite(b, site.Options{Pages: 30_000})
	body := s.AppendProduct(nil, 0)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for n := 0; b.Loop(); n++ {
		body = s.AppendProduct(body[:0], n%30_000)
	}
}
