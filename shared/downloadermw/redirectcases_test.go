package downloadermw_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/stats"
)

// follow follows redirects, as the engine would, until there are none.
func follow(t *testing.T, h downloader.Handler, req *crawl.Request) (chain []*crawl.Request, end string) {
	for range 100 {
		resp, err := h.Fetch(t.Context(), req.Clone())
		var instead *crawl.Instead
		if !errors.As(err, &instead) {
			return chain, outcome(resp, err)
		}
		chain = append(chain, instead.Request)
		req = instead.Request
	}
	t.Fatal("no end after 100 redirects")
	return nil, ""
}

func TestRedirectManyCases(t *testing.T) {
	eachCase(t, "redirect_many", func(t *testing.T, input, expect json.RawMessage) {
		var in struct {
			Request struct {
				Method, URL string
				Headers     map[string]string
			}
			Locations    []string
			LocationsB64 [][]byte `json:"locations_b64"`
			Status       int
		}
		var want struct {
			Authorization []bool
			Cookie        []any
			Followed      []bool
			Targets, URLs []string
		}
		read(t, input, &in)
		read(t, expect, &want)
		for _, raw := range in.LocationsB64 {
			in.Locations = append(in.Locations, string(raw))
		}
		for n, location := range in.Locations {
			req := &crawl.Request{Method: in.Request.Method, URL: in.Request.URL}
			for name, value := range in.Request.Headers {
				req.SetHeader(name, value)
			}
			target := redirected(t, downloadermw.RedirectOptions{}, req, in.Status, location)
			if want.Followed != nil && (target != nil) != want.Followed[n] {
				t.Errorf("%s: followed %t", location, target != nil)
			}
			if target == nil {
				continue
			}
			if want.URLs != nil && target.URL != want.URLs[n] {
				t.Errorf("%q: to %s, want %s", location, target.URL, want.URLs[n])
			}
			if want.Targets != nil && !strings.HasSuffix(target.URL, want.Targets[n]) {
				t.Errorf("%q: to %s, want %s", location, target.URL, want.Targets[n])
			}
			if want.Authorization != nil && (target.Headers["Authorization"] != nil) != want.Authorization[n] {
				t.Errorf("%s: headers %v", location, target.Headers)
			}
			if want.Cookie != nil {
				got := any(target.Headers["Cookie"] != nil)
				either, _ := want.Cookie[n].([]any)
				if got != want.Cookie[n] && !slices.Contains(either, got) {
					t.Errorf("%s: cookie %v, want %v", location, got, want.Cookie[n])
				}
			}
		}
	})
}

func TestRedirectChainCases(t *testing.T) {
	eachCase(t, "redirect_chain", func(t *testing.T, input, expect json.RawMessage) {
		var in struct {
			Request struct {
				URL     string
				Headers map[string]string
			}
			Hops     []string
			Server   any
			Settings struct {
				AllowedDomains []string `json:"allowed_domains"`
				Proxies        map[string]string
			}
		}
		var want struct {
			Authorization []bool
			FetchedHosts  []string `json:"fetched_hosts"`
			Stat          string
			MaxFetches    int `json:"max_fetches"`
			Outcome       string
		}
		read(t, input, &in)
		read(t, expect, &want)
		if _, scripted := in.Server.([]any); scripted {
			t.Skip("needs the cookies middleware")
		}
		if in.Settings.Proxies != nil {
			t.Skip("needs the proxy middleware")
		}
		hops := map[string]string{"http://example.com/a": "/b", "http://example.com/b": "/a"}
		for n, hop := range in.Hops {
			hops[append([]string{in.Request.URL}, in.Hops...)[n]] = hop
		}
		var fetched []string
		server := downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
			fetched = append(fetched, req.URL)
			headers := http.Header{}
			status := 200
			if hop := hops[req.URL]; hop != "" {
				status = 302
				headers.Set("Location", hop)
			}
			return answer(status, headers, "end").Fetch(ctx, req)
		})
		var st stats.Collector
		offsite, err := downloadermw.Offsite(in.Settings.AllowedDomains, &st, noLog())
		if err != nil {
			t.Fatal(err)
		}
		req := &crawl.Request{URL: in.Request.URL}
		for name, value := range in.Request.Headers {
			req.SetHeader(name, value)
		}
		h := downloader.Chain(server, offsite, downloadermw.Redirect(with(t, nil), downloadermw.RedirectOptions{}, noLog()))
		chain, end := follow(t, h, req)
		for n, has := range want.Authorization {
			if (chain[n].Headers["Authorization"] != nil) != has {
				t.Errorf("hop %d: headers %v", n, chain[n].Headers)
			}
		}
		if want.FetchedHosts != nil {
			if len(fetched) != 1 || !strings.Contains(fetched[0], want.FetchedHosts[0]) || end != "drop offsite" || st.Take()[want.Stat] != 1 {
				t.Errorf("fetched %v, end %s", fetched, end)
			}
		}
		if want.MaxFetches > 0 && (len(fetched) > want.MaxFetches || end != "drop redirect-max-times") {
			t.Errorf("%d fetches, end %s", len(fetched), end)
		}
	})
}
