package spidermw_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
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
			mw := spidermw.Referer(with(t, map[string]any{"REFERRER_POLICY": test.policy}), noLog())
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
		got := output(t, spidermw.Referer(with(t, nil), noLog()), p, of(target))
		if referer := got[0].Headers.Get("Referer"); referer != want {
			t.Errorf("policy %q: got %q, want %q", header, referer, want)
		}
	}
}

// A request's own policy comes before the page's, and one that is unknown is
// warned of and taken for REFERRER_POLICY, as in Scrapy.
func TestRefererPolicyOfTheRequest(t *testing.T) {
	const page, target = "https://example.com/private?x", "https://other.example/"
	tests := []struct {
		header, request, want string
		warned                bool
	}{
		{"", "", "https://example.com/", false},
		{"no-referrer", "", "", false},
		{"no-referrer", "unsafe-url", page, false},
		{"unsafe-url", "No-Referrer", "", false},
		{"unsafe-url", "os.system", "https://example.com/", true},
	}
	for _, test := range tests {
		var log bytes.Buffer
		mw := spidermw.Referer(with(t, map[string]any{"REFERRER_POLICY": "origin"}), slog.New(slog.NewTextHandler(&log, nil)))
		p := pageOf(page, 200)
		p.Headers.Set("Referrer-Policy", test.header)
		for range 2 {
			own := func(yield func(crawl.Result, error) bool) {
				for res, err := range of(target) {
					if res.Request != nil {
						res.Request.ReferrerPolicy = test.request
					}
					yield(res, err)
				}
			}
			if got := output(t, mw, p, own)[0].Headers.Get("Referer"); got != test.want {
				t.Errorf("page %q, request %q: got %q, want %q", test.header, test.request, got, test.want)
			}
		}
		if warnings := strings.Count(log.String(), "unknown referrer policy"); warnings > 1 || (warnings == 1) != test.warned {
			t.Errorf("request %q: %d warnings: %s", test.request, warnings, log.String())
		}
	}
}

func TestRefererOfARedirect(t *testing.T) {
	from := &crawl.Response{URL: "https://u:p@example.com/private?x#f", Headers: http.Header{}}
	tell := spidermw.RedirectReferer(with(t, nil), noLog())
	for target, want := range map[string]string{
		"https://other.example/": "https://example.com/private?x",
		"http://other.example/":  "",
	} {
		if got := tell(from, &crawl.Request{URL: target}); got != want {
			t.Errorf("%s is told %q, want %q", target, got, want)
		}
	}
	if spidermw.RedirectReferer(with(t, map[string]any{"REFERER_ENABLED": false}), noLog()) != nil {
		t.Error("it is on though it is off")
	}
}

func TestAReferrerPolicyThatIsUnknownIsRefused(t *testing.T) {
	_, err := settings.Resolve(settings.Layer{Name: "test", Values: map[string]any{"REFERRER_POLICY": "os.system"}})
	if err == nil || !strings.Contains(err.Error(), "REFERRER_POLICY") || !strings.Contains(err.Error(), "strict-origin") {
		t.Errorf("got %v, want an error that names the setting and the policies there are", err)
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
	if got := output(t, spidermw.Referer(with(t, nil), noLog()), page, own); got[0].Headers.Get("Referer") != "http://own.example/" {
		t.Errorf("a request's own header became %q", got[0].Headers.Get("Referer"))
	}
	off := spidermw.Referer(with(t, map[string]any{"REFERER_ENABLED": false}), noLog())
	if got := output(t, off, page, of("http://example.com/x")); got[0].Headers.Get("Referer") != "" {
		t.Error("it is on though it is off")
	}
	if spidermw.Referer(with(t, nil), noLog()).ProcessStart != nil {
		t.Error("it touches start requests")
	}
}
