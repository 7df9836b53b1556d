package weburl_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/skitterhq/skitter/shared/weburl"
)

// A wptURL is one case of the web platform tests' urltestdata.json.
type wptURL struct {
	Input   string  `json:"input"`
	Base    *string `json:"base"`
	Failure bool    `json:"failure"`

	Href     string `json:"href"`
	Origin   string `json:"origin"`
	Protocol string `json:"protocol"`
	Username string `json:"username"`
	Password string `json:"password"`
	Host     string `json:"host"`
	Hostname string `json:"hostname"`
	Port     string `json:"port"`
	Pathname string `json:"pathname"`
	Search   string `json:"search"`
	Hash     string `json:"hash"`
}

func wptURLs(t testing.TB) []wptURL { return wptCases[wptURL](t, "urltestdata.json") }

func (c wptURL) parse() (weburl.URL, error) {
	if c.Base == nil {
		return weburl.Parse(c.Input)
	}
	base, err := weburl.Parse(*c.Base)
	if err != nil {
		return weburl.URL{}, err
	}
	return base.Resolve(c.Input)
}

func TestWebPlatformURLs(t *testing.T) {
	const (
		want      = 878 // the rest are listed by -v: punycode that is none, and blanks in opaque paths
		wantTotal = 891
	)
	cases := wptURLs(t)
	if len(cases) != wantTotal {
		t.Errorf("%d cases, want %d", len(cases), wantTotal)
	}
	right, accepted := 0, 0
	for _, c := range cases {
		u, err := c.parse()
		switch {
		case c.Failure && err == nil:
			accepted++
			t.Errorf("%q (base %v) is accepted as %s", c.Input, c.base(), u)
		case c.Failure:
			right++
		case err != nil:
			t.Logf("%q (base %v): %v, want %s", c.Input, c.base(), err, c.Href)
		case u.String() != c.Href:
			t.Logf("%q (base %v) is %s, want %s", c.Input, c.base(), u, c.Href)
		default:
			right++
			c.checkParts(t, u)
		}
	}
	t.Logf("%d of %d right, %d accepted that must fail", right, len(cases), accepted)
	if right < want {
		t.Errorf("%d right, want at least %d", right, want)
	}
}

func (c wptURL) base() string {
	if c.Base == nil {
		return "none"
	}
	return *c.Base
}

func (c wptURL) checkParts(t *testing.T, u weburl.URL) {
	t.Helper()
	name, password := u.User()
	for _, part := range []struct{ name, got, want string }{
		{"scheme", u.Scheme(), strings.TrimSuffix(c.Protocol, ":")},
		{"user", name, c.Username},
		{"password", password, c.Password},
		{"host", u.Host(), c.Host},
		{"hostname", u.Hostname(), strings.Trim(c.Hostname, "[]")},
		{"port", u.Port(), c.Port},
		{"path", u.Path(), c.Pathname},
		{"query", u.Query(), strings.TrimPrefix(c.Search, "?")},
		{"fragment", u.Fragment(), strings.TrimPrefix(c.Hash, "#")},
	} {
		if part.got != part.want {
			t.Errorf("%s of %s = %q, want %q", part.name, u, part.got, part.want)
		}
	}
	if c.Origin != "" && u.Origin() != c.Origin {
		t.Errorf("origin of %s = %q, want %q", u, u.Origin(), c.Origin)
	}
}

// An encodedQuery is a query, and how it is written in pages of each encoding.
type encodedQuery struct {
	Input  string            `json:"input"`
	Output map[string]string `json:"output"`
}

func TestWebPlatformPercentEncoding(t *testing.T) {
	// Where golang.org/x/text encodes otherwise than the Encoding standard.
	known := map[string]string{
		"\u203e\\ in iso-2022-jp": `%26%238254%3B\`, // the encoder does not use the JIS X 0201 Roman set
		"\ue5e5 in gb18030":       "%839%B16",       // a private-use character is given its code of 2000
	}
	page, err := weburl.Parse("https://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range wptCases[encodedQuery](t, "percent-encoding.json") {
		for label, want := range c.Output {
			enc, err := htmlindex.Get(label)
			if err != nil {
				t.Fatal(err)
			}
			u, err := page.ResolveIn("?"+c.Input, enc)
			if err != nil {
				t.Fatal(err)
			}
			if got := u.Query(); got != want && got != known[c.Input+" in "+label] {
				t.Errorf("%q in %s is %s, want %s", c.Input, label, got, want)
			}
		}
	}
}

// A wptHost is a host and its form in URLs, nil if it is none.
type wptHost struct {
	Input  string  `json:"input"`
	Output *string `json:"output"`
}

func TestWebPlatformHosts(t *testing.T) {
	// The rest are listed by -v: punycode that is none, and letters that
	// Unicode treats otherwise since the tables of golang.org/x/net/idna.
	const want, wantTotal = 67, 87
	right, cases := 0, wptCases[wptHost](t, "toascii.json")
	if len(cases) != wantTotal {
		t.Errorf("%d cases, want %d", len(cases), wantTotal)
	}
	for _, c := range cases {
		u, err := weburl.Parse("https://" + c.Input + "/x")
		switch {
		case c.Output == nil && err == nil:
			t.Errorf("%q is accepted as %s", c.Input, u.Hostname())
		case c.Output == nil, err == nil && u.Hostname() == *c.Output:
			right++
		default:
			t.Logf("%q is %q (%v), want %s", c.Input, u.String(), err, *c.Output)
		}
	}
	if right < want {
		t.Errorf("%d right, want at least %d", right, want)
	}
}
