package site_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/site"
)

// visited is a site of ten products after eleven requests.
func visited(t *testing.T) *site.Site {
	s := newSite(t, site.Options{Pages: 10, Fail: 1})
	for _, target := range []string{"/", "/p/1", "/p/1", "/p/1", "/p/2", "/p/10", "/private/secret", "/private/other", "/redirect/301", "/stats"} {
		get(s, target)
	}
	do(s, http.MethodHead, "/p/3")
	do(s, http.MethodHead, "/p/3")
	return s
}

func TestStats(t *testing.T) {
	want := site.Stats{
		Pages:            10,
		Hits:             11,
		ProductHits:      6,
		DistinctProducts: 1,
		ForbiddenHits:    2,
		MaxInFlight:      map[string]int{"shop.test": 1},
		Statuses:         map[int]int{200: 5, 301: 1, 404: 2, 503: 3},
	}
	fresh := site.Stats{Pages: 10, MaxInFlight: map[string]int{}, Statuses: map[int]int{}}

	t.Run("count each request once", func(t *testing.T) {
		if got := visited(t).Stats(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	})

	t.Run("are a copy", func(t *testing.T) {
		s := visited(t)
		clear(s.Stats().Statuses)
		if got := s.Stats(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	})

	t.Run("are served as JSON", func(t *testing.T) {
		const want = `{
  "pages": 10,
  "hits": 11,
  "product_hits": 6,
  "distinct_products": 1,
  "forbidden_hits": 2,
  "max_in_flight": {
    "shop.test": 1
  },
  "statuses": {
    "200": 5,
    "301": 1,
    "404": 2,
    "503": 3
  }
}
`
		if got := page(t, visited(t), "/stats"); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	})

	t.Run("are reset by a post", func(t *testing.T) {
		s := visited(t)
		w := do(s, http.MethodPost, "/stats?reset=1")
		var got site.Stats
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the post got %+v\nwant those up to then, %+v", got, want)
		}
		if got := s.Stats(); !reflect.DeepEqual(got, fresh) {
			t.Errorf("afterwards got %+v\nwant %+v", got, fresh)
		}
		if log := s.Log(); len(log) != 0 {
			t.Errorf("afterwards got log %+v, want none", log)
		}
	})

	for _, wrong := range []struct{ method, target string }{{"GET", "/stats?reset=1"}, {"POST", "/stats"}, {"POST", "/stats?reset=0"}} {
		t.Run("are not reset by "+wrong.method+" "+wrong.target, func(t *testing.T) {
			s := visited(t)
			if got := do(s, wrong.method, wrong.target).Code; got != http.StatusBadRequest {
				t.Errorf("got status %d, want 400", got)
			}
			if got := s.Stats(); !reflect.DeepEqual(got, want) {
				t.Errorf("afterwards got %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestMaxInFlight(t *testing.T) {
	// ask begins requests to hosts a and b, which take a second.
	ask := func(s *site.Site, hosts ...string) *sync.WaitGroup {
		var all sync.WaitGroup
		for _, host := range hosts {
			all.Go(func() {
				s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://"+host+"/p/0", nil))
			})
		}
		synctest.Wait()
		return &all
	}
	check := func(t *testing.T, s *site.Site, want map[string]int) {
		t.Helper()
		if got := s.Stats().MaxInFlight; !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}

	t.Run("is counted by host", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, site.Options{Latency: time.Second})
			ask(s, "a.test", "a.test", "A.test", "b.test").Wait()
			ask(s, "a.test", "b.test", "b.test").Wait()
			check(t, s, map[string]int{"a.test": 3, "b.test": 2})
		})
	})

	t.Run("outlives a reset while requests are served", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, site.Options{Latency: time.Second})
			ask(s, "a.test", "a.test", "a.test").Wait()
			running := ask(s, "a.test", "a.test")
			s.Reset()
			check(t, s, map[string]int{"a.test": 2})
			running.Wait()
			ask(s, "a.test").Wait()
			check(t, s, map[string]int{"a.test": 2})
			if got := s.Stats(); got.Hits != 1 || got.Statuses[200] != 1 || len(s.Log()) != 1 {
				t.Errorf("got %+v and %d entries, want the request after the reset alone", got, len(s.Log()))
			}
		})
	})

	t.Run("is counted together beyond many hosts", func(t *testing.T) {
		s := newSite(t, site.Options{})
		for i := range site.MaxHosts + 2 {
			s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, fmt.Sprintf("http://h%d.test/empty", i), nil))
		}
		got := s.Stats().MaxInFlight
		if len(got) != site.MaxHosts+1 || got["*"] != 1 {
			t.Errorf("got %d hosts, %d in flight at the others; want %d and 1", len(got), got["*"], site.MaxHosts+1)
		}
	})

	// A site that counts a request out after its answer has left fails this
	// now and then, not each time.
	t.Run("is one if a client asks for one page at a time", func(t *testing.T) {
		s := newSite(t, site.Options{})
		base, client := start(t, s)
		client.Transport.(*http.Transport).DisableKeepAlives = true
		for n := range 200 {
			response, err := client.Get(fmt.Sprintf("%s/p/%d", base, n))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
		}
		check(t, s, map[string]int{strings.TrimPrefix(base, "http://"): 1})
		log := s.Log()
		for i := range log[1:] {
			if log[i+1].Start.Before(log[i].End) {
				t.Fatalf("%s began before %s was at its end", log[i+1].Path, log[i].Path)
			}
		}
	})
}

func BenchmarkServeHTTP(b *testing.B) {
	s := newSite(b, site.Options{Pages: 30_000})
	r := httptest.NewRequest(http.MethodGet, "http://shop.test/", nil)
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		r.URL.Path = "/p/" + fmt.Sprint(n%30_000)
		clear(w.header)
		s.ServeHTTP(w, r)
	}
}

// discard is a ResponseWriter that keeps nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}
