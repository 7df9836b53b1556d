package site_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"testing"

	"github.com/skitterhq/skitter/shared/site"
)

func TestRedirects(t *testing.T) {
	tests := []struct {
		name    string
		options site.Options
		url     string
		status  int
		want    string // the Location
	}{
		{name: "301 leads to a product", url: "http://shop.test/redirect/301", status: 301, want: "/p/1"},
		{name: "302 leads to a product", url: "http://shop.test/redirect/302", status: 302, want: "/p/1"},
		{name: "303 leads to a product", url: "http://shop.test/redirect/303", status: 303, want: "/p/1"},
		{name: "307 leads to a product", url: "http://shop.test/redirect/307", status: 307, want: "/p/1"},
		{name: "308 leads to a product", url: "http://shop.test/redirect/308", status: 308, want: "/p/1"},
		{name: "there is no 304", url: "http://shop.test/redirect/304", status: 404},
		{name: "a shop of one leads to what there is", options: site.Options{Pages: 1}, url: "http://shop.test/redirect/301", status: 301, want: "/p/0"},
		{name: "a chain leads down", url: "http://shop.test/redirect/chain/100", status: 302, want: "/redirect/chain/99"},
		{name: "a chain ends at a product", url: "http://shop.test/redirect/chain/1", status: 302, want: "/p/2"},
		{name: "a chain of none is not there", url: "http://shop.test/redirect/chain/0", status: 404},
		{name: "a chain too long is not there", url: "http://shop.test/redirect/chain/101", status: 404},
		{name: "a loop begins", url: "http://shop.test/redirect/loop", status: 302, want: "/redirect/loop/1"},
		{name: "a loop goes on", url: "http://shop.test/redirect/loop/1", status: 302, want: "/redirect/loop/2"},
		{name: "a loop comes back", url: "http://shop.test/redirect/loop/2", status: 302, want: "/redirect/loop"},
		{name: "out of localhost is 127.0.0.1", url: "http://localhost:8901/redirect/out", status: 302, want: "http://127.0.0.1:8901/p/3"},
		{name: "out of 127.0.0.1 is localhost", url: "http://127.0.0.1:8901/redirect/out", status: 302, want: "http://localhost:8901/p/3"},
		{name: "out needs no port", url: "https://LOCALHOST/redirect/out", status: 302, want: "https://127.0.0.1/p/3"},
		{name: "out of another name is not known", url: "http://shop.test/redirect/out", status: 501},
		{name: "out leads where the options say", options: site.Options{OtherOrigin: "https://b.test:1"}, url: "http://localhost/redirect/out", status: 302, want: "https://b.test:1/p/3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			newSite(t, test.options).ServeHTTP(w, httptest.NewRequest(http.MethodGet, test.url, nil))
			if got := w.Header().Get("Location"); w.Code != test.status || got != test.want {
				t.Errorf("got status %d to %q, want %d to %q", w.Code, got, test.status, test.want)
			}
		})
	}
}

func TestFollowedRedirects(t *testing.T) {
	tests := []struct {
		name    string
		target  string
		cookies bool
		want    string // where it ends; none: nowhere
		hits    int
	}{
		{name: "a chain has the steps asked for", target: "/redirect/chain/5", want: "/p/2", hits: 6},
		{name: "a loop has no end", target: "/redirect/loop", hits: 10},
		{name: "a client with cookies gets out", target: "/redirect/cookie", cookies: true, want: "/redirect/cookie", hits: 2},
		{name: "a client without cookies does not", target: "/redirect/cookie", hits: 10},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, site.Options{})
			base, client := start(t, s)
			client.CheckRedirect = nil // ten, as net/http has it
			if test.cookies {
				jar, err := cookiejar.New(nil)
				if err != nil {
					t.Fatal(err)
				}
				client.Jar = jar
			}
			var got string
			response, err := client.Get(base + test.target)
			if err == nil {
				response.Body.Close()
				got = response.Request.URL.Path
			}
			if got != test.want || s.Stats().Hits != test.hits {
				t.Errorf("ended at %q (%v) after %d requests, want %q after %d", got, err, s.Stats().Hits, test.want, test.hits)
			}
		})
	}
}
