package crawl_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
)

// readItem reads an item as it arrives in a message.
func readItem(t *testing.T, text string) crawl.Item {
	t.Helper()
	var item crawl.Item
	if err := json.Unmarshal([]byte(text), &item); err != nil {
		t.Fatal(err)
	}
	return item
}

// written is the JSON of an item, without the escapes that only HTML needs.
func written(t *testing.T, item crawl.Item) string {
	t.Helper()
	raw, err := item.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestItemKeepsOrderAndDigits(t *testing.T) {
	type book struct {
		Title string  `json:"title"`
		Price float64 `json:"price"`
		ID    int64   `json:"id"`
	}
	none := func(*crawl.Item) error { return nil }
	set := func(name string, value any) func(*crawl.Item) error {
		return func(i *crawl.Item) error { return i.Set(name, value) }
	}
	const came = `{"z":9007199254740993,"a":1.10,"m":[1e5,{"k":0.0}]}`
	tests := []struct {
		name   string
		from   any
		change func(*crawl.Item) error
		want   string
	}{
		{"the zero item has no fields", crawl.Item{}, none, `{}`},
		{"a struct keeps the order of its fields", book{"A & <B>", 12.5, 1 << 60}, none, `{"title":"A & <B>","price":12.5,"id":1152921504606846976}`},
		{"a map is sorted", map[string]any{"b": 2, "a": 1}, none, `{"a":1,"b":2}`},
		{"a pointer to a struct is its struct", &book{Title: "t"}, none, `{"title":"t","price":0,"id":0}`},
		{"an item is itself", readItem(t, came), none, came},
		{"a pointer to an item is its item", new(readItem(t, came)), none, came},
		{"digits survive a change beside them", readItem(t, came), set("n", 1), `{"z":9007199254740993,"a":1.10,"m":[1e5,{"k":0.0}],"n":1}`},
		{"a field that is set again stays in its place", readItem(t, came), set("a", "<new>"), `{"z":9007199254740993,"a":"<new>","m":[1e5,{"k":0.0}]}`},
		{"a new field goes to the end", crawl.Item{}, func(i *crawl.Item) error {
			return cmpOr(i.Set("z", 1), i.Set("a", 2))
		}, `{"z":1,"a":2}`},
		{"a deleted field is gone", readItem(t, came), func(i *crawl.Item) error { return i.Delete("a") }, `{"z":9007199254740993,"m":[1e5,{"k":0.0}]}`},
		{"deleting the last field leaves an object", readItem(t, `{"a":1}`), func(i *crawl.Item) error { return i.Delete("a") }, `{}`},
		{"deleting what is not there changes nothing", readItem(t, came), func(i *crawl.Item) error { return i.Delete("b") }, came},
		{"a deleted field that is set again goes to the end", readItem(t, came), func(i *crawl.Item) error {
			return cmpOr(i.Delete("z"), i.Set("z", nil))
		}, `{"a":1.10,"m":[1e5,{"k":0.0}],"z":null}`},
		{"a field's name is written as text", crawl.Item{}, set("a \"b\" <c>\n", 1), `{"a \"b\" <c>\n":1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			item, err := crawl.NewItem(test.from)
			if err != nil {
				t.Fatal(err)
			}
			if err := test.change(&item); err != nil {
				t.Fatal(err)
			}
			if got := written(t, item); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			// What was written reads back to the same.
			again := readItem(t, written(t, item))
			if _, err := again.Fields(); err != nil {
				t.Error(err)
			}
			if got := written(t, again); got != test.want {
				t.Errorf("read back: %s, want %s", got, test.want)
			}
		})
	}
}

func cmpOr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestItemGet(t *testing.T) {
	item := readItem(t, ` {"id":9007199254740993,"name":"x","none":null,"list":[1.50]} `)
	tests := []struct {
		name, field string
		want        any
		ok          bool
	}{
		{"a number keeps its digits", "id", json.Number("9007199254740993"), true},
		{"text is a string", "name", "x", true},
		{"null is there", "none", nil, true},
		{"a number in a list keeps its digits", "list", []any{json.Number("1.50")}, true},
		{"what is not there is told apart from null", "other", nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := item.Get(test.field)
			if diff := cmp.Diff(test.want, got); diff != "" || ok != test.ok {
				t.Errorf("there: %t, want %t; value (-want, +got):\n%s", ok, test.ok, diff)
			}
		})
	}
	fields, err := item.Fields()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"id", "name", "none", "list"}, names); diff != "" {
		t.Errorf("names (-want, +got):\n%s", diff)
	}
}

func TestAChangedCopyOfAnItemLeavesTheOtherAsItWas(t *testing.T) {
	const came = `{"a":1,"b":2}`
	changes := map[string]func(*crawl.Item) error{
		"set in place":  func(i *crawl.Item) error { return i.Set("a", 9) },
		"set at an end": func(i *crawl.Item) error { return i.Set("c", 9) },
		"delete":        func(i *crawl.Item) error { return i.Delete("a") },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			item := readItem(t, came)
			if _, err := item.Fields(); err != nil { // so that copies share what was read
				t.Fatal(err)
			}
			if err := item.Set("b", json.Number("2")); err != nil {
				t.Fatal(err)
			}
			other := item
			if err := change(&other); err != nil {
				t.Fatal(err)
			}
			if got := written(t, item); got != came {
				t.Errorf("the item that was copied is now %s, want %s", got, came)
			}
			if got := written(t, other); got == came {
				t.Error("the copy did not change")
			}
		})
	}
}

func TestAnItemDoesNotShareTheBytesItWasReadFrom(t *testing.T) {
	text := []byte(`{"a":1}`)
	var item crawl.Item
	if err := item.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	copy(text, `{"b":2}`)
	if got := written(t, item); got != `{"a":1}` {
		t.Errorf("the item is %s after its source was written over", got)
	}
}

func TestNewItemErrors(t *testing.T) {
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"nothing", nil, "is not a JSON object"},
		{"text", "x", "item of type string is not a JSON object; use a struct, a map or crawl.Item"},
		{"a number", 1, "item of type int is not"},
		{"a list", []int{1}, "item of type []int is not"},
		{"a nil pointer", (*struct{ A int })(nil), "is not a JSON object"},
		{"a nil pointer to an item", (*crawl.Item)(nil), "item of type *crawl.Item is not"},
		{"a nil map", map[string]int(nil), "item of type map[string]int is not"},
		{"what JSON has no word for", map[string]any{"c": make(chan int)}, "item of type map[string]interface {}: json: unsupported type: chan int"},
		{"a number that is none", struct{ F float64 }{math.NaN()}, "unsupported value: NaN"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := crawl.NewItem(test.value)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("err %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestItemErrors(t *testing.T) {
	for _, text := range []string{``, ` `, `null`, `[1]`, `"a"`, `1`} {
		var item crawl.Item
		if err := item.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("UnmarshalJSON(%q) gives no error", text)
		}
	}
	// Fields are read late, and so is what is wrong with them.
	var broken crawl.Item
	if err := broken.UnmarshalJSON([]byte(`{"a":1,"b":`)); err != nil {
		t.Fatal(err)
	}
	if _, ok := broken.Get("a"); ok {
		t.Error("Get finds a field of broken JSON")
	}
	if _, err := broken.Fields(); err == nil || !strings.Contains(err.Error(), "field b") {
		t.Errorf("Fields of broken JSON: err %v, want one that names field b", err)
	}
	if broken.Set("c", 1) == nil || broken.Delete("a") == nil {
		t.Error("broken JSON could be changed")
	}

	var item crawl.Item
	if err := item.Set("c", make(chan int)); err != nil {
		t.Fatal(err)
	}
	if _, err := item.MarshalJSON(); err == nil || !strings.Contains(err.Error(), "field c: ") {
		t.Errorf("MarshalJSON of a channel: err %v, want one that names field c", err)
	}
}
