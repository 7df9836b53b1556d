package robots_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/robots"
)

// benchmarkFile is of the size and kind of a large shop's.
func benchmarkFile() []byte {
	var b strings.Builder
	for _, agent := range []string{"Googlebot", "bingbot", "*"} {
		fmt.Fprintf(&b, "User-agent: %s\n", agent)
		for i := range 40 {
			fmt.Fprintf(&b, "Disallow: /catalog/section-%d/\nDisallow: /*?*filter%d=\nAllow: /catalog/section-%d/page$\n", i, i, i)
		}
		b.WriteString("\n")
	}
	b.WriteString("Sitemap: https://example.com/sitemap.xml\n")
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	file := benchmarkFile()
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		robots.Parse(file)
	}
}

func BenchmarkAllowed(b *testing.B) {
	rules := robots.Parse(benchmarkFile())
	const agent = "Skitter/1.0 (+https://example.com/bot)"
	b.ReportAllocs()
	for b.Loop() {
		rules.Allowed(agent, "https://example.com/books/a-light-in-the-attic_1000/index.html?page=2")
	}
}
