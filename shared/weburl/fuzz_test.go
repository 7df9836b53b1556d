package weburl_test

import (
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/weburl"
)

// FuzzResolve looks for a reference that web reads otherwise than the standard,
// for a panic, and for a URL that does not parse to itself.
func FuzzResolve(f *testing.F) {
	for _, base := range bases {
		for _, ref := range []string{"/p/12?x=1#y", "../a b/é?ö", "//EXAMPLE.org:80/./x", "http://1.2.3.4/%2e%2E/x", "https:///a\\b@c"} {
			f.Add(base, ref)
		}
	}
	for _, ref := range oddRefs {
		f.Add(bases[0], ref)
	}
	for _, ref := range []string{
		"\n\t http://other.example/x \n", "ht\ntp://other.example/a\tb", "/sale-100%", "/%u0041?q=%zz", "..\\SHIPS\\a.html", "/\\other.example/x",
		"http://bücher.example:8080/ä?ö=ü#ß", "1:2/x", "foo bar:baz", "/?q=a%2520b&x=%26&b&a=", "///other.example/p", "https:////sites.example.net/x",
		"//other.example:/x", "http://①②⑦.0.0.1/", "http://[::ffff:169.254.169.254]/", "http://0177.0.0.1./", "/caf\xe9", "http:foo",
	} {
		f.Add("http://example.com/dir/page.html", ref)
	}
	f.Fuzz(func(t *testing.T, baseText, ref string) {
		if len(baseText)+len(ref) > 300 || strings.Count(baseText+ref, "@") > 16 {
			return // the standard knows no bounds
		}
		checkWeb(t, nil, ref)
		checkWeb(t, nil, baseText)
		base, err := weburl.Parse(baseText)
		if err != nil {
			return
		}
		checkSame(t, base)
		checkWeb(t, &base, ref)
		if u, err := base.Resolve(ref); err == nil {
			checkSame(t, u)
		}
	})
}

// checkSame fails t if u's text does not parse to u, or u's canonical form is
// not a canonical form.
func checkSame(t *testing.T, u weburl.URL) {
	t.Helper()
	switch u.Scheme() {
	case "http", "https":
	default:
		return // the standard itself does not promise it for every scheme
	}
	again, err := weburl.Parse(u.String())
	if err != nil {
		t.Fatalf("%q does not parse again: %v", u, err)
	}
	if again != u {
		t.Errorf("%q parses to %q", u, again)
	}
	checkCanonical(t, u)
}

func checkCanonical(t *testing.T, u weburl.URL) {
	t.Helper()
	canonical := weburl.Canonical(u)
	if full := weburl.CanonicalInFull(u); canonical != full {
		t.Errorf("Canonical(%q) is %q by the shortcut, %q in full", u, canonical, full)
	}
	again, err := weburl.Parse(canonical)
	if err != nil {
		t.Fatalf("the canonical form of %q does not parse: %v", u, err)
	}
	if twice := weburl.Canonical(again); twice != canonical {
		t.Errorf("the canonical form of %q is %q; its own is %q", u, canonical, twice)
	}
}
