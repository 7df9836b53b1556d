package robots_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/robots"
)

func TestAllowed(t *testing.T) {
	const groups = `
		Disallow: /nobody
		User-agent: MyBot
		User-agent: OtherBot/2.0 beta
		Crawl-delay: 5
		Sitemap: /s.xml
		Disallow: /private
		Nonsense

		User-agent: *
		Disallow: /

		user-agent: mybot   # again
		disallow: /more
		User-agent: Idle`
	tests := []struct {
		name, file, agent, url string
		want                   bool
	}{
		{"an empty file allows", "", "mybot", "/x", true},
		{"HTML allows", "<!doctype html>\n<html><p>User-agent</p><p>Disallow /</p></html>", "mybot", "/x", true},
		{"a rule before the first group is for nobody", groups, "mybot", "/nobody", true},
		{"a group names several agents", groups, "otherbot", "/private", false},
		{"other lines do not end a group", groups, "mybot", "/private", false},
		{"the groups of one agent are combined", groups, "MYBOT", "/more/x", false},
		{"but not with those of others", groups, "otherbot", "/more", true},
		{"an agent with a group does not obey the star", groups, "mybot", "/x", true},
		{"an agent without one does", groups, "stranger", "/x", false},
		{"a group without rules allows", groups, "idle", "/x", true},
		{"a token is not a substring", "User-agent: bot\nDisallow: /\n", "mybot", "/x", true},
		{"a token is not a prefix", "User-agent: my\nDisallow: /\n", "mybot", "/x", true},
		{"digits belong to a token", "User-agent: bot2\nDisallow: /\n", "bot", "/x", true},
		{"of a header the token counts", "User-agent: mybot\nDisallow: /\n", "Mozilla/5.0 (compatible; MyBot/2.1)", "/x", false},
		{"a star may be followed by words", "User-agent: * all\nDisallow: /\n", "mybot", "/x", false},
		{"an empty line of User-agent names nobody", "User-agent:\nDisallow: /\n", "mybot", "/x", true},
		{"an empty Disallow forbids nothing", "User-agent: *\nDisallow:\n", "mybot", "/x", true},
		{"an empty Disallow ends the names", "User-agent: mybot\nDisallow:\nUser-agent: *\nDisallow: /\n", "mybot", "/x", true},
		{"/robots.txt is always allowed", "User-agent: *\nDisallow: /\n", "mybot", "http://example.com/robots.txt", true},
		{"its query is not", "User-agent: *\nDisallow: /\n", "mybot", "http://example.com/robots.txt?x", false},
		{"the longer rule wins", "User-agent: *\nDisallow: /a\nAllow: /a/b\n", "mybot", "/a/b/c", true},
		{"in any order", "User-agent: *\nAllow: /a/b\nDisallow: /a\n", "mybot", "/a/c", false},
		{"in any group", "User-agent: *\nDisallow: /a/b\nUser-agent: *\nAllow: /a\n", "mybot", "/a/b", false},
		{"in any group, allow", "User-agent: *\nDisallow: /a\nUser-agent: *\nAllow: /a/b\n", "mybot", "/a/b", true},
		{"allow wins a tie", "User-agent: *\nDisallow: /foo\nAllow: /foo\n", "mybot", "/foo", true},
		{"allow wins a tie of groups", "User-agent: *\nDisallow: /foo\nUser-agent: *\nAllow: /foo\n", "mybot", "/foo", true},
		{"a star counts as an octet", "User-agent: *\nAllow: /page\nDisallow: /*.htm\n", "mybot", "/page.htm", false},
		{"an escape counts as what it is", "User-agent: *\nAllow: /%61b\nDisallow: /ab*\n", "mybot", "/ab", false},
		{"case matters in a path", "User-agent: *\nDisallow: /A\n", "mybot", "/a", true},
		{"a colon may be missing", "User-agent *\nDisallow /a\n", "mybot", "/a", false},
		{"but not between more words", "User-agent: *\nDisallow /a /b\n", "mybot", "/a", true},
		{"a misspelling is taken", "Useragent: *\nDissallow: /a\n", "mybot", "/a", false},
		{"a comment is cut", "User-agent: * # all\nDisallow: /a# not b\n", "mybot", "/a", false},
		{"a carriage return ends a line", "User-agent: *\rDisallow: /a\r\rAllow: /b", "mybot", "/a", false},
		{"a BOM is skipped", "\xef\xbb\xbfUser-agent: *\nDisallow: /\n", "mybot", "/x", false},
		{"bytes that are no UTF-8 are skipped", "# caf\xe9\nUser-agent: *\nDisallow: /p\n", "mybot", "/p", false},
		{"the index page stands for its folder", "User-agent: *\nDisallow: /\nAllow: /dir/index.html\n", "mybot", "/dir/", true},
		{"and for no file in it", "User-agent: *\nDisallow: /\nAllow: /dir/index.html\n", "mybot", "/dir/x", false},
		{"a pattern that starts with neither slash nor star matches nothing", "User-agent: *\nDisallow: a\n", "mybot", "/a", true},
		{"a fragment is not looked at", "User-agent: *\nDisallow: /*x\n", "mybot", "/a#x", true},
		{"a query is", "User-agent: *\nDisallow: /*x\n", "mybot", "http://example.com?x", false},
		{"a host is not", "User-agent: *\nDisallow: /*x\n", "mybot", "http://x:81/a", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := robots.Parse([]byte(test.file)).Allowed(test.agent, test.url); got != test.want {
				t.Errorf("Allowed(%q, %q) = %v, want %v", test.agent, test.url, got, test.want)
			}
		})
	}
}

func TestPattern(t *testing.T) {
	tests := []struct {
		pattern, url string
		want         bool
	}{
		{"/fish", "/fish", true},
		{"/fish", "/fishheads", true},
		{"/fish", "/catfish", false},
		{"/fish$", "/fish", true},
		{"/fish$", "/fish/", false},
		{"/fish$", "/fish?x", false},
		{"/*", "/", true},
		{"*", "/x", true},
		{"*.php", "/a.php5", true},
		{"/*.php$", "/a.php", true},
		{"/*.php$", "/a.php/b.php", true},
		{"/*.php$", "/a.php5", false},
		{"/*.php*$", "/a.php5", true},
		{"/a**b", "/axxb", true},
		{"/a*b*c", "/a-b-b-c", true},
		{"/a*b*c$", "/abcbc", true},
		{"/a*b*c$", "/acb", false},
		{"/ab*b$", "/ab", false},
		{"/a*a$", "/aa", true},
		{"/*/filter/page=*/$", "/1/filter/page=5/", true},
		{"/$", "/", true},
		{"/$", "/a", false},
		{"$", "/", false},
		{"/a$b", "/a$b", true},
		{"/a%2Fb", "/a/b", false},
		{"/a%2Fb", "/a%2fb", true},
		{"/caf%C3%A9", "/café", true},
		{"/café", "/caf%c3%a9", true},
		{"/%7euser", "/~user", true},
		{"/a b", "/a%20b", true},
		{"/file-%2A.html", "/file-*.html", true},
		{"/file-%2A.html", "/file-x.html", false},
		{"/foo-%24", "/foo-$", true},
		{"/foo-%24", "/foo-", false},
		{"/100%", "/100%", true},
		{"/100%25", "/100%", false},
		{"/%4", "/%4x", true},
	}
	for _, test := range tests {
		t.Run(test.pattern+" on "+test.url, func(t *testing.T) {
			rules := robots.Parse(fmt.Appendf(nil, "User-agent: *\nDisallow: %s\n", test.pattern))
			if got := !rules.Allowed("mybot", test.url); got != test.want {
				t.Errorf("%s matches %s: %v, want %v", test.pattern, test.url, got, test.want)
			}
		})
	}
}

func TestProductToken(t *testing.T) {
	tests := []struct{ name, agent, want string }{
		{"a token", "MyBot", "MyBot"},
		{"a product", "My-Bot_2/1.0", "My-Bot_2"},
		{"a product and a comment", "Scrapy/2.18.0 (+https://scrapy.org)", "Scrapy"},
		{"a token and a comment", "MyBot (+https://example.com)", "MyBot"},
		{"a crawler among browsers", "Mozilla/5.0 (compatible; MyBot/2.1; +http://example.com/bot.html)", "MyBot"},
		{"a crawler in the middle", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; MyBot/2.1; +http://a.example/) Chrome/120.0 Safari/537.36", "MyBot"},
		{"in any case", "mozilla/5.0 (Compatible; mybot)", "mybot"},
		{"a crawler at the end", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) MyBot/2.1", "MyBot"},
		{"a browser", "Mozilla/5.0 (X11; rv:120.0 a/b) Gecko/20100101 Firefox/120.0", "Firefox"},
		{"a comment at the end", "Mozilla/5.0 MyBot/2.1 (Linux/6 x/1 (y/2) z/3)", "MyBot"},
		{"no more than Mozilla", "Mozilla/5.0", "Mozilla"},
		{"two words are no token", "My Bot", ""},
		{"a token ends at another character", "Foobot*", ""},
		{"no token", "(+https://example.com)", ""},
		{"nothing", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := robots.ProductToken(test.agent); got != test.want {
				t.Errorf("ProductToken(%q) = %q, want %q", test.agent, got, test.want)
			}
		})
	}
}

func TestCrawlDelay(t *testing.T) {
	tests := []struct {
		name, file string
		want       time.Duration
		ok         bool
	}{
		{"none", "User-agent: *\nDisallow: /\n", 0, false},
		{"whole seconds", "User-agent: *\nCrawl-delay: 301\n", 301 * time.Second, true},
		{"parts of a second", "User-agent: *\nCrawl-delay: 0.5\n", 500 * time.Millisecond, true},
		{"nought", "User-agent: *\nCrawl-delay: 0\n", 0, true},
		{"too long for a Duration", "User-agent: *\nCrawl-delay: 99999999999999999999\n", 365 * 24 * time.Hour, true},
		{"too long for a float", "User-agent: *\nCrawl-delay: " + strings.Repeat("9", 400) + "\n", 365 * 24 * time.Hour, true},
		{"no number", "User-agent: *\nCrawl-delay: abc\n", 0, false},
		{"no finite number", "User-agent: *\nCrawl-delay: Inf\n", 0, false},
		{"negative", "User-agent: *\nCrawl-delay: -3\n", 0, false},
		{"empty", "User-agent: *\nCrawl-delay:\n", 0, false},
		{"two points", "User-agent: *\nCrawl-delay: 1.2.3\n", 0, false},
		{"the first counts", "User-agent: *\nCrawl-delay: x\nCrawl-delay: 1\nCrawl-delay: 2\n", time.Second, true},
		{"the first of two groups counts", "User-agent: mybot\nCrawl-delay: 1\nDisallow:\nUser-agent: mybot\nCrawl-delay: 2\n", time.Second, true},
		{"before a group", "Crawl-delay: 1\nUser-agent: *\n", 0, false},
		{"another agent's", "User-agent: otherbot\nCrawl-delay: 1\n", 0, false},
		{"another agent's after one's own", "User-agent: mybot\nDisallow: /\nUser-agent: otherbot\nCrawl-delay: 1\n", 0, false},
		{"one's own group has none", "User-agent: *\nCrawl-delay: 1\nDisallow: /\nUser-agent: mybot\nDisallow: /\n", 0, false},
		{"a group of several", "User-agent: mybot\nUser-agent: otherbot\nCrawl-delay: 1\n", time.Second, true},
		{"it is of those named before it", "User-agent: otherbot\nCrawl-delay: 1\nUser-agent: mybot\nCrawl-delay: 2\n", 2 * time.Second, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := robots.Parse([]byte(test.file)).CrawlDelay("mybot")
			if got != test.want || ok != test.ok {
				t.Errorf("CrawlDelay = %v, %v, want %v, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

func TestSitemaps(t *testing.T) {
	rules := robots.Parse([]byte("Sitemap: http://example.com/a.xml#x\nUser-agent: *\nsitemap:/b.xml\nSite-map: c\nSitemap:\n"))
	want := []string{"http://example.com/a.xml", "/b.xml", "c"}
	if diff := cmp.Diff(want, rules.Sitemaps()); diff != "" {
		t.Errorf("sitemaps (-want +got):\n%s", diff)
	}
	rules.Sitemaps()[0] = "changed"
	if diff := cmp.Diff(want, rules.Sitemaps()); diff != "" {
		t.Errorf("sitemaps after a caller wrote to them (-want +got):\n%s", diff)
	}
}

func TestOnlySoMuchIsRead(t *testing.T) {
	comment := strings.Repeat("# "+strings.Repeat("x", 1021)+"\n", 499) // 499 KiB and some
	comment = comment[:499<<10-1] + "\n"
	tests := []struct {
		name, file string
		want       bool
	}{
		{"a rule at the end of 500 KiB", comment + "User-agent: *\nDisallow: /p\n", false},
		{"a rule behind it", comment + "User-agent: *\n" + strings.Repeat("# xxxxx\n", 128) + "Disallow: /p\n", true},
		{"a rule across it", comment + "User-agent: *\n#" + strings.Repeat("x", 996) + "\nDisallow: /private\n", true},
		{"one line of more", "User-agent: *\nDisallow: /p/" + strings.Repeat("x", 600<<10), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := robots.Parse([]byte(test.file)).Allowed("mybot", "/p"); got != test.want {
				t.Errorf("a file of %d bytes allows /p: %v, want %v", len(test.file), got, test.want)
			}
		})
	}
}

func TestForStatus(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /private\n")
	tests := []struct {
		status                int
		availability          robots.Availability
		allowPath, allowOther bool
	}{
		{200, robots.Available, false, true},
		{204, robots.Available, false, true},
		{301, robots.Unavailable, true, true},
		{401, robots.Unavailable, true, true},
		{403, robots.Unavailable, true, true},
		{404, robots.Unavailable, true, true},
		{429, robots.Unreachable, false, false},
		{500, robots.Unreachable, false, false},
		{503, robots.Unreachable, false, false},
		{999, robots.Unreachable, false, false},
		{100, robots.Unreachable, false, false},
		{0, robots.Unreachable, false, false},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint("status ", test.status), func(t *testing.T) {
			rules, availability := robots.ForStatus(test.status, body)
			if availability != test.availability {
				t.Errorf("availability %v, want %v", availability, test.availability)
			}
			if got := rules.Allowed("mybot", "/private"); got != test.allowPath {
				t.Errorf("/private is allowed: %v, want %v", got, test.allowPath)
			}
			if got := rules.Allowed("mybot", "/"); got != test.allowOther {
				t.Errorf("/ is allowed: %v, want %v", got, test.allowOther)
			}
			if !rules.Allowed("mybot", "/robots.txt") {
				t.Error("/robots.txt is not allowed")
			}
		})
	}
}

func TestZeroRulesAllow(t *testing.T) {
	var rules robots.Rules
	if !rules.Allowed("mybot", "/x") || !robots.AllowAll().Allowed("mybot", "/x") {
		t.Error("/x is not allowed")
	}
	if _, ok := rules.CrawlDelay("mybot"); ok {
		t.Error("there is a crawl delay")
	}
}
