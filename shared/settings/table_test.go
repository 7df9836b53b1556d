package settings_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/settings"
)

func TestEverySettingHasOneFieldAndEveryFieldOneSetting(t *testing.T) {
	defaults, err := settings.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	setBy := map[string]string{}
	for _, d := range settings.Definitions() {
		field := fieldOf(t, defaults, d.Name)
		if before, twice := setBy[field]; twice {
			t.Errorf("%s and %s both set the field %s", before, d.Name, field)
		}
		setBy[field] = d.Name
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[settings.Settings]()) {
		if setBy[f.Name] == "" {
			t.Errorf("no setting sets the field %s", f.Name)
		}
	}
}

// fieldOf finds the one field that a setting changes.
func fieldOf(t *testing.T, defaults settings.Settings, name string) string {
	before := reflect.ValueOf(defaults)
	for _, value := range []any{77, "127.0.0.1", "TLSv1.2", "ALL", "no-referrer", "allow", "rfc9111", "ERROR", "DEBUG", "utf-8", "418,599", false, true, map[string]any{"A": "b"}, map[string]any{"s3": nil}, map[string]any{"http": "b"}} {
		s, err := settings.Resolve(settings.Layer{Name: "test", Values: map[string]any{name: value}})
		if err != nil {
			continue
		}
		var changed []string
		after := reflect.ValueOf(s)
		for i := range after.NumField() {
			if !reflect.DeepEqual(before.Field(i).Interface(), after.Field(i).Interface()) {
				changed = append(changed, after.Type().Field(i).Name)
			}
		}
		if len(changed) == 1 {
			return changed[0]
		}
		if len(changed) > 1 {
			t.Errorf("%s changes %v", name, changed)
		}
	}
	t.Errorf("%s changes no field", name)
	return ""
}

func TestDefaultsReadBackAsThemselves(t *testing.T) {
	defaults, _ := settings.Resolve()
	written := map[string]any{}
	for _, d := range settings.Definitions() {
		written[d.Name] = d.Default
	}
	again, err := settings.Resolve(settings.Layer{Name: "test", Values: written})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, defaults) {
		t.Errorf("the written defaults read as\n%+v\nthe defaults are\n%+v", again, defaults)
	}
}

func TestDefinitionsAreInOrderAndComplete(t *testing.T) {
	all := settings.Definitions()
	if !slices.IsSortedFunc(all, func(a, b settings.Definition) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not in the order of their names")
	}
	for _, d := range all {
		if d.Doc == "" || d.Unit == "" || d.Source == "" {
			t.Errorf("%s lacks its doc, unit or source: %+v", d.Name, d)
		}
	}
}

// The struct's comments and the table say the same twice, once for readers of
// code and once for people at a terminal.
func TestCommentsOfFieldsNameTheirSettingAndItsDefault(t *testing.T) {
	comments := fieldComments(t)
	defaults, _ := settings.Resolve()
	for _, d := range settings.Definitions() {
		field := fieldOf(t, defaults, d.Name)
		comment := comments[field]
		if !strings.Contains(comment, "("+d.Name+")") {
			t.Errorf("the comment of %s does not name %s", field, d.Name)
		}
		want := d.Default
		if want == "" {
			want = "none" // or "empty", for texts
		}
		if !strings.Contains(comment, want) && !(d.Default == "" && strings.Contains(comment, "empty")) {
			t.Errorf("the comment of %s does not say that its default is %s", field, want)
		}
	}
}

func fieldComments(t *testing.T) map[string]string {
	file, err := parser.ParseFile(token.NewFileSet(), "settings.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && len(f.Names) == 1 {
			comments[f.Names[0].Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
		}
		return true
	})
	return comments
}

func TestFieldsAreInAlphabeticalOrder(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[settings.Settings]())
	if !slices.IsSortedFunc(fields, func(a, b reflect.StructField) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the fields of Settings are not in alphabetical order")
	}
}
