package yamlspider_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"

	"github.com/skitterhq/skitter/shared/yamlspider"
)

// schema is the published one, ready to validate.
func schema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(yamlspider.Schema(), s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// validate judges a text by the schema, as an editor does.
func validate(t *testing.T, s *jsonschema.Resolved, text string) error {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("an editor could not read it: %v", err)
	}
	return s.Validate(value)
}

func TestTheSchemaRefusesWhatTheReaderRefuses(t *testing.T) {
	s := schema(t)
	if err := validate(t, s, right); err != nil {
		t.Fatalf("what is right is refused: %v", err)
	}
	for _, m := range mistakes() {
		if m.schema {
			t.Run(m.name, func(t *testing.T) {
				if validate(t, s, m.text) == nil {
					t.Errorf("it takes\n%s", m.text)
				}
			})
		}
	}
}

// examples are the YAML spiders of the project, with their paths from its root.
func examples(t *testing.T) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for _, pattern := range []string{"spiders/*.yaml", "shared/legs/testdata/sep016/*.yaml"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("there are no %s: %v", pattern, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			found[strings.TrimPrefix(f, "../../")] = string(text)
		}
	}
	return found
}

func TestTheSchemaAndTheReaderTakeEveryExample(t *testing.T) {
	s := schema(t)
	for path, text := range examples(t) {
		if _, err := yamlspider.Load(path, []byte(text)); err != nil {
			t.Error(err)
			continue
		}
		if err := validate(t, s, text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// An editor completes and checks a file by the schema in its first line.
func TestEveryExampleNamesTheSchemaInItsFirstLine(t *testing.T) {
	for path, text := range examples(t) {
		first, _, _ := strings.Cut(text, "\n")
		named, ok := strings.CutPrefix(first, "# yaml-language-server: $schema=")
		if !ok {
			t.Errorf("%s begins with %q", path, first)
			continue
		}
		there, err := os.ReadFile(filepath.Join("../..", filepath.Dir(path), named))
		if err != nil || string(there) != string(yamlspider.Schema()) {
			t.Errorf("%s names %s, which is not the schema: %v", path, named, err)
		}
	}
}
