package spidermw_test

import (
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spidermw"
)

func TestRefererPolicies(t *testing.T) {
	const (
		secure = "https://u:p@example.com/private?x#f"
		plain  = "http://example.com:80/private?x"
		port   = "https://example.com:8443/a"
		file   = "file:///home/x.html"
	)
	same, other, down := "https://example.com/y", "https://other.example/", "http://example.com/"
	tests := []struct {
		policy, page string
		want         map[string]string // by target
	}{
		{"scrapy-default", secure, map[string]string{same: "https://example.com/private?x", other: "https://example.com/private?x", down: ""}},
		{"scrapy-default", plain, map[string]string{same: "http://example.com/private?x", down: "http://example.com/private?x"}},
		{"scrapy-default", file, map[string]string{same: "", down: ""}},
		{"no-referrer", secure, map[string]string{same: "", other: "", down: ""}},
		{"no-referrer-when-downgrade", secure, map[string]string{other: "https://example.com/private?x", down: ""}},
		{"same-origin", secure, map[string]string{same: "https://example.com/private?x", other: "", down: ""}},
		{"same-origin", port, map[string]string{same: "", "https://example.com:8443/b": "https://example.com:8443/a"}},
		{"origin", secure, map[string]string{same: "https://example.com/", other: "https://example.com/", down: "https://example.com/"}},
		{"strict-origin", secure, map[string]string{same: "https://example.com/", other: "https://example.com/", down: ""}},
		{"origin-when-cross-origin", secure, map[string]string{same: "https://example.com/private?x", other: "https://example.com/", down: "https://example.com/"}},
		{"strict-origin-when-cross-origin", secure, map[string]string{same: "https://example.com/private?x", other: "https://example.com/", down: ""}},
		{"unsafe-url", secure, map[string]string{same: "https://example.com/private?x", other: "https://example.com/private?x", down: "https://example.com/private?x"}},
		{"unsafe-url", file, map[string]string{down: ""}},
	}
	for _, test := range tests {
		t.Run(test.policy+" from "+test.page, func(t *testing.T) {
			mw := spidermw.Referer(with(t, map[string]any{"REFERRER_POLICY": test.policy}))
			for target, want := range test.want {
				got := output(t, mw, pageOf(test.page, 200), of(target))
				if referer := got[0].Headers.Get("Referer"); referer != want {
					t.Errorf("%s is told %q, want %q", target, referer, want)
				}
			}
		})
	}
}

// SEC-08: what a page's own policy says, and what is no policy.
func TestRefererPolicyOfThePage(t *testing.T) {
	const page, target = "https://example.com/private?x", "https://other.example/"
	tests := map[string]string{
		"":                              page,
		"os.system":                     page,
		"no-referrer":                   "",
		"No-Referrer":                   "",
		"origin, os.system":             "https://example.com/",
		"no-referrer, origin":           "https://example.com/",
		"origin , same-origin":          "",
		"scrapy.spidermiddlewares, , x": page,
	}
	for header, want := range tests {
		p := pageOf(page, 200)
		p.Headers.Set("Referrer-Policy", header)
		got := output(t, spidermw.Referer(with(t, nil)), p, of(target))
		if referer := got[0].Headers.Get("Referer"); referer != want {
			t.Errorf("policy %q: got %q, want %q", header, referer, want)
		}
	}
}

func TestRefererLeavesAlone(t *testing.T) {
	page := pageOf("http://example.com/", 200)
	own := func(yield func(crawl.Result, error) bool) {
		for res, err := range of("http://example.com/x") {
			if res.Request != nil {
				res.Request.SetHeader("Referer", "http://own.example/")
			}
			yield(res, err)
		}
	}
	if got := output(t, spidermw.Referer(with(t, nil)), page, own); got[0].Headers.Get("Referer") != "http://own.example/" {
		t.Errorf("a request's own header became %q", got[0].Headers.Get("Referer"))
	}
	off := spidermw.Referer(with(t, map[string]any{"REFERER_ENABLED": false}))
	if got := output(t, off, page, of("http://example.com/x")); got[0].Headers.Get("Referer") != "" {
		t.Error("it is on though it is off")
	}
	if spidermw.Referer(with(t, nil)).ProcessStart != nil {
		t.Error("it touches start requests")
	}
}
