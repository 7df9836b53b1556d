package extract_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
)

const docsPath = "../../docs/selectors.md"

// blocks returns the code blocks of docs/selectors.md in a language.
func blocks(t testing.TB, language string) []string {
	t.Helper()
	text, err := os.ReadFile(docsPath)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, part := range strings.Split(string(text), "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```\n")
		found = append(found, block)
	}
	if len(found) == 0 {
		t.Fatalf("%s has no example in %s", docsPath, language)
	}
	return found
}

// A line of an example is "language  expression  -> values", where a " | " leads
// to a selector on what was found.
func TestExamplesOfTheDocs(t *testing.T) {
	page, data := blocks(t, "html")[0], blocks(t, "json")[0]
	count := 0
	for _, line := range strings.Split(strings.Join(blocks(t, "text"), "\n"), "\n") {
		count++
		t.Run(line, func(t *testing.T) {
			question, answer, found := strings.Cut(line, "  -> ")
			if !found {
				t.Fatal("no values follow")
			}
			var want []string
			if err := json.Unmarshal([]byte(answer), &want); err != nil {
				t.Fatal(err)
			}
			body, kind := page, "text/html"
			if strings.HasPrefix(question, "j") {
				body, kind = data, "application/json"
			}
			got, err := ask(extract.NewDocument([]byte(body), kind, "http://example.com/"), question)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("(-want +got)\n%s%v", diff, err)
			}
		})
	}
	if count < 40 {
		t.Errorf("%d examples only", count)
	}
}

func ask(d *extract.Document, question string) ([]string, error) {
	var found extract.Selection
	for i, part := range strings.Split(question, " | ") {
		language, expression, _ := strings.Cut(part, "  ")
		if language == "re" {
			return found.Re(expression), d.TakeErr()
		}
		compile := map[string]func(string) (*extract.Query, error){
			"css": extract.CompileCSS, "xpath": extract.CompileXPath,
			"jmespath": extract.CompileJMESPath, "jsonpath": extract.CompileJSONPath,
		}[language]
		if compile == nil {
			return nil, fmt.Errorf("unknown language %q", language)
		}
		q, err := compile(expression)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			found = d.Select(q)
		} else {
			found = found.Select(q)
		}
	}
	return found.All(), found.Err()
}

// The Go examples of the docs stand in this file, where they are compiled and
// run.
func TestGoOfTheDocsIsRun(t *testing.T) {
	source, err := os.ReadFile("docs_test.go")
	if err != nil {
		t.Fatal(err)
	}
	plain := unindented(string(source))
	for _, block := range blocks(t, "go") {
		for _, part := range strings.Split(unindented(block), "\n\n") {
			if !strings.Contains(plain, "\n"+part+"\n") {
				t.Errorf("this is not run as it stands there:\n%s", part)
			}
		}
	}
}

func unindented(code string) string { return strings.ReplaceAll(code, "\t", "") }

func docsPage(t testing.TB, language, kind string) *spider.Page {
	resp := &crawl.Response{URL: "http://example.com/", Status: 200, Body: []byte(blocks(t, language)[0]),
		Headers: map[string][]string{"Content-Type": {kind}}, Request: &crawl.Request{}}
	return spider.NewPage(resp, &spider.Spider{}, crawl.Job{}, nil)
}

var name = extract.MustXPath("//h1/text()")

func parse(page *spider.Page) string { return page.Select(name).Get() }

func firstExample(page *spider.Page) (_ string, _, _ []string) {
	title := page.CSS("h1::text").Get()
	prices := page.XPath("//span[@class='price']/text()").All()
	ids := page.JMESPath("products[?in_stock].id").All()
	return title, prices, ids
}

func TestGoOfTheDocs(t *testing.T) {
	page := docsPage(t, "html", "text/html")
	title, prices, _ := firstExample(page)
	link := page.XPathWith("//a[.=$name]/@href", map[string]any{"name": `Blue lamp`}).Get()
	if title != "Lamps" || len(prices) != 2 || link != "/p/2" || parse(page) != "Lamps" {
		t.Errorf("got %q, %q, %q, %q", title, prices, link, parse(page))
	}
	var out strings.Builder
	fmt := printer{&out}
	for row := range page.CSS("li.item").Each() {
		name := row.CSS("a::text").Get()
		price := row.XPath("./span/text()").ReFirst(`[\d.]+`)
		fmt.Println(name, price, row.CSS("a").Attrs()["href"])
	}
	if want := "Red lamp 12.00 /p/1\nBlue lamp 1 /p/2\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	page = docsPage(t, "json", "application/json")
	_, _, ids := firstExample(page)
	if diff := cmp.Diff([]string{"7"}, ids); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A printer prints as package fmt does, where a test can see it.
type printer struct{ to *strings.Builder }

func (p printer) Println(values ...any) { fmt.Fprintln(p.to, values...) }
