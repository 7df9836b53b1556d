package cookies_test

import (
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/cookies"
	"github.com/skitterhq/skitter/shared/weburl"
)

// noon is a time to stand still at.
var noon = time.Date(2026, 10, 21, 12, 0, 0, 0, time.UTC)

func parseURL(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// take gives the default jar the lines of a response at noon. The result has
// gone through its string.
func take(t testing.TB, j cookies.Jars, url string, lines ...string) cookies.Jars {
	t.Helper()
	j, _ = j.Take("", parseURL(t, url), lines, noon)
	return reread(t, j)
}

// reread is what another process makes of the jars.
func reread(t testing.TB, j cookies.Jars) cookies.Jars {
	t.Helper()
	text := j.String()
	again, err := cookies.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.String(); got != text {
		t.Fatalf("the string %q is read as %q", text, got)
	}
	return again
}

// header is what the default jar sends at noon.
func header(t testing.TB, j cookies.Jars, url string) string {
	t.Helper()
	return j.Header("", parseURL(t, url), noon)
}
