package yamlspider

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/loader"
	"github.com/skitterhq/skitter/shared/settings"
)

var update = flag.Bool("update", false, "rewrite the JSON Schema")

// published are the places of the schema: beside the package that embeds it, and
// where editors find it.
var published = []string{"spider.schema.json", "../../docs/spider.schema.json"}

func TestTheSchemaIsThatOfTheOptions(t *testing.T) {
	g := generator{t: t, docs: make(map[string]map[string]string), defs: make(map[string]*jsonschema.Schema)}
	s := g.file()
	if _, err := s.Resolve(nil); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	for _, path := range published {
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		there, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(there, b.Bytes()) {
			t.Errorf("%s is out of date: go test ./shared/yamlspider -update writes it", path)
		}
	}
}

// A generator makes the schema out of Go types, their JSON tags and their doc
// comments.
type generator struct {
	t    *testing.T
	docs map[string]map[string]string // by package, then TYPE or TYPE.FIELD
	defs map[string]*jsonschema.Schema
}

const namePattern = `^[A-Za-z0-9][A-Za-z0-9._-]*$`

func ref(def string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + def} }

func ofType(types ...string) *jsonschema.Schema {
	if len(types) == 1 {
		return &jsonschema.Schema{Type: types[0]}
	}
	return &jsonschema.Schema{Types: types}
}

// never is false, which no value fits.
func never() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

func (g *generator) file() *jsonschema.Schema {
	s := g.object(reflect.TypeFor[file]())
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.ID = SchemaURL
	s.Title = "A Skitter spider"
	s.Description = "A spider made of legs; docs/yaml.md tells all about it."
	s.Properties["name"].Pattern = namePattern
	s.Properties["args"].PropertyNames = &jsonschema.Schema{Pattern: argName.String()}
	s.Properties["settings"] = g.settings(s.Properties["settings"].Description)
	callbacks := s.Properties["callbacks"].AdditionalProperties
	s.Properties["callbacks"].AdditionalProperties = &jsonschema.Schema{Type: "array", Items: callbacks.Items, MinItems: jsonschema.Ptr(1)}
	g.legs()
	s.Defs = g.defs
	return s
}

// legs defines a leg of each kind.
func (g *generator) legs() {
	var names []any
	kinds := &jsonschema.Schema{Type: "object", MinProperties: jsonschema.Ptr(1), MaxProperties: jsonschema.Ptr(1),
		Properties: make(map[string]*jsonschema.Schema), AdditionalProperties: never()}
	for _, k := range legs.Kinds() {
		t := reflect.TypeOf(k.New()).Elem()
		options := g.object(t)
		if options.Properties[keySubLegs] != nil {
			g.t.Errorf("leg %s has an option %s, which is the key of sub-legs", k.Name, keySubLegs)
		}
		options.Properties[keySubLegs] = &jsonschema.Schema{Type: "array", Items: ref("leg"), Description: "Sub-legs run right after this leg."}
		options.PropertyOrder = append(options.PropertyOrder, keySubLegs)
		options.Properties["name"].Pattern = namePattern
		options.Type, options.Types = "", []string{"object", "null"}
		if len(options.Required) > 0 {
			options.Type, options.Types = "object", nil
		} else {
			names = append(names, k.Name)
		}
		options.Description = strings.Replace(g.doc(t, ""), t.Name(), k.Name, 1)
		g.defs[k.Name] = options
		kinds.Properties[k.Name] = ref(k.Name)
		kinds.PropertyOrder = append(kinds.PropertyOrder, k.Name)
	}
	g.defs["leg"] = &jsonschema.Schema{
		Description: "A leg: its kind with its options, or the kind alone.",
		AnyOf:       []*jsonschema.Schema{kinds, {Enum: names}},
	}
}

func (g *generator) settings(description string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Description: description, Properties: make(map[string]*jsonschema.Schema), AdditionalProperties: never()}
	for _, d := range settings.Definitions() {
		s.Properties[d.Name] = &jsonschema.Schema{Description: fmt.Sprintf("%s\n\nDefault: %s (%s).", d.Doc, d.Default, d.Unit)}
	}
	return s
}

// object makes the schema of a struct.
func (g *generator) object(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: make(map[string]*jsonschema.Schema), AdditionalProperties: never()}
	g.add(s, t)
	return s
}

func (g *generator) add(s *jsonschema.Schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "":
			g.add(s, f.Type)
		case name == "":
			g.t.Errorf("%s.%s has no name in JSON", t, f.Name)
		default:
			p := g.value(f.Type)
			if p.Ref != "" {
				p = &jsonschema.Schema{AllOf: []*jsonschema.Schema{p}}
			}
			p.Description = strings.Replace(g.doc(t, f.Name), f.Name, name, 1)
			s.Properties[name] = p
			s.PropertyOrder = append(s.PropertyOrder, name)
			if !strings.Contains(options, "omit") {
				s.Required = append(s.Required, name)
			}
		}
	}
}

// value makes the schema of a value of a type.
func (g *generator) value(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[word]():
		return ofType("string")
	case reflect.TypeFor[arg]():
		return ofType("string", "number", "boolean", "null")
	case reflect.TypeFor[setting]():
		return &jsonschema.Schema{}
	case reflect.TypeFor[leg]():
		return ref("leg")
	case reflect.TypeFor[count]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "integer", Minimum: jsonschema.Ptr(0.0)}, g.object(reflect.TypeFor[bounds]())}}
	case reflect.TypeFor[crawl.Values]():
		return ofType("object")
	case reflect.TypeFor[legs.Selector]():
		return g.define("selector", func() *jsonschema.Schema { return g.textOr(t) })
	case reflect.TypeFor[legs.Field]():
		return g.define("field", func() *jsonschema.Schema {
			s := g.textOr(t)
			s.Description = g.doc(t, "")
			return s
		})
	case reflect.TypeFor[legs.FieldList]():
		return &jsonschema.Schema{Type: "object", MinProperties: jsonschema.Ptr(1), AdditionalProperties: g.value(reflect.TypeFor[legs.Field]())}
	case reflect.TypeFor[loader.Processor]():
		return g.define("processor", g.processor)
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		g.t.Errorf("the generator does not know how %s reads itself", t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.value(t.Elem())
	case reflect.String:
		return ofType("string")
	case reflect.Bool:
		return ofType("boolean")
	case reflect.Int, reflect.Int64:
		return ofType("integer")
	case reflect.Float64:
		return ofType("number")
	case reflect.Interface:
		return &jsonschema.Schema{}
	case reflect.Struct:
		return g.object(t)
	case reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: g.value(t.Elem())}
	case reflect.Slice:
		entry := g.value(t.Elem())
		list := &jsonschema.Schema{Type: "array", Items: entry}
		if !oneIsAList(t) {
			return list
		}
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{entry.CloneSchemas(), list}}
	}
	g.t.Errorf("the generator does not know %s", t)
	return &jsonschema.Schema{}
}

// define puts a schema among the definitions, which may be recursive.
func (g *generator) define(name string, make func() *jsonschema.Schema) *jsonschema.Schema {
	if g.defs[name] == nil {
		g.defs[name] = &jsonschema.Schema{} // within itself it is there
		g.defs[name] = make()
	}
	return ref(name)
}

// languages are those of selectors.
var languages = []string{"css", "xpath", "jmespath", "jsonpath"}

// textOr is a text, which is a CSS selector, or an object with a selector in one
// language at most.
func (g *generator) textOr(t reflect.Type) *jsonschema.Schema {
	object := g.object(t)
	for i, a := range languages {
		for _, b := range languages[i+1:] {
			object.AllOf = append(object.AllOf, &jsonschema.Schema{Not: &jsonschema.Schema{Required: []string{a, b}}})
		}
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", MinLength: jsonschema.Ptr(1)}, object}}
}

func (g *generator) processor() *jsonschema.Schema {
	withArgs := &jsonschema.Schema{Type: "object", MinProperties: jsonschema.Ptr(1), MaxProperties: jsonschema.Ptr(1),
		Properties: make(map[string]*jsonschema.Schema), AdditionalProperties: never()}
	var names []any
	for _, k := range loader.Kinds() {
		names = append(names, k.Name)
		withArgs.Properties[k.Name] = &jsonschema.Schema{Description: k.Doc}
		withArgs.PropertyOrder = append(withArgs.PropertyOrder, k.Name)
	}
	return &jsonschema.Schema{
		Description: "A processor: its name, its name with its arguments, or a list of these.",
		AnyOf:       []*jsonschema.Schema{{Enum: names}, withArgs, {Type: "array", Items: ref("processor")}},
	}
}

// link is a reference to Go in a doc comment.
var link = regexp.MustCompile(`\[([A-Za-z.*]+)\]`)

// doc is the doc comment of a type, or of its field, without Go's brackets.
func (g *generator) doc(t reflect.Type, field string) string {
	key := t.Name()
	if field != "" {
		key += "." + field
	}
	if g.docs[t.PkgPath()] == nil {
		g.docs[t.PkgPath()] = g.read(strings.TrimPrefix(t.PkgPath(), "github.com/skitterhq/skitter/shared/"))
	}
	text, ok := g.docs[t.PkgPath()][key]
	if !ok {
		g.t.Errorf("%s of %s has no doc comment", key, t.PkgPath())
	}
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if !strings.HasPrefix(p, "\t") {
			paragraphs[i] = strings.Join(strings.Fields(p), " ")
		}
	}
	return link.ReplaceAllString(strings.Join(paragraphs, "\n\n"), "$1")
}

// read collects the doc comments of the structs of a package.
func (g *generator) read(folder string) map[string]string {
	files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil || len(files) == 0 {
		g.t.Fatalf("no source in %s: %v", folder, err)
	}
	docs := make(map[string]string)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			g.t.Fatal(err)
		}
		for _, d := range f.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range decl.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					docs[t.Name.Name] = strings.TrimSpace(decl.Doc.Text())
					addFields(docs, t)
				}
			}
		}
	}
	return docs
}

func addFields(docs map[string]string, t *ast.TypeSpec) {
	s, ok := t.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			if f.Doc != nil {
				docs[t.Name.Name+"."+name.Name] = strings.TrimSpace(f.Doc.Text())
			}
		}
	}
}
