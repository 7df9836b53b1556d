package settings_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/settings"
)

// TestEverySettingIsRead finds settings that nothing heeds.
func TestEverySettingIsRead(t *testing.T) {
	read := make(map[string]bool)
	for _, root := range []string{"..", "../../cmd", "../../spiders"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.HasPrefix(path, "../settings/") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					read[s.Sel.Name] = true
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[settings.Settings]()) {
		if !read[f.Name] {
			t.Errorf("no code reads %s", f.Name)
		}
	}
}
