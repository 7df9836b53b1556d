package cookies_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/cookies"
	"github.com/skitterhq/skitter/shared/crawl"
)

func TestTheStringIsStable(t *testing.T) {
	u := parseURL(t, "https://www.example.com/a/b")
	var j cookies.Jars
	j, _ = j.Take("", u, []string{"sid=a b; Path=/; Secure", "q=1; Max-Age=3600; Domain=example.com; Path=/x,y"}, noon)
	j, _ = j.Take("shop;1/@", u, []string{"sid=\xe9"}, noon)
	want := "1www.example.com,.example.com/x%2Cy,shop%3B1/%40@www.example.com/a;0S sid=a b;1-tn9dg0 q=1;2L sid=é"
	if diff := cmp.Diff(want, j.String()); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
	reread(t, j)
}

func TestNoCookiesAreNoString(t *testing.T) {
	j := take(t, cookies.Jars{}, "http://example.com/", "a=1")
	j = take(t, j, "http://example.com/", "a=1; Max-Age=0")
	if got := j.String(); got != "" {
		t.Errorf("got %q", got)
	}
	if got := (cookies.Jars{}).String(); got != "" {
		t.Errorf("the zero jars are %q", got)
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	tests := []struct{ text, want string }{
		{"2example.com;0 a=1", "version"},
		{"{}", "version"},
		{"1", "place 0: no domain"},
		{"1example.com", "cookie 0: no blank"},
		{"1example.com;0a=1", "cookie 0: no blank"},
		{"1example.com;0 a", `cookie 0: no "="`},
		{"1example.com;0 a=1;1 b=2", "cookie 1: its place is not there"},
		{"1example.com;-zz a=1", "cookie 0: its place is not there"},
		{"1example.com;0--1 a=1", "cookie 0: its expiry"},
		{"1example.com;0-0 a=1", "cookie 0: its expiry"},
		{"1example.com;0-zzzzzzzzzzzzzzzzzz a=1", "cookie 0: its expiry"},
		{"1example.com;0L a=€", "no byte"},
		{"1exam%ple.com;0 a=1", "place 0: an escape"},
		{"1example%2F.com;0 a=1", "place 0: no domain"},
		{"1example.com,%4;0 a=1", "place 1: an escape"},
		{"1example.com;0 a=\n", "control"},
		{"1example.com;0 a=\xff", "UTF-8"},
		{"1example.com;0 a=" + strings.Repeat("secret", 2000), "more than 8192"},
	}
	for _, test := range tests {
		_, err := cookies.Parse(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: error %v, want %q", test.text, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells what is secret: %v", err)
		}
	}
}

// everyday are the cookies of a shop that is looked after: 20 of them, with
// values of 60 bytes, most of them for the whole site.
func everyday() []string {
	names := []string{
		"_ga", "_ga_K1V2X3Y4Z5", "_gid", "_gcl_au", "_fbp", "_uetsid", "_uetvid", "_hjSessionUser_1234567", "_hjSession_1234567", "OptanonConsent",
		"PHPSESSID", "XSRF-TOKEN", "laravel_session", "cart", "currency", "remember_web", "__cf_bm", "cf_clearance", "AWSALB", "AWSALBCORS",
	}
	ends := []string{"; Max-Age=34560000", "; Expires=Thu, 21 Oct 2027 12:00:00 GMT", "; Max-Age=86400", "", "; Max-Age=1800"}
	var lines []string
	for i, name := range names {
		line := name + "=" + strings.Repeat(fmt.Sprintf("GS%d.1.1712", i%10), 6) + "; Path=/" + ends[i%len(ends)]
		if i < 10 {
			line += "; Domain=.example.com; SameSite=Lax"
		} else {
			line += "; Secure; HttpOnly"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestTwentyEverydayCookiesAreTwoKilobytes(t *testing.T) {
	j := take(t, cookies.Jars{}, "https://www.example.com/", everyday()...)
	text := j.String()
	encoded, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(header(t, j, "https://www.example.com/"), ";") + 1; n != 20 {
		t.Fatalf("%d cookies are there", n)
	}
	t.Logf("%d bytes, %d in JSON", len(text), len(encoded))
	if len(encoded) > 2048 {
		t.Errorf("%d bytes in JSON", len(encoded))
	}
}

func TestCookiesOfAURLAreTold(t *testing.T) {
	u := parseURL(t, "http://www.example.com/x/y")
	yes, no := true, false
	https := parseURL(t, "https://www.example.com/x/y")
	j := take(t, cookies.Jars{}, "https://www.example.com/x/y", "a=1; Secure", "b=2; Domain=example.com; Path=/", "c=3; Path=/z", "d=4; Max-Age=1")
	got := j.For("", https, noon.Add(time.Second))
	want := []crawl.Cookie{
		{Name: "a", Value: "1", Path: "/x", Secure: &yes},
		{Name: "b", Value: "2", Domain: "example.com", Path: "/", Secure: &no},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
	if got := j.For("other", u, noon); got != nil {
		t.Errorf("another jar has %v", got)
	}
}

func TestAddMissingKeepsWhatIsThere(t *testing.T) {
	u := parseURL(t, "http://example.com/")
	j := take(t, cookies.Jars{}, "http://example.com/", "a=1")
	given := []crawl.Cookie{{Name: "a", Value: "2"}, {Name: "b", Value: "3"}}
	kept, _ := j.AddMissing("", u, given, noon)
	replaced, _ := j.Add("", u, given, noon)
	if got := header(t, kept, u.String()) + ", " + header(t, replaced, u.String()); got != "a=1; b=3, a=2; b=3" {
		t.Errorf("got %s", got)
	}
}

func TestJarsAreNotChangedByTheirHeirs(t *testing.T) {
	// Requests of one page share their jars, and each goes its own way.
	u := parseURL(t, "http://example.com/")
	page, _ := cookies.Jars{}.Take("", u, []string{"a=1", "b=2; Path=/x", "d=3; Path=/y"}, noon)
	before := page.String()
	one, _ := page.Take("", u, []string{"a=one", "c=3; Path=/one"}, noon)
	two, _ := page.Take("", u, []string{"b=; Path=/x; Max-Age=0", "c=4; Path=/two"}, noon)
	if got := page.String(); got != before {
		t.Errorf("the page's are now %q", got)
	}
	if got := one.Header("", parseURL(t, "http://example.com/one"), noon); got != "c=3; a=one" {
		t.Errorf("the one sends %q", got)
	}
	if got := two.Header("", parseURL(t, "http://example.com/two"), noon); got != "c=4; a=1" {
		t.Errorf("the other sends %q", got)
	}
}
