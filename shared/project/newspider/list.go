package newspider

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// An edit is the project's file with a spider in its list: text is nil if it is
// there already. Why says that the file is not one that can be edited.
type edit struct {
	text []byte
	why  error
}

// list puts a spider into the list of the project's file.
func (o Options) list(d data) edit {
	source, err := os.ReadFile(filepath.Join(o.Root, projectFile))
	if err != nil {
		return edit{why: err}
	}
	text, err := List(source, d.Package, d.Import)
	if err != nil {
		return edit{why: fmt.Errorf("%s was left alone, since %w", projectFile, err)}
	}
	if bytes.Equal(text, source) {
		return edit{}
	}
	return edit{text: text}
}

// List adds the spider of a package to the list of a project's file, and the
// package to its imports. What is there already is left as it is. The error says
// why the file is not one that can be edited.
func List(source []byte, pkg, importPath string) ([]byte, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "project.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("it does not compile: %w", err)
	}
	list, err := spiderList(f)
	if err != nil {
		return nil, err
	}
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	var inserts []insert
	if !calls(list, pkg) {
		inserts = append(inserts, element(source, list, pkg+".Spider()", offset))
	}
	if !imports(f, importPath) {
		in, err := importLine(f, source, strconv.Quote(importPath), offset)
		if err != nil {
			return nil, err
		}
		inserts = append(inserts, in)
	}
	if inserts == nil {
		return source, nil
	}
	text := source
	for _, in := range inserts { // the list stands after the imports, so the later one comes first
		text = slices.Concat(text[:in.at], []byte(in.text), text[in.at:])
	}
	return format.Source(text)
}

// An insert is a text and where it goes.
type insert struct {
	at   int
	text string
}

// spiderList finds the value of the field Spiders in a composite literal.
func spiderList(f *ast.File) (*ast.CompositeLit, error) {
	var found []*ast.CompositeLit
	other := false
	ast.Inspect(f, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "Spiders" {
			return true
		}
		if lit, ok := kv.Value.(*ast.CompositeLit); ok {
			found = append(found, lit)
		} else {
			other = true
		}
		return true
	})
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("it has %d lists of Spiders", len(found))
	case other:
		return nil, errors.New("its Spiders are no list that is written out there")
	}
	return nil, errors.New("it has no list of Spiders")
}

// calls reports whether the list has pkg.Spider().
func calls(list *ast.CompositeLit, pkg string) bool {
	return slices.ContainsFunc(list.Elts, func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return false
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Spider" {
			return false
		}
		x, ok := sel.X.(*ast.Ident)
		return ok && x.Name == pkg
	})
}

// element is where a new element goes: on a line of its own, if the closing
// brace has one, since each line before it ends in a comma then.
func element(source []byte, list *ast.CompositeLit, text string, offset func(token.Pos) int) insert {
	end := offset(list.Rbrace)
	line := bytes.LastIndexByte(source[:end], '\n') + 1
	switch {
	case len(bytes.TrimSpace(source[line:end])) == 0:
		return insert{line, text + ",\n"}
	case len(list.Elts) == 0:
		return insert{end, text}
	}
	return insert{offset(list.Elts[len(list.Elts)-1].End()), ", " + text}
}

func imports(f *ast.File, importPath string) bool {
	return slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == strconv.Quote(importPath) })
}

// importLine is where a new import goes: after the last one, among which
// formatting sorts it.
func importLine(f *ast.File, source []byte, quoted string, offset func(token.Pos) int) (insert, error) {
	for _, decl := range slices.Backward(f.Decls) {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.IMPORT {
			continue
		}
		last := offset(d.Specs[len(d.Specs)-1].End())
		if n := bytes.IndexByte(source[last:], '\n'); n >= 0 {
			last += n // after a comment that belongs to it
		}
		if d.Lparen.IsValid() {
			return insert{last, "\n" + quoted}, nil
		}
		return insert{last, "\nimport " + quoted}, nil
	}
	return insert{}, errors.New("it imports nothing")
}
