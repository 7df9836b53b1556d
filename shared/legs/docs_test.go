package legs_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/yamlspider"
)

const docs = "../../docs/legs.md"

// TestDocsHaveEveryOption holds the tables of docs/legs.md to the options' doc
// comments; with -update it writes them.
func TestDocsHaveEveryOption(t *testing.T) {
	page := readDocs(t)
	structs := docComments(t)
	want := page
	names := map[string]string{"Follow": "follow", "Only": "only"}
	for _, kind := range legs.Kinds() {
		names[reflect.TypeOf(kind.New()).Elem().Name()] = kind.Name
		if !strings.Contains(page, "\n### `"+kind.Name+"`") {
			t.Errorf("docs/legs.md has no section on %s", kind.Name)
		}
	}
	for typ, name := range names {
		want = withTable(t, want, name, structs.tables(typ))
	}
	var rules strings.Builder
	rules.WriteString("| rule | makes of a URL |\n| --- | --- |\n")
	for _, rule := range legs.CanonicalRules() {
		fmt.Fprintf(&rules, "| `%s` | %s |\n", rule.Name, strings.ReplaceAll(rule.Doc, "*", `\*`))
	}
	want = withTable(t, want, "canonical rules", rules.String())
	if want == page {
		return
	}
	if flag.Lookup("update").Value.String() != "true" {
		t.Fatal("the tables are not those of the doc comments; go test ./shared/legs -run Docs -update writes them")
	}
	if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readDocs(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// withTable puts a table between its marks.
func withTable(t *testing.T, page, name, table string) string {
	t.Helper()
	begin, end := "<!-- options of "+name+" -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Errorf("docs/legs.md has no place for the options of %s: write %q and %q", name, begin, end)
		return page
	}
	return before + begin + table + end + after
}

// structDocs are the structs of the package as they stand in the source.
type structDocs map[string]*ast.StructType

func docComments(t *testing.T) structDocs {
	t.Helper()
	found := make(structDocs)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					found[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	return found
}

// tables are the options of a struct, and of the structs that its lists have.
func (d structDocs) tables(typ string) string {
	var b strings.Builder
	b.WriteString("| in YAML | in Go | is | default |\n| --- | --- | --- | --- |\n")
	var inner []string
	for _, f := range d[typ].Fields.List {
		if len(f.Names) == 0 {
			switch shown(f.Type) {
			case "extract.LinkOptions":
				b.WriteString("| `allow`, `deny`, … | `LinkOptions` | the [options of link extractors](link-extractors.md#options) | |\n")
			case "Follow":
				b.WriteString("| `callback`, `priority`, … | `Follow` | [how the pages are asked for](#how-pages-are-asked-for) | |\n")
			}
			continue
		}
		yaml := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		yaml, _, _ = strings.Cut(yaml, ",")
		if yaml = "`" + yaml + "`"; yaml == "`-`" {
			yaml = ""
		}
		if shown(f.Type) == "Only" {
			fmt.Fprintf(&b, "| `only` | `Only` | [which pages are read](#which-pages-are-read) | all |\n")
			continue
		}
		text, missing := described(f.Doc.Text(), f.Names[0].Name)
		fmt.Fprintf(&b, "| %s | `%s %s` | %s | %s |\n", yaml, f.Names[0].Name, types.ExprString(f.Type), text, missing)
		element := strings.TrimPrefix(strings.Replace(shown(f.Type), "FieldList", "[]Field", 1), "[]")
		if d[element] != nil && element != typ && element != shown(f.Type) {
			inner = append(inner, "\nEach of "+yaml+" (`legs."+element+"`):\n\n"+d.tables(element))
		}
	}
	return b.String() + strings.Join(inner, "")
}

// shown is a type as it is written.
func shown(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.ArrayType:
		return "[]" + shown(e.Elt)
	case *ast.StarExpr:
		return "*" + shown(e.X)
	case *ast.SelectorExpr:
		return shown(e.X) + "." + e.Sel.Name
	}
	return ""
}

var brackets = regexp.MustCompile(`\[([A-Z]\w*)\]`)

// described takes a doc comment apart: what the option is, and its default.
func described(doc, name string) (text, missing string) {
	text, missing, _ = strings.Cut(doc, "\n\nDefault: ")
	clean := func(s string) string {
		s = strings.Join(strings.Fields(s), " ")
		s = brackets.ReplaceAllString(s, "`$1`")
		return strings.NewReplacer("|", `\|`, "*", `\*`).Replace(strings.TrimSuffix(s, "."))
	}
	text = clean(text)
	for _, verb := range []string{" is ", " are "} {
		text = strings.TrimPrefix(text, name+verb)
	}
	return strings.TrimPrefix(text, name+" "), clean(missing)
}

var fence = regexp.MustCompile("(?s)```(go|yaml)\n(.*?)```")

// TestDocsAreRun holds the page's Go to the examples, which run, and its YAML
// to what a spider loads.
func TestDocsAreRun(t *testing.T) {
	var examples string
	files, err := filepath.Glob("*example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		examples += strings.ReplaceAll(string(data), "\t", "")
	}
	seen := make(map[string]int)
	for _, m := range fence.FindAllStringSubmatch(readDocs(t), -1) {
		seen[m[1]]++
		if m[1] == "go" {
			if !strings.Contains(examples, "\n"+strings.ReplaceAll(m[2], "\t", "")) {
				t.Errorf("no example has\n%s", m[2])
			}
			continue
		}
		s, err := yamlspider.Load("docs.yaml", []byte(asSpider(m[2])))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := spider.NewRegistry(s); err != nil {
			t.Error(err)
		}
	}
	if n := len(legs.Kinds()); seen["go"] < n || seen["yaml"] < n {
		t.Errorf("%d blocks of Go and %d of YAML, want one a leg, and there are %d", seen["go"], seen["yaml"], n)
	}
}

// asSpider makes a spider of a list of legs.
func asSpider(text string) string {
	if !strings.HasPrefix(text, "- ") {
		return text
	}
	return "name: docs\nstart_urls: ['https://shop.example/']\nlegs:\n" + text +
		"callbacks:\n  product: [fields: {fields: {name: h1}}]\n  category: [fields: {fields: {name: h2}}]\n"
}
