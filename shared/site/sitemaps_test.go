package site_test

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/site"
)

type sitemapURL struct {
	Loc     string `xml:"loc"`
	LastMod string `xml:"lastmod"`
}

func readSitemap(t *testing.T, body string) (locs []string) {
	t.Helper()
	var set struct {
		XMLName xml.Name     `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		URLs    []sitemapURL `xml:"url"`
	}
	if err := xml.Unmarshal([]byte(body), &set); err != nil {
		t.Fatal(err)
	}
	for _, u := range set.URLs {
		if _, err := time.Parse(time.DateOnly, u.LastMod); err != nil {
			t.Errorf("%s: %v", u.Loc, err)
		}
		locs = append(locs, u.Loc)
	}
	return locs
}

func productURLs(from, before int) (urls []string) {
	for n := from; n < before; n++ {
		urls = append(urls, fmt.Sprintf("http://shop.test/p/%d", n))
	}
	return urls
}

func TestSitemaps(t *testing.T) {
	s := newSite(t, site.Options{Pages: 2500})
	all := page(t, s, "/sitemap.xml")

	t.Run("one file has all products", func(t *testing.T) {
		if got := readSitemap(t, all); !slices.Equal(got, productURLs(0, 2500)) {
			t.Errorf("got %d URLs, want those of 2500 products in order", len(got))
		}
	})

	t.Run("the compressed file says the same", func(t *testing.T) {
		w := get(s, "/sitemap.xml.gz")
		if coding := w.Header().Get("Content-Encoding"); coding != "" {
			t.Errorf("got Content-Encoding %q, want none", coding)
		}
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != all {
			t.Error("it differs from /sitemap.xml")
		}
	})

	t.Run("the index has all products once", func(t *testing.T) {
		var index struct {
			XMLName  xml.Name     `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemapindex"`
			Sitemaps []sitemapURL `xml:"sitemap"`
		}
		if err := xml.Unmarshal([]byte(page(t, s, "/sitemap_index.xml")), &index); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, part := range index.Sitemaps {
			path, found := strings.CutPrefix(part.Loc, "http://shop.test")
			if !found {
				t.Fatalf("got part %q, want one on http://shop.test", part.Loc)
			}
			got = append(got, readSitemap(t, page(t, s, path))...)
		}
		if len(index.Sitemaps) != 3 || !slices.Equal(got, productURLs(0, 2500)) {
			t.Errorf("got %d parts of %d URLs, want 3 of 2500 products in order", len(index.Sitemaps), len(got))
		}
	})

	for _, path := range []string{"/sitemap/3.xml", "/sitemap/-1.xml", "/sitemap/00.xml", "/sitemap/0", "/sitemap/x.xml"} {
		t.Run("there is no "+path, func(t *testing.T) {
			if got := get(s, path).Code; got != http.StatusNotFound {
				t.Errorf("status %d, want 404", got)
			}
		})
	}
}

func TestTheTableHasEveryProduct(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(page(t, newSite(t, site.Options{Pages: 300}), "/products.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 301 {
		t.Fatalf("%d rows, want the names and 300 products", len(rows))
	}
	urls := productURLs(0, 300)
	for n, want := range map[int][]string{
		0:   {"sku", "name", "price", "description", "url"},
		1:   {"SKU-000000", "Product 0", "£5.00", `The "Product 0", only £5.00`, urls[0]},
		300: {"SKU-000299", "Product 299", "£54.63", `The "Product 299", only £54.63`, urls[299]},
	} {
		if diff := cmp.Diff(want, rows[n]); diff != "" {
			t.Errorf("row %d (-want +got):\n%s", n, diff)
		}
	}
}

func TestFeeds(t *testing.T) {
	tests := []struct {
		name  string
		pages int
		first int // the oldest product in the feed
	}{
		{"have the twenty newest", 1200, 1180},
		{"have all of a small shop", 3, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, site.Options{Pages: test.pages})
			want := productURLs(test.first, test.pages)
			slices.Reverse(want)

			var rss struct {
				XMLName xml.Name `xml:"rss"`
				Version string   `xml:"version,attr"`
				Items   []struct {
					Title   string `xml:"title"`
					Link    string `xml:"link"`
					GUID    string `xml:"guid"`
					PubDate string `xml:"pubDate"`
				} `xml:"channel>item"`
			}
			if err := xml.Unmarshal([]byte(page(t, s, "/feed.xml")), &rss); err != nil {
				t.Fatal(err)
			}
			var atom struct {
				XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
				Updated string   `xml:"updated"`
				Entries []struct {
					ID   string `xml:"id"`
					Link struct {
						Href string `xml:"href,attr"`
					} `xml:"link"`
					Updated string `xml:"updated"`
				} `xml:"entry"`
			}
			if err := xml.Unmarshal([]byte(page(t, s, "/atom.xml")), &atom); err != nil {
				t.Fatal(err)
			}

			if rss.Version != "2.0" || len(rss.Items) != len(want) || len(atom.Entries) != len(want) {
				t.Fatalf("got RSS %q with %d items and Atom with %d, want 2.0 with %d", rss.Version, len(rss.Items), len(atom.Entries), len(want))
			}
			if atom.Updated != atom.Entries[0].Updated {
				t.Errorf("Atom is of %s, its newest entry of %s", atom.Updated, atom.Entries[0].Updated)
			}
			for i, item := range rss.Items {
				entry := atom.Entries[i]
				if item.Link != want[i] || item.GUID != want[i] || entry.ID != want[i] || entry.Link.Href != want[i] {
					t.Errorf("entry %d: got RSS %+v and Atom %+v, want %s", i, item, entry, want[i])
				}
				published, err := time.Parse(time.RFC1123Z, item.PubDate)
				if err != nil || published.Format(time.RFC3339) != entry.Updated {
					t.Errorf("entry %d: got RSS date %q (%v) and Atom %q", i, item.PubDate, err, entry.Updated)
				}
			}
		})
	}
}
