package robots_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/robots"
)

// matchSlowly decides as the RFC says it, trying every length of every star.
func matchSlowly(pattern, path string) bool {
	switch {
	case pattern == "":
		return true // a rule is a prefix
	case pattern == "$":
		return path == ""
	case pattern[0] == '*':
		for i := range len(path) + 1 {
			if matchSlowly(pattern[1:], path[i:]) {
				return true
			}
		}
		return false
	}
	return path != "" && pattern[0] == path[0] && matchSlowly(pattern[1:], path[1:])
}

// FuzzPattern compares matching with a definition of it.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"/a*b$ /acb", "*a*a$ /aa", "/*$ /", "$ ", "/a$b /a$b", "**a /ba", "/ab*b$ /ab"} {
		pattern, path, _ := strings.Cut(s, " ")
		f.Add(pattern, path)
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		// Escapes are another matter, and the definition's time is exponential.
		if strings.Count(pattern, "*") > 5 || len(path) > 20 || robots.Normalize(pattern) != pattern || robots.Normalize(path) != path {
			return
		}
		if got, want := robots.Match(t, pattern, path), matchSlowly(pattern, path); got != want {
			t.Errorf("%q matches %q: %v, want %v", pattern, path, got, want)
		}
	})
}

// FuzzParse looks for a panic and for a decision that cannot be.
func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /%61\nCrawl-delay: 1\nSitemap: x\n"), "mybot/1", "http://example.com/a?b")
	f.Add([]byte("\xef\xbb\xbfuser-agent a\rdisallow /\r\n"), "Mozilla/5.0 (compatible; a)", "//h/%2")
	for _, body := range []string{
		"User-agent: *\nDisallow: /*s=\n", "Allow: /*/filter/page=*/$\nDisallow: /", "User-agent: *\nDisallow: /*q=*relevance*\nDisallow: /a%2Fb\nDisallow: /caf%C3%A9",
		"User-agent: *\nDisallow: /file-%2A.html\nDisallow: /foo-%24\n", "User-agent: bot\nDisallow: /\n\nUser-agent: *\nDisallow: /p\n",
		"# caf\xe9\nUser-agent: *\nDisallow: /p\n", "User-agent: *\nDisallow: /foo\nAllow: /foo\n", "User-agent: *\nCrawl-delay: 0.5\nCrawl-delay: 86400\nCrawl-delay: -3",
	} {
		f.Add([]byte(body), "mybot", "http://example.com/a/filter/page=1/?q=foo-$&x=%2A")
	}
	f.Fuzz(func(t *testing.T, body []byte, agent, url string) {
		rules := robots.Parse(body)
		if again := robots.Parse(body); again.Allowed(agent, url) != rules.Allowed(agent, url) || !slices.Equal(again.Sitemaps(), rules.Sitemaps()) {
			t.Error("the file is read otherwise the second time")
		}
		// A byte order mark, comments and the way that lines end mean nothing.
		for _, same := range [][]byte{
			append([]byte("\xef\xbb\xbf"), bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))...),
			append([]byte("# a comment\n"), bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))...),
			bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n")),
		} {
			if len(body) < 100<<10 && robots.Parse(same).Allowed(agent, url) != rules.Allowed(agent, url) {
				t.Errorf("%q is decided otherwise by %q", url, same)
			}
		}
		if n := len(rules.Sitemaps()); n > bytes.Count(bytes.ToLower(body), []byte("map")) {
			t.Errorf("%d sitemaps of a file of %d bytes", n, len(body))
		}
		if rules.Allowed(agent, url) != rules.Allowed(strings.ToUpper(agent), url) && isASCII(agent) {
			t.Errorf("the case of %q matters", agent)
		}
		if !rules.Allowed(agent, "/robots.txt") {
			t.Error("/robots.txt is not allowed")
		}
		if delay, ok := rules.CrawlDelay(agent); delay < 0 || delay > 366*24*time.Hour || !ok && delay != 0 {
			t.Errorf("crawl delay %v, %v", delay, ok)
		}
		if once := robots.Normalize(url); robots.Normalize(once) != once && !strings.Contains(url, "%") {
			t.Errorf("%q is normalized to %q, and that to %q", url, once, robots.Normalize(once))
		}
	})
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] > 127 {
			return false
		}
	}
	return true
}

// A file may try to hold its reader up. The time is that of a slow machine
// under load; a matcher that goes back and tries again would need years.
func TestHostileFilesAreReadQuickly(t *testing.T) {
	const limit = 3 * time.Second
	path := "/" + strings.Repeat("a", 5<<10) + "b"
	tests := []struct{ name, file string }{
		{"one pattern of 500 stars", "User-agent: *\nDisallow: /" + strings.Repeat("*a", 500) + "*c\n"},
		{"a thousand such patterns", "User-agent: *\n" + strings.Repeat("Disallow: /"+strings.Repeat("*a", 240)+"c\n", 1000)},
		{"an anchored pattern of stars", "User-agent: *\nDisallow: /" + strings.Repeat("*a", 500) + "$\n"},
		{"only stars", "User-agent: *\nDisallow: " + strings.Repeat("*", 500<<10) + "\n"},
		{"agents without end, then rules without end", strings.Repeat("User-agent: a\nUser-agent: *\n", 9<<10) + strings.Repeat("Allow: /b\n", 25<<10)},
		{"agents and delays in turn", strings.Repeat("User-agent: a\nCrawl-delay: x\nCrawl-delay: 1\n", 10<<10)},
		{"groups without end", strings.Repeat("User-agent: *\nAllow: /b\n", 20<<10)},
		{"no line ends", strings.Repeat("x", 10<<20)},
		{"only line ends", strings.Repeat("\r\n", 250<<10)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			start := time.Now()
			rules := robots.Parse([]byte(test.file))
			parsed := time.Since(start)
			rules.Allowed("mybot", path)
			if took := time.Since(start); took > limit {
				t.Errorf("took %v, %v of it parsing", took, parsed)
			} else {
				t.Logf("took %v, %v of it parsing", took, parsed)
			}
		})
	}
}
