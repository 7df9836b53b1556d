package shared_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	codeSpan  = regexp.MustCompile("`[^`\n]+`")
	qualified = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
)

// TestDocsNameWhatIsThere finds names of ours in the pages of docs/ that no
// package has (any more), such as spider.Spider.StartURLs.
func TestDocsNameWhatIsThere(t *testing.T) {
	names := exportedNames(t)
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	checked := 0
	for _, file := range append(pages, "../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range codeSpan.FindAllString(string(text), -1) {
			for _, m := range qualified.FindAllStringSubmatch(span, -1) {
				own, ours := names[m[1]]
				if !ours {
					continue
				}
				checked++
				if !own[m[2]] || m[3] != "" && !own[m[2]+"."+m[3]] {
					t.Errorf("%s: there is no %s", filepath.Base(file), m[0])
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d names were checked", checked)
	}
}

// exportedNames has the exported names of each of our packages, and those of
// fields and methods as Type.Member.
func exportedNames(t *testing.T) map[string]map[string]bool {
	t.Helper()
	names := make(map[string]map[string]bool)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		own := names[file.Name.Name]
		if own == nil {
			own = make(map[string]bool)
			names[file.Name.Name] = own
		}
		for _, decl := range file.Decls {
			declare(own, decl)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func declare(own map[string]bool, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			own[d.Name.Name] = true
			return
		}
		own[typeName(d.Recv.List[0].Type)+"."+d.Name.Name] = true
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					own[n.Name] = true
				}
			case *ast.TypeSpec:
				own[s.Name.Name] = true
				for _, member := range members(s.Type) {
					own[s.Name.Name+"."+member] = true
				}
			}
		}
	}
}

func members(t ast.Expr) []string {
	var list *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return nil
	}
	var names []string
	for _, f := range list.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names
}

// typeName is the name of a receiver's type.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
