package cookies_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/skitterhq/skitter/shared/cookies"
	"github.com/skitterhq/skitter/shared/weburl"
)

// FuzzTake looks for Set-Cookie lines that panic, that make a string which is
// not read as what it was, is too long or is no UTF-8, and for a Cookie header
// that could break a request.
func FuzzTake(f *testing.F) {
	seeds := []string{
		"x=1; Domain=co.uk", "b=1; Domain=.example.com", "c=1; Domain=localhost", "d=1; Domain=127.0.0.1",
		"auth = abc ; Path=/", "a=; Path=/", "auth=true; Path=/", "__Host-a=1; Secure; Path=/",
		"a=1; Expires=Wed, 21-Oct-27 13:00:05 GMT; Max-Age=60", "token", "=x", "é=\xe9; Path=/ü,@%", "a=1; Max-Age=99999999999999999999",
		"a=\"1; 2\"\nb=2; Path=/x\nc=3; Max-Age=0", strings.Repeat("a=", 1000),
	}
	for i, url := range []string{"http://example.com/", "https://www.example.co.uk/a/b?c", "http://localhost:8080/x", "http://127.0.0.1/", "http://[::1]/", "http://a;b,c@d/"} {
		for _, seed := range seeds {
			f.Add([]string{"", "1", "shop;@/,%\xff"}[i%3], url, seed)
		}
	}
	f.Fuzz(func(t *testing.T, jar, url, lines string) {
		u, err := weburl.Parse(url)
		if err != nil {
			return
		}
		j, _ := (cookies.Jars{}).Take("first", u, []string{"first=1"}, noon)
		j, report := j.Take(jar, u, strings.Split(lines, "\n"), noon)
		again := checkString(t, j)
		for _, later := range []time.Duration{0, time.Hour, 500 * 24 * time.Hour} {
			sent := j.Header(jar, u, noon.Add(later))
			if got := again.Header(jar, u, noon.Add(later)); got != sent {
				t.Errorf("%q is sent, and %q after reading", sent, got)
			}
			if strings.ContainsAny(sent, "\r\n\x00") {
				t.Errorf("%q breaks a header", sent)
			}
		}
		for _, err := range report.Refused {
			_ = err.Error()
		}
		// What is told of the cookies can be given again, if each has a name.
		if told := j.For(jar, u, noon); len(told) > 0 && told[0].Name != "" {
			given, report := (cookies.Jars{}).Add(jar, u, told[:1], noon)
			if len(report.Refused) > 0 {
				t.Errorf("%+v is refused: %v", told[0], report.Refused)
			}
			checkString(t, given)
		}
	})
}

// FuzzParse looks for a string that panics, or whose jars write another one
// that does not stay.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "1example.com;0 a=1", "1www.example.com,.example.com/x%2Cy,shop%3B1%2F@www.example.com/a;0S sid=a b;1-td2ebk q=1;2L sid=é",
		"1%2Ea.com,[::1];1-zz =x;0SL é=", "2", "1;", "1@.;0 =",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		j, err := cookies.Parse(text)
		if err != nil {
			return
		}
		// A change makes the jars as they are written, and within their bounds.
		j, _ = j.Take("", parseURL(t, "http://example.com/"), []string{"a=1"}, noon)
		checkString(t, j)
	})
}

// checkString reads the jars' string and fails t if that makes a difference.
func checkString(t *testing.T, j cookies.Jars) cookies.Jars {
	t.Helper()
	text := j.String()
	if len(text) > cookies.MaxBytes || !utf8.ValidString(text) {
		t.Fatalf("%d bytes: %q", len(text), text)
	}
	again, err := cookies.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if got := again.String(); got != text {
		t.Fatalf("%q is read as %q", text, got)
	}
	return again
}
