package newspider

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
)

// Module returns the folder of the Go module that a folder is in, "" if it is in
// none.
func Module(folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", nil
		}
		folder = above
	}
}

// moduleOf is the path of the module in a folder.
func moduleOf(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s has no go.mod, and a spider in Go needs a project in Go; the template yaml needs none", root)
	}
	if err != nil {
		return "", err
	}
	if module := modfile.ModulePath(text); module != "" {
		return module, nil
	}
	return "", fmt.Errorf("%s names no module", filepath.Join(root, "go.mod"))
}

// packageName makes a package's name of a spider's: lower case letters and
// digits, the first a letter. One that the project's file or Go itself uses for
// something else, or that names no folder of a package, gets an ending.
func packageName(spiderName, folder, projectFile string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(spiderName) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		}
	}
	name := b.String()
	if name[0] <= '9' {
		name = "a" + name
	}
	special := []string{"main", "init", "internal", "vendor", "testdata", "spiders"}
	if token.IsKeyword(name) || types.Universe.Lookup(name) != nil || slices.Contains(special, name) ||
		slices.Contains(namesIn(projectFile, path.Join(folder, name)), name) {
		name += "spider"
	}
	return name
}

// namesIn are the names that a file's imports and declarations bring, save that
// of one import. A file that cannot be read brings none.
func namesIn(file, except string) []string {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var names []string
	for _, spec := range f.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil || target == except:
		case spec.Name != nil:
			names = append(names, spec.Name.Name)
		default:
			names = append(names, path.Base(target))
		}
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}
