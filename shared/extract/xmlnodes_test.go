package extract_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/extract"
)

// nodes are the elements of a name as XML, and "error: …" for an error.
func nodes(body, tag string, namespaces map[string]string) []string {
	var all []string
	for node, err := range xmlDocument(body).XMLNodes(tag, namespaces) {
		if err != nil {
			return append(all, "error: "+err.Error())
		}
		all = append(all, node.Get())
	}
	return all
}

func TestXMLNodes(t *testing.T) {
	const cut = "error: the document ends within an element"
	tests := []struct {
		name, body, tag string
		namespaces      map[string]string
		want            []string
	}{
		{"wherever they stand", "<a><item>1</item><b><item x='2'/></b></a><item>3</item>", "item", nil, []string{"<item>1</item>", `<item x="2"/>`, "<item>3</item>"}},
		{"the root", "<item>1</item>", "item", nil, []string{"<item>1</item>"}},
		{"one in another", "<a><item>1<item>2</item></item><item>3</item></a>", "item", nil, []string{"<item>1<item>2</item></item>", "<item>3</item>"}},
		{"prefixes as they are written", "<a><m:item>1</m:item><item>2</item></a>", "m:item", nil, []string{"<m:item>1</m:item>"}},
		{"no prefix", "<a xmlns='u'><m:item>1</m:item><item>2</item></a>", "item", nil, []string{"<item>2</item>"}},
		{"namespaces", "<a xmlns='u' xmlns:m='v'><item m:x='1' y='2'/><m:item/><b xmlns='v'><item/></b><item/></a>", "n:item", map[string]string{"n": "u", "o": "v"}, []string{`<n:item o:x="1" y="2"/>`, "<n:item/>"}},
		{"end tags that are missing", "<a><b><item>1</b><item>2</item></a>", "item", nil, []string{"<item>1</item>", "<item>2</item>"}},
		{"end tags that are wrong", "<a></b><item>1</c></item></x></a><item>2</item>", "item", nil, []string{"<item>1</item>", "<item>2</item>"}},
		{"cut off", "<a><item>1</item><item>2<b>", "item", nil, []string{"<item>1</item>", cut}},
		{"cut off between them", "<a><item>1</item><it", "item", nil, []string{"<item>1</item>"}},
		{"none", "<a/>", "item", nil, nil},
		{"far down", strings.Repeat("<a>", 2000) + "<item/>" + strings.Repeat("</a>", 2000) + "<item>2</item>", "item", nil, []string{"<item/>", "<item>2</item>"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, nodes(test.body, test.tag, test.namespaces)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestXMLNodesAreDocuments(t *testing.T) {
	doc := extract.NewDocument([]byte("<?xml version='1.0' encoding='windows-1251'?><a><item><t>\xcf\xf0</t><l>x</l></item><item><t>2</t></item></a>"), "", "http://example.com/d/feed.xml")
	var got []string
	for node, err := range doc.XMLNodes("item", nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, node.CSS("t::text").Get()+node.XPath("l/text()").Get()+node.CSS("li[").Get())
	}
	if diff := cmp.Diff([]string{"Прx", "2"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := doc.TakeErr(); err == nil || strings.Count(err.Error(), "li[") != 1 {
		t.Errorf("a selector that is wrong: %v", err)
	}
}

func TestXMLNodesAreReadInBoundedMemory(t *testing.T) {
	const n = 20_000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<item><id>%d</id><text>%s</text></item>", i, strings.Repeat("x", 200))
	}
	doc := xmlDocument("<feed>" + b.String() + "</feed>")
	doc.UTF8()
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	count := 0
	for node, err := range doc.XMLNodes("item", nil) {
		if err != nil || node.CSS("id::text").Get() != fmt.Sprint(count) {
			t.Fatalf("%d: %q, %v", count, node.Get(), err)
		}
		if count++; count%5000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			if held := int64(now.HeapAlloc) - int64(before.HeapAlloc); held > 2<<20 {
				t.Errorf("after %d: %d bytes are held", count, held)
			}
		}
	}
	if count != n {
		t.Errorf("%d elements", count)
	}
}

func TestAnElementWithoutEndEnds(t *testing.T) {
	got := 0
	for _, err := range xmlDocument("<item>"+strings.Repeat("<a>", 1_100_000)).XMLNodes("item", nil) {
		if err == nil || errors.Is(err, extract.ErrCutOff) {
			t.Errorf("got %v", err)
		}
		got++
	}
	if got != 1 {
		t.Errorf("%d elements", got)
	}
}

func TestForeignEndTagsRoundXMLNodesTakeLinearTime(t *testing.T) {
	read := func(open int) time.Duration {
		least := time.Hour
		for range 3 {
			doc := xmlDocument("<r>" + strings.Repeat("<a>", open) + strings.Repeat("</b>", 100_000) + "<item>x</item>")
			begin, found := time.Now(), 0
			for range doc.XMLNodes("item", nil) {
				found++
			}
			least = min(least, time.Since(begin))
			if found != 1 {
				t.Fatalf("%d items", found)
			}
		}
		return least
	}
	few, many := read(1), read(999)
	if many > 8*max(few, time.Millisecond) {
		t.Errorf("among 999 open elements it takes %v in place of %v", many, few)
	}
}
