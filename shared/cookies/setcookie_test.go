package cookies_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/cookies"
)

func TestWhatASetCookieLineSays(t *testing.T) {
	tests := []struct {
		name string
		set  []string
		want string // at the page that set it, http://example.com/a/b
	}{
		{"blanks round name and value", []string{"  a \t= 1 2 ; Path=/"}, "a=1 2"},
		{"an empty value is one", []string{"a=; Path=/"}, "a="},
		{"quotes are the value's", []string{`a="1 "`, `b="x;y"`, `c=A"B`}, `a="1 "; b="x; c=A"B`},
		{"commas end nothing", []string{"a=1, b=2"}, "a=1, b=2"},
		{"only the first equals sign counts", []string{"a== 1=2"}, "a== 1=2"},
		{"odd names", []string{"$a=1", `"b=2`, "c d=3", "@e=4", "+=5", "$Version=1"}, `$a=1; "b=2; c d=3; @e=4; +=5; $Version=1`},
		{"without a name", []string{"token; Path=/", "=again; Path=/"}, "again"},
		{"without name and value", []string{"", " ", "=", " = ;Path=/", "; Path=/"}, ""},
		{"UTF-8", []string{"größe=übergroß; Path=/"}, "größe=übergroß"},
		{"Latin-1 is sent as it came", []string{"gr\xf6\xdfe=\xfcber; Path=/", "b=ok"}, "b=ok; gr\xf6\xdfe=\xfcber"},
		{"a mix of both", []string{"é=\xe9"}, "é=\xe9"},
		{"control characters refuse", []string{"a=1\x00", "b=\r2", "c=3; x=\n", "d\x7f=4", "e=5\x1b"}, ""},
		{"save for the tab", []string{"a=1\t2"}, "a=1\t2"},
		{"attributes that nobody knows", []string{"a=1; Version=1; foo; =; ;;SameSite=Strict; Partitioned; HttpOnly"}, "a=1"},
		{"an attribute in quotes is none", []string{`a=1; "Secure"`}, "a=1"},
		{"the attribute must be alone", []string{"a=1; Secure x"}, "a=1"},
		{"4096 bytes are a cookie", []string{"a=" + strings.Repeat("x", 4095)}, "a=" + strings.Repeat("x", 4095)},
		{"one more is none", []string{"a=" + strings.Repeat("x", 4096)}, ""},
		{"blanks round attributes", []string{"a=1;   path   =   /a  ;", "b=2; Path = /x"}, "a=1"},
		{"a Path in quotes is none", []string{`a=1; Path="/x"`}, "a=1"},

		{"Max-Age", []string{"a=1; Max-Age=60"}, "a=1"},
		{"Max-Age of nothing", []string{"a=1; Max-Age=0", "b=1; Max-Age=-1", "c=1; max-age=-0"}, ""},
		{"Max-Age that is no number", []string{"a=1; Max-Age=", "b=1; Max-Age=6.5", "c=1; Max-Age=50,399", "d=1; Max-Age=-", "e=1; Max-Age=+0"}, "a=1; b=1; c=1; d=1; e=1"},
		{"a very long one", []string{"a=1; Max-Age=99999999999999999999999999"}, "a=1"},
		{"it goes before Expires", []string{"a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "b=1; Expires=Fri, 01 Jan 2038 00:00:00 GMT; Max-Age=0"}, "a=1"},
		{"also where it stands before", []string{"a=1; Max-Age=0; Max-Age=60"}, "a=1"},
		{"Expires in the past", []string{"a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "b=1; expires=Mon, 01-Jan-1601 00:00:00 GMT"}, ""},
		{"Expires in the future", []string{"a=1; Expires=Thu, 22 Oct 2026 00:00:00 GMT"}, "a=1"},
		{"Expires that is no date", []string{"a=1; Expires=never", "b=1; Expires=0", "c=1; Expires="}, "a=1; b=1; c=1"},
		{"a date that is none does not count", []string{"a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Expires=never"}, ""},

		{"a newer value takes the old one's place", []string{"a=1", "b=2", "a=3"}, "a=3; b=2"},
		{"one that has passed takes it out", []string{"a=1", "b=2", "a=x; Max-Age=0"}, "b=2"},
		{"but only from its own place", []string{"a=1", "a=x; Max-Age=0; Path=/", "a=x; Max-Age=0; Domain=example.com"}, "a=1"},
		{"names keep their capitals", []string{"a=1", "A=2"}, "a=1; A=2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			j := take(t, cookies.Jars{}, "http://example.com/a/b", test.set...)
			if diff := cmp.Diff(test.want, header(t, j, "http://example.com/a/b")); diff != "" {
				t.Errorf("Cookie (-want, +got):\n%s", diff)
			}
		})
	}
}

func TestDatesInAllForms(t *testing.T) {
	tests := []struct {
		date string
		want string // empty: no date, and so a cookie of the session
	}{
		{"Wed, 21 Oct 2026 13:00:05 GMT", "13:00:05"},
		{"Wed, 21-Oct-26 13:00:05 GMT", "13:00:05"},
		{"Wednesday, 21-Oct-2026 13:00:05 GMT", "13:00:05"},
		{"Wed Oct 21 13:00:05 2026", "13:00:05"},
		{"2026 October 21 13:00:05", "13:00:05"},
		{"13:00:05 21 Okt Oct 26", "13:00:05"},
		{"\"21/Oct\\2026 13:00:05\"", "13:00:05"},
		{", 21 - Octobre-26,13:00:05 +0200 (CEST)", "13:00:05"},
		{"21 oCt 26 13:00:05 GMT-4", "13:00:05"},
		{"21st Oct 26th 13:00:05Z", "13:00:05"},
		{"21 Oct 2026 13:0:5", "13:00:05"},
		{"21 Oct 2026 13:00:05 23:59:59", "13:00:05"},
		{"21 Oct 2026 :: x:1 13:00:05", "13:00:05"},
		{"21 Oct 2026 13:00:05.999", "13:00:05"},
		{"21 Oct 2026 24:00:05", ""},
		{"21 Oct 2026 13:60:05", ""},
		{"21 Oct 2026 13:00:60", ""},
		{"21 Oct 2026 13:00:005", ""},
		{"21 Oct 2026 13:00", ""},
		{"021 Oct 2026 13:00:05", ""},
		{"31 Sep 2026 13:00:05", ""},
		{"0 Oct 2026 13:00:05", ""},
		{"21 Ocx 2026 13:00:05", ""},
		{"21 Oct 6 13:00:05", ""},
		{"21 Oct 20266 13:00:05", ""},
		{"21 Oct 1600 13:00:05", ""},
		{"99999999999999999999 Oct 2026 13:00:05", ""},
		{"Oct", ""},
	}
	for _, test := range tests {
		// The cookie is there until the second before its end.
		j := take(t, cookies.Jars{}, "http://example.com/", "a=1; Expires="+test.date)
		end := noon.Add(time.Hour + 5*time.Second)
		if test.want == "" {
			if j.Header("", parseURL(t, "http://example.com/"), noon.AddDate(10, 0, 0)) == "" {
				t.Errorf("%q is read as a date", test.date)
			}
			continue
		}
		if j.Header("", parseURL(t, "http://example.com/"), end.Add(-time.Minute)) == "" ||
			j.Header("", parseURL(t, "http://example.com/"), end) != "" {
			t.Errorf("%q is not read as %s", test.date, test.want)
		}
	}
}

func TestYearsOfTwoDigits(t *testing.T) {
	for year, there := range map[string]bool{"69": true, "27": true, "70": false, "99": false, "25": false} {
		j := take(t, cookies.Jars{}, "http://example.com/", "a=1; Expires=Fri, 01-Jan-"+year+" 00:00:00 GMT")
		if j.Empty() == there {
			t.Errorf("year %s: the cookie is there: %v, want %v", year, !j.Empty(), there)
		}
	}
}

func TestNoCookieLivesLongerThan400Days(t *testing.T) {
	for _, set := range []string{"a=1; Max-Age=99999999", "a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT"} {
		j := take(t, cookies.Jars{}, "http://example.com/", set)
		u := parseURL(t, "http://example.com/")
		if j.Header("", u, noon.AddDate(0, 0, 399)) == "" || j.Header("", u, noon.AddDate(0, 0, 400)) != "" {
			t.Errorf("%s does not end after 400 days", set)
		}
	}
}

func TestASessionThatIsProlongedMostlyStaysTheSame(t *testing.T) {
	u := parseURL(t, "http://example.com/")
	tests := []struct {
		maxAge string
		later  time.Duration
		same   bool
	}{
		{"604800", 30 * time.Minute, true}, // to the hour
		{"7200", 30 * time.Second, true},   // to the minute
		{"600", time.Second, false},        // to the second
		{"604800", time.Hour, false},
	}
	for _, test := range tests {
		set := []string{"sid=1; Max-Age=" + test.maxAge}
		first, _ := cookies.Jars{}.Take("", u, set, noon)
		second, _ := first.Take("", u, set, noon.Add(test.later))
		if same := first.String() == second.String(); same != test.same {
			t.Errorf("Max-Age=%s set %v later: the same %v, want %v", test.maxAge, test.later, same, test.same)
		}
	}
}
