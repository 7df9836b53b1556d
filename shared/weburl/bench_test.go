package weburl_test

import (
	"testing"

	"github.com/skitterhq/skitter/shared/weburl"
)

// benchmarkRefs are links as an ordinary page has them.
var benchmarkRefs = []string{
	"/p/12", "/shelf/fiction?page=3", "../catalogue/a-light-in-the-attic_1000/index.html", "page-2.html",
	"http://www.example.com/books/12", "https://cdn.example.org/static/site.css?v=20",
}

func benchmarkBase(b *testing.B) weburl.URL {
	base, err := weburl.Parse("http://www.example.com/books/shelf/index.html")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	return base
}

// BenchmarkLink is all that one link of a page costs: resolving, canonical form
// and fingerprint.
func BenchmarkLink(b *testing.B) {
	base := benchmarkBase(b)
	for i := range b.N {
		u, err := base.Resolve(benchmarkRefs[i%len(benchmarkRefs)])
		if err != nil {
			b.Fatal(err)
		}
		weburl.RequestFingerprint("GET", u, nil, nil)
	}
}

func BenchmarkResolve(b *testing.B) {
	base := benchmarkBase(b)
	for i := range b.N {
		if _, err := base.Resolve(benchmarkRefs[i%len(benchmarkRefs)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkResolveStandard is BenchmarkResolve by the library alone.
func BenchmarkResolveStandard(b *testing.B) {
	base := benchmarkBase(b)
	for i := range b.N {
		if _, err := weburl.Standard(&base, benchmarkRefs[i%len(benchmarkRefs)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCanonicalSorted(b *testing.B)   { benchmarkCanonical(b, "/p?id=12&page=3") }
func BenchmarkCanonicalUnsorted(b *testing.B) { benchmarkCanonical(b, "/p%7e?page=3&id=12&q=a+b") }

func benchmarkCanonical(b *testing.B, ref string) {
	base := benchmarkBase(b)
	u, err := base.Resolve(ref)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		weburl.Canonical(u)
	}
}
