package site_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/site"
)

func ExampleNew() {
	shop, err := site.New(site.Options{Pages: 100})
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(shop)
	defer server.Close()

	response, err := http.Get(server.URL + "/p/7")
	if err != nil {
		panic(err)
	}
	response.Body.Close()
	fmt.Println(response.Status)
	fmt.Println(shop.Stats().DistinctProducts, "of", shop.Stats().Pages)
	// Output:
	// 200 OK
	// 1 of 100
}

func TestNew(t *testing.T) {
	tests := []struct {
		name    string
		options site.Options
		wantErr []string // parts of the error; none: no error
	}{
		{name: "zero options are good"},
		{name: "the limits are good", options: site.Options{Pages: 1_000_000, Fail: 1, Latency: 30 * time.Second, OtherOrigin: "https://b.test:8080"}},
		{name: "pages below one are refused", options: site.Options{Pages: -1}, wantErr: []string{"Pages is -1", "want 1 to 1000000"}},
		{name: "pages above the limit are refused", options: site.Options{Pages: 1_000_001}, wantErr: []string{"Pages is 1000001"}},
		{name: "a negative latency is refused", options: site.Options{Latency: -1}, wantErr: []string{"Latency is -1ns", "want 0 to 30s"}},
		{name: "a latency above the limit is refused", options: site.Options{Latency: 31 * time.Second}, wantErr: []string{"Latency is 31s"}},
		{name: "a negative share is refused", options: site.Options{Fail: -0.1}, wantErr: []string{"Fail is -0.1", "from 0 to 1"}},
		{name: "a share above one is refused", options: site.Options{Fail: 1.1}, wantErr: []string{"Fail is 1.1"}},
		{name: "a share that is no number is refused", options: site.Options{Fail: math.NaN()}, wantErr: []string{"Fail is NaN"}},
		{name: "an origin without a scheme is refused", options: site.Options{OtherOrigin: "b.test"}, wantErr: []string{"OtherOrigin", "http://other.test:8080"}},
		{name: "an origin with a path is refused", options: site.Options{OtherOrigin: "http://b.test/"}, wantErr: []string{"OtherOrigin"}},
		{name: "an origin that is a file is refused", options: site.Options{OtherOrigin: "file://b.test"}, wantErr: []string{"OtherOrigin"}},
		{name: "an origin of a port alone is refused", options: site.Options{OtherOrigin: "http://:80"}, wantErr: []string{"OtherOrigin"}},
		{name: "every mistake is told", options: site.Options{Pages: -1, Fail: 2}, wantErr: []string{"Pages", "Fail"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := site.New(test.options)
			if (err != nil) != (test.wantErr != nil) {
				t.Fatalf("got error %v, want one: %v", err, test.wantErr != nil)
			}
			for _, part := range test.wantErr {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got error %q, want it to say %q", err, part)
				}
			}
		})
	}
}

func TestFail(t *testing.T) {
	// tries returns, for each product, the statuses of its first two requests.
	tries := func(s *site.Site, pages int) (all [][2]int, failed int) {
		for n := range pages {
			path := fmt.Sprintf("/p/%d", n)
			try := [2]int{get(s, path).Code, get(s, path).Code}
			if try[0] == http.StatusServiceUnavailable {
				failed++
			}
			all = append(all, try)
		}
		return all, failed
	}
	const pages = 200
	tests := []struct {
		name      string
		fail      float64
		low, high int // failed first requests
	}{
		{name: "no share fails nothing", fail: 0},
		{name: "a fifth fails about a fifth", fail: 0.2, low: 25, high: 55},
		{name: "the whole share fails all", fail: 1, low: pages, high: pages},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, site.Options{Pages: pages, Fail: test.fail})
			first, failed := tries(s, pages)
			if failed < test.low || failed > test.high {
				t.Errorf("%d of %d first requests failed, want %d to %d", failed, pages, test.low, test.high)
			}
			for n, try := range first {
				if try[1] != http.StatusOK {
					t.Fatalf("second request for product %d: status %d, want 200", n, try[1])
				}
			}

			s.Reset()
			again, _ := tries(s, pages)
			other, _ := tries(newSite(t, site.Options{Pages: pages, Fail: test.fail}), pages)
			for n := range first {
				if first[n] != again[n] || first[n] != other[n] {
					t.Fatalf("product %d: statuses %v, after a reset %v, on another site %v; want them the same", n, first[n], again[n], other[n])
				}
			}
		})
	}
}

func TestWaiting(t *testing.T) {
	tests := []struct {
		name    string
		latency time.Duration
		target  string
		cancel  time.Duration // when the client goes away; 0: it stays
		want    time.Duration
		status  int // in the log
	}{
		{name: "a page comes at once", target: "/p/0", status: 200},
		{name: "latency delays a page", latency: 3 * time.Second, target: "/p/0", want: 3 * time.Second, status: 200},
		{name: "latency delays an error", latency: 3 * time.Second, target: "/nowhere", want: 3 * time.Second, status: 404},
		{name: "latency ends when the client goes away", latency: 3 * time.Second, target: "/p/0", cancel: time.Second, want: time.Second},
		{name: "slow takes a second", target: "/slow", want: time.Second, status: 200},
		{name: "slow takes as long as asked", target: "/slow?ms=10000", want: 10 * time.Second, status: 200},
		{name: "slow adds to latency", latency: time.Second, target: "/slow?ms=500", want: 1500 * time.Millisecond, status: 200},
		{name: "slow ends when the client goes away", target: "/slow?ms=5000", cancel: time.Second, want: time.Second},
		{name: "slow refuses more than ten seconds", target: "/slow?ms=10001", status: 400},
		{name: "slow refuses what is no number", target: "/slow?ms=1s", status: 400},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, site.Options{Latency: test.latency})
				ctx := t.Context()
				if test.cancel > 0 {
					c, cancel := context.WithTimeout(ctx, test.cancel)
					defer cancel()
					ctx = c
				}
				begin := time.Now()
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, test.target, nil))
				if got := time.Since(begin); got != test.want {
					t.Errorf("it took %v, want %v", got, test.want)
				}
				log := s.Log()
				if len(log) != 1 || log[0].Status != test.status || log[0].End.Sub(log[0].Start) != test.want {
					t.Errorf("got log %+v, want one entry of status %d and %v", log, test.status, test.want)
				}
				if test.status == 0 && w.Body.Len() > 0 {
					t.Errorf("a client that is gone got %q", w.Body)
				}
			})
		})
	}

	t.Run("stats come at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, site.Options{Latency: time.Second})
			begin := time.Now()
			page(t, s, "/stats")
			if got := time.Since(begin); got != 0 {
				t.Errorf("it took %v, want none", got)
			}
		})
	})
}

func TestAnswersAnnounceTheirLength(t *testing.T) {
	s := newSite(t, site.Options{})
	for _, path := range []string{"/", "/p/0", "/feed.xml", "/quotes/page/1/", "/gzip"} {
		t.Run(path, func(t *testing.T) {
			w := get(s, path)
			if got, want := w.Header().Get("Content-Length"), fmt.Sprint(w.Body.Len()); got != want {
				t.Errorf("got Content-Length %q, want %q", got, want)
			}
		})
	}
}
