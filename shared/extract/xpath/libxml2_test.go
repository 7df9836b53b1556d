package xpath_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/extract/xpath"
	"golang.org/x/net/html"
)

// Each line of testdata/libxml2.txt is an expression and what libxml2, by way
// of Scrapy's parsel, finds on testdata/page.html.
func TestExpressionsFindWhatLibxml2Finds(t *testing.T) {
	page, err := os.Open("testdata/page.html")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	root, err := html.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.Open("testdata/libxml2.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	count := 0
	for s := bufio.NewScanner(list); s.Scan(); count++ {
		expression, want, _ := strings.Cut(s.Text(), "\t")
		if got := show(root, expression); got != want {
			t.Errorf("%s\n  got  %s\n  want %s", expression, got, want)
		}
	}
	if count < 240 {
		t.Errorf("%d expressions only", count)
	}
}

// show evaluates an expression at the root element, as parsel does: elements as <name:text>, the other
// nodes as their text.
func show(root *html.Node, expression string) string {
	e, err := xpath.Compile(expression)
	if err != nil {
		return "ERR " + err.Error()
	}
	v, err := e.Evaluate(xpath.At(root.LastChild), xpath.Options{HTML: true})
	if err != nil {
		return "ERR " + err.Error()
	}
	switch v := v.(type) {
	case xpath.NodeSet:
		var shown []string
		for _, n := range v {
			text := n.Text()
			switch {
			case n.Attr() != nil, n.Tree.Type == html.TextNode:
			case n.Tree.Type == html.CommentNode:
				text = "<!:" + text + ">"
			default:
				text = "<" + n.Tree.Data + ":" + text + ">"
			}
			shown = append(shown, text)
		}
		return strings.Join(shown, "|")
	}
	return xpath.String(v)
}
