package site_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/site"
)

func newSite(t testing.TB, options site.Options) *site.Site {
	t.Helper()
	s, err := site.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// get asks the site without a network, by the name of shop.test.
func get(s *site.Site, target string) *httptest.ResponseRecorder {
	return do(s, http.MethodGet, target)
}

func do(s *site.Site, method, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(method, "http://shop.test"+target, nil))
	return w
}

// page returns the body of a page that must be there.
func page(t *testing.T, s *site.Site, target string) string {
	t.Helper()
	w := get(s, target)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: status %d, want 200", target, w.Code)
	}
	return w.Body.String()
}

// hrefs returns the addresses that a page links to in its body.
func hrefs(body string) []string {
	_, body, _ = strings.Cut(body, "</head>")
	var found []string
	for _, m := range regexp.MustCompile(`<a [^>]*href="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		found = append(found, strings.ReplaceAll(m[1], "&amp;", "&"))
	}
	return found
}

// texts returns what stands in the elements whose start tag is tag.
func texts(body, tag string) []string {
	var found []string
	for _, m := range regexp.MustCompile(regexp.QuoteMeta(tag)+`([^<]*)<`).FindAllStringSubmatch(body, -1) {
		found = append(found, m[1])
	}
	return found
}

// start serves the site on a free port of this machine. The client follows no
// redirects and accepts any coding without undoing it.
func start(t *testing.T, s *site.Site) (base string, client *http.Client) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client = server.Client()
	client.Transport.(*http.Transport).DisableCompression = true
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return server.URL, client
}
