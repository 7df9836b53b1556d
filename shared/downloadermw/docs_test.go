package downloadermw_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
)

var update = flag.Bool("update", false, "rewrite docs/downloader-middlewares.md")

const docsHead = `# Downloader middlewares

They stand between the engine and the web. A project lists them in ` + "`spiders/project.go`" + `, the nearest to the engine first: a request passes them from top to bottom, its response from bottom to top.
The names, settings, request options and stats are Scrapy's where it has them; [settings.md](settings.md) marks what is not. Below them is the handler that opens the connection: [downloader.md](downloader.md).

This page is made from the code by ` + "`go test ./shared/downloadermw -run Docs -update`" + `: what a middleware reads or counts and the page does not have fails a test.
`

// TestDocsHaveEveryMiddleware keeps docs/downloader-middlewares.md what the code
// says: which settings and request options each middleware reads, and what it
// counts.
func TestDocsHaveEveryMiddleware(t *testing.T) {
	const path = "../../docs/downloader-middlewares.md"
	src := readSource(t, ".", "../handlers", "../httpcache", "../cookies")
	order := projectOrder(t, "../../spiders/project.go")
	if missing := slices.DeleteFunc(src.middlewares(), func(name string) bool { return slices.Contains(order, name) }); len(missing) > 0 {
		t.Errorf("not in the list of spiders/project.go: %v", missing)
	}
	var b strings.Builder
	b.WriteString(docsHead)
	for k, name := range order {
		root := name
		if _, ok := src.decls[name].(*ast.TypeSpec); ok {
			root = name + ".Middleware"
		}
		text, method := strings.CutPrefix(src.text(t, root), "Middleware ")
		if method {
			text = name + " " + text
		}
		fmt.Fprintf(&b, "\n## %d. %s\n\n%s", k+1, name, text)
		used := src.used(root)
		section(&b, "| setting | default | meaning |\n|---|---|---|\n", settingRows(used.settings))
		section(&b, "| request option | in JSON | meaning |\n|---|---|---|\n", optionRows(t, used.options))
		if len(used.stats) > 0 {
			fmt.Fprintf(&b, "\nStats: `%s`.\n", strings.Join(slices.Sorted(maps.Keys(used.stats)), "`, `"))
		}
	}
	fmt.Fprintf(&b, "\n## The handler of http and https\n\n%s",
		strings.Replace(src.text(t, "HTTPHandler.ForJob"), "ForJob returns a handler that", "It", 1))
	used := src.used("HTTPHandler.ForJob")
	section(&b, "| setting | default | meaning |\n|---|---|---|\n", settingRows(used.settings))
	section(&b, "| request option | in JSON | meaning |\n|---|---|---|\n", optionRows(t, used.options))
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(b.String(), string(page)); diff != "" {
		t.Errorf("docs/downloader-middlewares.md (-want, +got), go test -run Docs -update rewrites it:\n%s", diff)
	}
}

func section(b *strings.Builder, head string, rows []string) {
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n%s%s", head, strings.Join(rows, ""))
	}
}

// settingRows are the rows of settings, whose fields in Settings are given.
func settingRows(fields map[string]bool) []string {
	var rows []string
	for _, d := range settings.Definitions() {
		if fields[strings.ToLower(strings.ReplaceAll(d.Name, "_", ""))] {
			value := "`" + d.Default + "`"
			if d.Default == "" {
				value = "none"
			}
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", d.Name, value, strings.ReplaceAll(d.Doc, "|", `\|`)))
		}
	}
	return rows
}

// optionRows are the rows of request options, with their own doc comments.
func optionRows(t *testing.T, fields map[string]bool) []string {
	docs := fieldDocs(t, "../crawl/options.go", "../crawl/request.go")
	var rows []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[crawl.Request]()) {
		if fields[f.Name] {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			rows = append(rows, fmt.Sprintf("| `%s` | `%s` | %s |\n", f.Name, name, docs[f.Name]))
		}
	}
	return rows
}

// isOption reports whether a field of a request is one that a spider sets for
// middlewares.
func isOption(name string) bool {
	_, option := reflect.TypeFor[crawl.Options]().FieldByName(name)
	return option || name == "Cookies" || name == "DontFilter"
}

// fieldDocs are the doc comments of struct fields, without their names' place at
// the beginning changed, on one line.
func fieldDocs(t *testing.T, paths ...string) map[string]string {
	docs := make(map[string]string)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			fields, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			var last string // a comment may stand for the fields after it, too
			for _, f := range fields.Fields.List {
				if text := f.Doc.Text(); text != "" {
					last = strings.Join(strings.Fields(text), " ")
				}
				for _, name := range f.Names {
					docs[name.Name] = unlinked(last)
				}
			}
			return true
		})
	}
	return docs
}

// docLink is a link to a declaration, as doc comments write it.
var docLink = regexp.MustCompile(`\[\*?([A-Z]\w*(?:\.\w+)*)\]`)

func unlinked(text string) string { return docLink.ReplaceAllString(text, "`$1`") }

// projectOrder reads the list of middlewares in a project's file.
func projectOrder(t *testing.T, path string) []string {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	made := make(map[string]string) // what variables hold
	ast.Inspect(file, func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok {
			if call, ok := set.Rhs[0].(*ast.CallExpr); ok {
				made[lastName(set.Lhs[0])] = lastName(call.Fun)
			}
			return true
		}
		list, ok := n.(*ast.CompositeLit)
		if !ok || !isMiddlewares(list.Type) {
			return true
		}
		for _, e := range list.Elts {
			if call, ok := e.(*ast.CallExpr); ok {
				e = call.Fun
			}
			switch e := e.(type) {
			case *ast.Ident:
				order = append(order, made[e.Name])
			case *ast.SelectorExpr:
				if of, ok := e.X.(*ast.SelectorExpr); ok && e.Sel.Name == "Middleware" {
					order = append(order, of.Sel.Name) // env.Robots.Middleware
					continue
				}
				order = append(order, e.Sel.Name)
			}
		}
		return false
	})
	return order
}

func isMiddlewares(t ast.Expr) bool {
	array, ok := t.(*ast.ArrayType)
	return ok && isSelector(array.Elt, "downloader", "Middleware")
}

func isSelector(e ast.Expr, x, sel string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == x && s.Sel.Name == sel
}

// A source is the code of some packages, by what it declares.
type source struct {
	decls   map[string]ast.Node // functions by name, methods by type.name, types by name
	methods map[string][]string // of each name: type.name
	docs    map[string]string
	own     map[string]bool // declared in the first package
	pkg     map[string]int  // which of the packages declares it
}

func readSource(t *testing.T, dirs ...string) *source {
	s := &source{decls: map[string]ast.Node{}, methods: map[string][]string{}, docs: map[string]string{}, own: map[string]bool{}, pkg: map[string]int{}}
	for k, dir := range dirs {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				s.declare(d, k)
			}
		}
	}
	return s
}

func (s *source) declare(d ast.Decl, pkg int) {
	own := pkg == 0
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = receiver(d.Recv.List[0].Type) + "." + name
			s.methods[d.Name.Name] = append(s.methods[d.Name.Name], name)
		}
		s.decls[name], s.docs[name], s.own[name], s.pkg[name] = d, d.Doc.Text(), own, pkg
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if ts, ok := spec.(*ast.TypeSpec); ok {
				s.decls[ts.Name.Name], s.own[ts.Name.Name], s.pkg[ts.Name.Name] = ts, own, pkg
			}
		}
	}
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// middlewares are the exported functions and methods of the first package that
// return one.
func (s *source) middlewares() []string {
	var names []string
	for name, d := range s.decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !s.own[name] || !f.Name.IsExported() || f.Type.Results == nil || !isSelector(f.Type.Results.List[0].Type, "downloader", "Middleware") {
			continue
		}
		names = append(names, strings.TrimSuffix(name, ".Middleware"))
	}
	slices.Sort(names)
	return names
}

// text is a doc comment as Markdown, without the paragraphs that only list what
// the tables have.
func (s *source) text(t *testing.T, name string) string {
	if s.docs[name] == "" {
		t.Errorf("%s has no doc comment", name)
	}
	var p comment.Parser
	d := p.Parse(s.docs[name])
	d.Content = slices.DeleteFunc(d.Content, func(b comment.Block) bool {
		text, ok := b.(*comment.Paragraph)
		if !ok || len(text.Text) == 0 {
			return false
		}
		first, ok := text.Text[0].(comment.Plain)
		return ok && regexp.MustCompile(`^(Stats|Settings?|Request options?): `).MatchString(string(first))
	})
	var printer comment.Printer
	return unlinked(regexp.MustCompile(`\\([\[\]_*<>])`).ReplaceAllString(string(printer.Markdown(d)), "$1"))
}

// A use is what a piece of code reads and counts.
type use struct{ settings, options, stats map[string]bool }

// used follows the code from a function on.
func (s *source) used(root string) use {
	u := use{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		d, ok := s.decls[name]
		if !ok || seen[name] {
			return
		}
		seen[name] = true
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				// A small letter names what is of the same package.
				if !s.other(n.Name, root) && (n.IsExported() || s.pkg[n.Name] == s.pkg[name]) {
					visit(n.Name)
				}
			case *ast.SelectorExpr:
				u.field(n)
				for _, m := range s.methods[n.Sel.Name] {
					if of, _, _ := strings.Cut(m, "."); seen[of] || of == strings.Split(name, ".")[0] {
						visit(m)
					}
				}
			case *ast.CallExpr:
				u.stat(n)
			}
			return true
		})
		if _, isType := d.(*ast.TypeSpec); isType {
			for _, list := range s.methods {
				for _, m := range list {
					if strings.HasPrefix(m, name+".") && m != root && !strings.HasSuffix(m, ".CrawlDelay") {
						visit(m)
					}
				}
			}
		}
	}
	visit(root)
	return u
}

// other reports whether a name is that of another middleware.
func (s *source) other(name, root string) bool {
	return name != root && slices.Contains(s.middlewares(), name) && name != strings.TrimSuffix(root, ".Middleware")
}

func (u use) field(sel *ast.SelectorExpr) {
	of := lastName(sel.X)
	switch of {
	case "s", "settings", "set":
		if _, ok := reflect.TypeFor[settings.Settings]().FieldByName(sel.Sel.Name); ok {
			u.settings[strings.ToLower(sel.Sel.Name)] = true
		}
	case "req", "request", "asked", "next":
		if isOption(sel.Sel.Name) {
			u.options[sel.Sel.Name] = true
		}
	}
}

func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// stat notes what a call counts.
func (u use) stat(call *ast.CallExpr) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 || !slices.Contains([]string{"Inc", "Add", "Set", "Max"}, f.Sel.Name) ||
		!slices.Contains([]string{"st", "stats"}, cmp.Or(lastName(f.X), "")) {
		return
	}
	if key := statKey(call.Args[0]); key != "" {
		u.stats[key] = true
	}
}

// statKey is the key of a stat as far as the code has it in letters; what is
// put together when it runs is "…".
func statKey(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		left, right := statKey(e.X), statKey(e.Y)
		return cmp.Or(left, "…") + cmp.Or(right, "…")
	}
	return ""
}
