package cookies_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/cookies"
)

func TestADomainKeepsFiftyCookies(t *testing.T) {
	u := parseURL(t, "http://www.example.com/")
	j := take(t, cookies.Jars{}, "http://www.example.com/", "other=1; Domain=example.com")
	evicted := 0
	for n := range 60 {
		var report cookies.Report
		j, report = j.Take("", u, []string{fmt.Sprintf("c%d=1; Path=/%d", n, n%3)}, noon)
		evicted += report.Evicted
	}
	text := reread(t, j).String()
	if evicted != 10 || strings.Contains(text, " c9=") || !strings.Contains(text, " c10=") {
		t.Errorf("%d cookies went, want the first ten: %s", evicted, text)
	}
	if !strings.Contains(text, "other=1") {
		t.Error("the cookie of another domain is gone")
	}
	other, _ := j.Take("second", u, []string{"a=1"}, noon)
	if got := strings.Count(other.String(), ";"); got != 52 {
		t.Errorf("%d cookies are there: jars are counted together", got)
	}
}

func TestJarsHaveEightKilobytes(t *testing.T) {
	kilobyte := strings.Repeat("x", 1000)
	var j cookies.Jars
	set := func(url, line string) cookies.Report {
		t.Helper()
		var report cookies.Report
		j, report = j.Take("", parseURL(t, url), []string{line}, noon)
		if n := len(reread(t, j).String()); n > cookies.MaxBytes {
			t.Fatalf("%d bytes", n)
		}
		return report
	}
	expect := func(evicted int, report cookies.Report, names string) {
		t.Helper()
		var have []string
		for _, name := range strings.Fields("session far1 far2 far3 near1 near2 near3 near4 near5") {
			if strings.Contains(j.String(), " "+name+"=") {
				have = append(have, name)
			}
		}
		if got := strings.Join(have, " "); got != names || report.Evicted != evicted {
			t.Errorf("%d went and these are there: %s; want %d and %s", report.Evicted, got, evicted, names)
		}
	}
	set("http://www.example.com/", "session="+kilobyte)
	set("http://ads.example.org/", "far1="+kilobyte)
	set("http://ads.example.net/", "far2="+kilobyte+"; Max-Age=10")
	set("http://ads.example.org/", "far3="+kilobyte)
	for n := range 4 {
		set("http://shop.example.com/", fmt.Sprintf("near%d=%s", n+1, kilobyte))
	}
	// Eight are there, and no room for one more: what is of another site goes,
	// the oldest first.
	expect(1, set("http://example.com/", "near5="+kilobyte), "session far2 far3 near1 near2 near3 near4 near5")
	expect(3, set("http://example.com/", "big="+strings.Repeat("x", 3000)), "near1 near2 near3 near4 near5")
	// Then the oldest.
	expect(3, set("http://example.com/", "huge="+strings.Repeat("x", 3000)), "near4 near5")
}

func TestExpiredCookiesMakeRoomFirst(t *testing.T) {
	kilobyte := strings.Repeat("x", 1000)
	u := parseURL(t, "http://example.com/")
	var lines []string
	for n := range 8 {
		lines = append(lines, fmt.Sprintf("c%d=%s", n, kilobyte))
	}
	lines[5] += "; Max-Age=10"
	j := take(t, cookies.Jars{}, "http://example.com/", lines...)
	j, report := j.Take("", u, []string{"new=" + kilobyte}, noon.Add(10e9))
	if report.Evicted != 0 || strings.Contains(j.String(), "c5=") || !strings.Contains(j.String(), "c0=") || !strings.Contains(j.String(), "new=") {
		t.Errorf("%d went", report.Evicted)
	}
}

func TestACookieThatIsTooMuchForAllIsRefused(t *testing.T) {
	before := take(t, cookies.Jars{}, "http://example.com/", "a=1")
	// Bytes that are no UTF-8 take twice the room.
	j, report := before.Take("", parseURL(t, "http://example.com/"), []string{"b=" + strings.Repeat("\xff", 4095)}, noon)
	if j.String() != before.String() || len(report.Refused) != 1 || report.Evicted != 0 {
		t.Errorf("refused: %v; the string has %d bytes", report.Refused, len(j.String()))
	}
	j, report = before.Take(strings.Repeat("name", 2100), parseURL(t, "http://example.com/"), []string{"a=1"}, noon)
	if j.String() != before.String() || len(report.Refused) != 1 {
		t.Errorf("a jar whose name is too long: refused: %v", report.Refused)
	}
}

func BenchmarkJars(b *testing.B) {
	u := parseURL(b, "https://www.example.com/products/1")
	for _, n := range []int{5, 20} {
		lines := everyday()[:n]
		text := take(b, cookies.Jars{}, "https://www.example.com/", lines...).String()
		b.Run(fmt.Sprintf("parse+header/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				j, err := cookies.Parse(text)
				if err != nil || j.Header("", u, noon) == "" {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("parse+header+take/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				j, err := cookies.Parse(text)
				if err != nil || j.Header("", u, noon) == "" {
					b.Fatal(err)
				}
				j, _ = j.Take("", u, lines[:3], noon)
				if j.String() == "" {
					b.Fatal("nothing")
				}
			}
		})
	}
}

// A header of 256 KiB has some 2,000 cookies, each of a place of its own.
func TestAHeaderFullOfCookiesDoesNotCostTheSquare(t *testing.T) {
	const host = "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.example.com"
	u := parseURL(t, "http://"+host+"/")
	var lines []string
	for n := range 2000 {
		domain := host[2*(n/50):]
		lines = append(lines, fmt.Sprintf("=%d;Path=/%d;Domain=%s", n%50, n, domain))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	kept, report := cookies.Jars{}.Take("", u, lines, noon)
	runtime.ReadMemStats(&after)
	if len(report.Set) != 2000 || report.Evicted < 1500 || report.Evicted == 2000 {
		t.Errorf("%d set, %d evicted, want those evicted that have no room", len(report.Set), report.Evicted)
	}
	if n := len(kept.String()); n > cookies.MaxBytes || n < cookies.MaxBytes-2*len(host) {
		t.Errorf("the string has %d bytes, want it as full as it may be", n)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("it took %d bytes of memory", n)
	}
}
