package extract_test

import (
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/extract"
)

func differentAttributes(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, " a%d", i)
	}
	return b.String()
}

// repeated is a text of a size made of a part.
func repeated(part string, size int) string { return strings.Repeat(part, size/len(part)+1) }

// hostilePages are pages of about a size that make a parser slow or large.
func hostilePages(size int) map[string]string {
	nested := strings.Repeat("<div>", 600) + `<a href="/deep">deep</a>` + strings.Repeat("</div>", 600)
	var fonts, links strings.Builder
	for i := range 400 {
		fmt.Fprintf(&fonts, "<font size=%d>", i)
	}
	for i := 0; links.Len() < size; i++ {
		fmt.Fprintf(&links, `<a href="/%d">`, i)
	}
	const below = extract.DefaultParseMaxsize - 100
	return map[string]string{
		"unclosed elements":                repeated("<i>", size),
		"unclosed elements in paragraphs":  repeated("<p><i>", size),
		"the same below the limit of tags": strings.Repeat("<p><i>", 99_000),
		"formatting that is opened anew":   "<div>" + fonts.String() + strings.Repeat("</div><div>x", 90_000),
		"the same below the limit":         "<div>" + fonts.String() + strings.Repeat("</div><div>x", 500),
		"three before many blocks":         "<div>" + strings.Repeat("<font color=red>", 3) + strings.Repeat("</div><div>x", 80_000),
		"end tags that copy blocks":        repeated("<b><i><s><div><div><div><div><div><div><div>x</b></div></div></div></div></div></div></div>", 1<<20),
		"attributes":                       "<p" + repeated(" a", size) + ">",
		"different attributes":             "<p" + differentAttributes(size) + ">",
		"different ones below the limit":   "<p" + differentAttributes(below) + ">",
		"different ones below a megabyte":  "<p" + differentAttributes(1<<20-100) + ">",
		"attributes with values":           "<a" + repeated(` href="/a"`, size) + ">",
		"one attribute":                    `<img src="data:` + repeated("A", 2*size) + `">`,
		"one attribute that is not closed": `<img src="data:` + repeated("A", 2*size),
		"entities":                         repeated("&amp;&lt;&#65;", size),
		"entities in a link":               "<a href=/x>" + repeated("&nbsp;&bogus;", size) + "</a>",
		"deep nesting":                     repeated(nested, size),
		"deep nesting below the limit":     repeated(nested, 1<<20),
		"elements in elements":             repeated("<div>", size),
		"links to one page":                repeated(`<a href="/x">`, size),
		"links to many":                    links.String(),
		"links in links of other kinds":    repeated(`<area href="/x"><a href="/x"><b>`, size),
		"comments":                         repeated("<!-->", size),
		"one comment":                      "<!--" + repeated("<a href=/no>", size) + "-->",
		"tables":                           repeated("<table><tr><td>", size),
		"markup that is not closed":        repeated("<", size),
		"end tags below the limit":         repeated("</p>", below),
		"one text":                         repeated("word ", size),
		"a script":                         "<script>" + repeated("<a href=/no>", size),
	}
}

// readHostile does what a spider does with a page, and returns its last link.
func readHostile(body []byte) string {
	d := extract.NewDocument(body, "text/html; charset=utf-8", "http://example.com/")
	found := (&extract.LinkExtractor{}).Extract(d)
	d.CSS("p.x a::attr(href)").All()
	d.XPath("//p[@class='x']//a/@href").All()
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1].URL
}

// The test's pages have half the size of the benchmark's, as it runs with the
// race detector, too.
func TestHostilePagesAreBoundedInTimeAndMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("pages of 5 MiB")
	}
	for name, page := range hostilePages(5 << 20) {
		t.Run(name, func(t *testing.T) {
			body := []byte(page + `</script><a href="/last">`)
			var last string
			begun := time.Now()
			grown := heapGrowth(func() { last = readHostile(body) })
			took := time.Since(begun)
			t.Logf("%4d MB %v", (grown+len(body))>>20, took)
			if most := 200 << 20; grown+len(body) > most {
				t.Errorf("%d MB of memory, the page's own included", (grown+len(body))>>20)
			}
			if last != "http://example.com/last" && !strings.HasSuffix(name, "not closed") {
				t.Errorf("the last link is %q", last)
			}
			if took > 20*time.Second { // on a busy machine under the race detector
				t.Errorf("it takes %v", took)
			}
		})
	}
}

// BenchmarkHostile reads pages of 10 MiB, one attribute 20 MiB: links, a CSS
// selector and an XPath expression. "peak-MB" is the most that the heap grew
// to, the page's own included.
func BenchmarkHostile(b *testing.B) {
	pages := hostilePages(10 << 20)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		body := []byte(pages[name])
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			peak := 0
			for b.Loop() {
				peak = max(peak, heapGrowth(func() { readHostile(body) }))
			}
			b.ReportMetric(float64(peak+len(body))/1e6, "peak-MB")
		})
	}
}

// heapGrowth is by how many bytes the heap was larger at most while f ran.
func heapGrowth(f func()) int {
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	most := before
	done, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	f()
	close(done)
	<-finished
	return int(most - before)
}

func TestLargePagesGiveAllTheirLinks(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without the race detector does it")
	}
	var b strings.Builder
	b.WriteString(`<html><head><base href="/base/"></head><body><noscript><a href="n">no script</a></noscript>`)
	var want []extract.Link
	add := func(markup, url, text string) {
		b.WriteString(markup)
		want = append(want, extract.Link{URL: "http://example.com/base/" + url, Text: text})
	}
	want = append(want, extract.Link{URL: "http://example.com/base/n", Text: "no script"})
	b.WriteString(`<script>"<a href=no>"</script><!-- <a href="no2"> -->`)
	for i := range 3000 {
		add(fmt.Sprintf(`<p><a class=x href="l/%d?a=1&amp;b=2">Link <b>number</b><br>%d</a> text`, i, i), fmt.Sprintf("l/%d?a=1&b=2", i), fmt.Sprintf("Link number %d", i))
		b.WriteString(strings.Repeat("word ", 300))
	}
	add(`<a href="u">not closed`, "u", "not closed")
	add(`<a href="v" rel="x nofollow">next</a>`, "v", "next")
	want[len(want)-1].Nofollow = true
	b.WriteString(`<area href="area"><a href="mailto:x@y">m</a><a href="u#f">again</a><a href="` + strings.Repeat("x", 100_000) + `">too long</a>`)
	want = append(want, extract.Link{URL: "http://example.com/base/area"})
	page := []byte(b.String())
	var links extract.LinkExtractor

	d := extract.NewDocument(page, "text/html", "http://example.com/dir/page")
	if d.WasTokenized() || !d.Tokenized() {
		t.Fatalf("%d bytes are not read by the tokenizer", len(page))
	}
	if diff := cmp.Diff(want, links.Extract(d)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if n := d.TakeNotPages(); n != 2 {
		t.Errorf("%d are no pages, want the mail address and the long one", n)
	}
	if got := d.CSS("a.x::text").Get(); got != "Link " {
		t.Errorf("a selector finds %q", got)
	}
	if n := d.CSS("a.x").Len(); n < 2000 || n >= 3000 {
		t.Errorf("selectors find %d links, want those of the first 4 MiB", n)
	}

	parsed := extract.NewDocument(page, "text/html", "http://example.com/dir/page")
	parsed.LimitParse(0)
	if parsed.Tokenized() {
		t.Error("without a limit the page is not parsed")
	}
	all := links.Extract(parsed)
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("parsed (-want +got)\n%.2000s", diff)
	}
}

func TestWhatIsReadByTheTokenizer(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without the race detector does it")
	}
	for _, test := range []struct {
		name string
		body string
		kind string
		want bool
	}{
		{"a page", "<p>x", "text/html", false},
		{"4 MiB", strings.Repeat("x", 4<<20), "text/html", false},
		{"more", strings.Repeat("x", 4<<20+1), "text/html", true},
		{"200,000 tags", strings.Repeat("<p>", 200_000), "text/html", false},
		{"one more", strings.Repeat("<p>", 200_001), "text/html", true},
		{"no tags", strings.Repeat("< p>", 300_000), "text/html", false},
		{"end tags", strings.Repeat("</p>", 200_001), "text/html", true},
		{"closed formatting", strings.Repeat("<p><a href=x>a</a> <b>b</b></p>", 20_000), "text/html", false},
		{"links that are never closed", strings.Repeat("<p><a href=x>", 20_000), "text/html", false},
		{"formatting that is never closed", numbered(20_000, "<p><b class=%d>"), "text/html", true},
		{"attributes", "<p " + strings.Repeat("a ", 600_000) + ">", "text/html", true},
		{"XML", "<a>" + strings.Repeat("x", 4<<20), "text/xml", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := extract.NewDocument([]byte(test.body), test.kind, "").Tokenized(); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestMegabytesInAttributes(t *testing.T) { // PERF-02
	page := []byte(strings.Repeat(`<img src="data:image/png;base64,`+strings.Repeat("A", 1<<20)+`">`, 20) + `<a href="/x">x</a>`)
	var links extract.LinkExtractor
	var got []extract.Link
	grown := heapGrowth(func() {
		got = links.Extract(extract.NewDocument(page, "text/html", "http://example.com/"))
	})
	if len(got) != 1 || got[0].URL != "http://example.com/x" {
		t.Errorf("got %v", got)
	}
	if factor := float64(grown+len(page)) / float64(len(page)); factor > 3 {
		t.Errorf("the heap has %.1f times the page", factor)
	}
}
