package loader_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/loader"
)

func TestProcessorsFromJSON(t *testing.T) {
	tests := []struct {
		spec        string
		value, want any
	}{
		{`"strip"`, list{" a "}, list{"a"}},
		{`null`, "a", "a"},
		{`[]`, "a", "a"},
		{`["strip", "upper", "take_first"]`, list{" a ", "b"}, "A"},
		{`"join"`, list{"a", "b"}, "a b"},
		{`{"join": ", "}`, list{"a", "b"}, "a, b"},
		{`{"join": [", "]}`, list{"a", "b"}, "a, b"},
		{`{"join": {"separator": "-"}}`, list{"a", "b"}, "a-b"},
		{`{"join": null}`, list{"a", "b"}, "a b"},
		{`{"replace": ["a", "b"]}`, "xax", "xbx"},
		{`{"replace": {"old": "a", "with": "b"}}`, "xax", "xbx"},
		{`{"replace": "a"}`, "xax", "xx"},
		{`{"replace": [1, 2]}`, "1", "2"},
		{`{"re": "[0-9]+"}`, "a12b", list{"12"}},
		{`{"replace_re": ["a(.)", "$1"]}`, "xab", "xb"},
		{`"remove_tags"`, "<p><b>x", "x"},
		{`{"remove_tags": ["b", "i"]}`, "<p><b>x", "<p>x"},
		{`{"remove_tags": "b"}`, "<p><b>x", "<p>x"},
		{`{"remove_tags": {"tags": ["b"]}}`, "<p><b>x", "<p>x"},
		{`{"strip": "*"}`, "*x*", "x"},
		{`{"select_jmes": "a.b"}`, list{map[string]any{"a": map[string]any{"b": number("1.10")}}}, list{number("1.10")}},
		{`{"select_jsonpath": "$..b"}`, `{"a":{"b":1},"b":2}`, list{number("2"), number("1")}},
		{`{"price": ","}`, "1.234", number("1234")},
		{`{"to_time": ["2006", "Jan 2006"]}`, "Mar 2026", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)},
		{`{"map_compose": ["strip", {"replace": ["a", "b"]}]}`, list{" a"}, list{"b"}},
		{`{"map_compose": "strip"}`, list{" a"}, list{"a"}},
		{`{"map_compose": {"replace": ["a", "b"]}}`, list{"a"}, list{"b"}},
		{`{"compose": ["take_first", "lower"]}`, list{"A"}, "a"},
		{`{"compose": {"processors": ["take_first", {"map_compose": ["lower"]}], "stop_on_none": false}}`, list{}, list{}},
		{`{"compose": {"processors": ["take_first", {"map_compose": ["lower"]}]}}`, list{}, nil},
	}
	for _, test := range tests {
		t.Run(test.spec, func(t *testing.T) {
			var p loader.Processor
			if err := json.Unmarshal([]byte(test.spec), &p); err != nil {
				t.Fatal(err)
			}
			got, err := p.Process(nil, test.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamedSaysWhatIsRight(t *testing.T) {
	tests := []struct {
		name string
		args []any
		want string
	}{
		{"stripe", nil, `there is no processor "stripe"; there are absolute_url, compose, identity, join, `},
		{"strip", []any{"a", "b"}, `processor strip: 2 arguments are too many; it is strip([characters, default white space])`},
		{"lower", []any{"a"}, `processor lower: 1 arguments are too many; it is lower, without arguments`},
		{"re", nil, `processor re: the argument "pattern" is missing; it is re(pattern)`},
		{"replace", []any{map[string]any{"old": "a", "new": "b"}}, `there is no argument "new"; it is replace(old, [with, default ""])`},
		{"join", []any{[]any{"a"}}, `argument separator: is a list of one value; a text or a number is needed`},
		{"re", []any{"("}, `processor re: regular expression "("`},
		{"price", []any{"x"}, `it is "." or ","`},
		{"map_compose", []any{"strip", "low"}, `processor map_compose: argument processors: there is no processor "low"`},
		{"map_compose", []any{12}, `12 is no processor; write a name (strip), a name with arguments`},
		{"compose", []any{map[string]any{"processors": "strip", "stop_on_none": "no"}}, `argument stop_on_none: is a text; write true or false`},
		{"compose", []any{map[string]any{"strip": nil, "lower": nil}}, `a processor has one name, as in {join: ", "}; here are 2: lower, strip`},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			if _, err := loader.Named(test.name, test.args...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAProcessorOfJSONThatIsWrongIsAnError(t *testing.T) {
	for spec, want := range map[string]string{
		`12`:                               `12 is no processor`,
		`["strip", "x"]`:                   `there is no processor "x"`,
		`{}`:                               `here are 0`,
		`[{"re": "("}]`:                    `regular expression "("`,
		`["strip", {"re": "("}]`:           `regular expression "("`,
		`{"remove_tags": ["b", {"b": 1}]}`: `argument tags: is an object`,
		`{"join": {"sep": ","}}`:           `there is no argument "sep"; it is join([separator, default " "])`,
		`{"map_compose": []}`:              `the argument "processors" is missing`,
		`{"compose": {"processors": []}}`:  `argument processors: there are none`,
	} {
		var p loader.Processor
		if err := json.Unmarshal([]byte(spec), &p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", spec, err, want)
		}
	}
	p, err := loader.FromValue(list{loader.Strip(), "upper"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Process(nil, " a "); got != "A" || err != nil {
		t.Errorf("processors among names: got %v, %v", got, err)
	}
}

func TestEveryKindCanBeMade(t *testing.T) {
	for _, k := range loader.Kinds() {
		args := make(map[string]any)
		for _, a := range k.Args {
			if !a.Required {
				if a.Default == "" {
					t.Errorf("%s: %s is not required and tells no default", k.Name, a.Name)
				}
				continue
			}
			args[a.Name] = "strip"
			if k.Name == "select_jsonpath" {
				args[a.Name] = "$.strip"
			}
		}
		if k.Doc == "" || !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s says %q of itself", k.Name, k.Doc)
		}
		var p loader.Processor
		var err error
		if len(args) == 0 {
			p, err = loader.Named(k.Name)
		} else {
			p, err = loader.Named(k.Name, args)
		}
		if err != nil || p.String() != k.Name {
			t.Errorf("%s: got %s, %v", k.Name, p, err)
		}
	}
}

// FuzzNumbers looks for texts that make something else than a JSON number.
func FuzzNumbers(f *testing.F) {
	for _, s := range []string{"1.10", "1e", "-", "+.e5", "1.234,5", "-£.5"} {
		f.Add(s)
	}
	processors := []loader.Processor{loader.ToInt(), loader.ToFloat(), loader.Price(""), loader.Price(","), loader.Price(".")}
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range processors {
			got, err := p.Process(nil, s)
			if err != nil || got == nil {
				continue
			}
			if raw, err := json.Marshal(got); err != nil || !json.Valid(raw) {
				t.Errorf("%s of %q: %v (%v)", p, s, got, err)
			}
		}
	})
}
