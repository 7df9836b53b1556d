package loader_test

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/loader"
)

type maker struct {
	Name    string `json:"name"`
	Founded int    `json:"founded"`
}

type Dates struct {
	Added time.Time `json:"added"`
	Name  string    `json:"name"` // hidden by the product's
}

type product struct {
	Name    string          `json:"name"`
	ID      int64           `json:"id"`
	Serial  uint64          `json:"serial"`
	Price   json.Number     `json:"price"`
	Weight  float64         `json:"weight"`
	Stock   *int            `json:"stock"`
	Sold    bool            `json:"sold"`
	Tags    []string        `json:"tags"`
	Sizes   []int           `json:"sizes"`
	Maker   maker           `json:"maker"`
	Makers  []*maker        `json:"makers"`
	Extra   map[string]any  `json:"extra"`
	Any     any             `json:"any"`
	IP      netip.Addr      `json:"ip"`
	Big     *big.Int        `json:"big"`
	Wait    time.Duration   `json:"wait"`
	Pair    [2]float32      `json:"pair"`
	Raw     []byte          `json:"raw"`
	Small   int8            `json:"small"`
	JSON    json.RawMessage `json:"json"`
	Keys    map[int]string  `json:"keys"`
	Untold  string          // by its own name
	Ignored string          `json:"-"`
	private string
	*Dates
}

// anyProduct is a loader of products without processors.
var anyProduct = loader.MustFor[product](loader.Spec{})

func TestValuesGoIntoTheFieldsOfAStruct(t *testing.T) {
	five := 5
	tests := []struct {
		name  string
		field string
		value any
		want  product
	}{
		{"a text", "name", "Kettle", product{Name: "Kettle"}},
		{"the first of many, by default", "name", []string{"", "a", "b"}, product{Name: "a"}},
		{"a number into a text", "name", json.Number("1.10"), product{Name: "1.10"}},
		{"a text into an integer", "id", " 12 ", product{ID: 12}},
		{"2^53+1 as a text", "id", "9007199254740993", product{ID: 9007199254740993}},
		{"2^53+1 as a number", "id", json.Number("9007199254740993"), product{ID: 9007199254740993}},
		{"2^53+1 as an int", "id", 9007199254740993, product{ID: 9007199254740993}},
		{"2^64-1 as a text", "serial", "18446744073709551615", product{Serial: 18446744073709551615}},
		{"2^64-1 as a number", "serial", json.Number("18446744073709551615"), product{Serial: 18446744073709551615}},
		{"2^64-1 as a uint64", "serial", uint64(18446744073709551615), product{Serial: 18446744073709551615}},
		{"a whole number with a fraction of 0", "id", json.Number("12.0"), product{ID: 12}},
		{"1.10 stays 1.10", "price", "1.10", product{Price: "1.10"}},
		{"a json.Number is not touched", "price", json.Number("1.100e1"), product{Price: "1.100e1"}},
		{"a float", "weight", "1.5", product{Weight: 1.5}},
		{"a pointer", "stock", "5", product{Stock: &five}},
		{"a boolean", "sold", "True", product{Sold: true}},
		{"texts", "tags", []string{"a", "b"}, product{Tags: []string{"a", "b"}}},
		{"one text into texts", "tags", "a", product{Tags: []string{"a"}}},
		{"numbers into texts", "tags", list{json.Number("1.10"), 2}, product{Tags: []string{"1.10", "2"}}},
		{"integers", "sizes", []string{"1", "2"}, product{Sizes: []int{1, 2}}},
		{"an object", "maker", map[string]any{"name": "Smith", "founded": "1850", "other": true}, product{Maker: maker{"Smith", 1850}}},
		{"an item", "maker", crawl.Item{}, product{}},
		{"the struct itself", "maker", maker{"Smith", 1}, product{Maker: maker{"Smith", 1}}},
		{"a struct like it", "maker", struct {
			Name string `json:"name"`
		}{"Smith"}, product{Maker: maker{"Smith", 0}}},
		{"objects", "makers", list{map[string]any{"name": "a"}, maker{Name: "b"}}, product{Makers: []*maker{{Name: "a"}, {Name: "b"}}}},
		{"an object into a map", "extra", map[string]any{"n": json.Number("9007199254740993")}, product{Extra: map[string]any{"n": json.Number("9007199254740993")}}},
		{"whatever into any", "any", []string{"a"}, product{Any: list{"a"}}},
		{"a type that reads texts", "ip", "10.0.0.1", product{IP: netip.MustParseAddr("10.0.0.1")}},
		{"a number of any length", "big", "123456789012345678901234567890", product{Big: bigInt("123456789012345678901234567890")}},
		{"a duration", "wait", "1m30s", product{Wait: 90 * time.Second}},
		{"nanoseconds", "wait", json.Number("90"), product{Wait: 90}},
		{"an array", "pair", []string{"1.5", "2"}, product{Pair: [2]float32{1.5, 2}}},
		{"bytes of a text", "raw", "abc", product{Raw: []byte("abc")}},
		{"bytes", "raw", []byte("abc"), product{Raw: []byte("abc")}},
		{"nothing in a list is the zero value", "sizes", list{1, nil}, product{Sizes: []int{1, 0}}},
		{"JSON as it is", "json", map[string]any{"a": json.Number("1.10")}, product{JSON: json.RawMessage(`{"a":1.10}`)}},
		{"a field without a tag", "Untold", "x", product{Untold: "x"}},
		{"a field of an embedded struct", "added", "2026-05-03T10:00:00+02:00", product{Dates: &Dates{Added: time.Date(2026, 5, 3, 8, 0, 0, 0, time.UTC)}}},
		{"a time", "added", time.Unix(1, 0).UTC(), product{Dates: &Dates{Added: time.Unix(1, 0).UTC()}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := anyProduct.New(nil)
			l.AddValue(test.field, test.value)
			got, err := l.Load()
			if err != nil {
				t.Fatal(err)
			}
			compare := cmp.Options{
				cmp.AllowUnexported(product{}),
				cmp.Comparer(func(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
				cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
			}
			if diff := cmp.Diff(test.want, got, compare); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func bigInt(s string) *big.Int {
	n, _ := new(big.Int).SetString(s, 10)
	return n
}

func TestValuesThatDoNotFitSayWhy(t *testing.T) {
	tests := []struct {
		field string
		value any
		want  string
	}{
		{"id", "1,234", `field id, value "1,234": is no number; where something stands around it or between its digits, use "price"`},
		{"id", "9223372036854775808", `field id, value "9223372036854775808": does not fit into int64`},
		{"id", "1.5", `is no whole number`},
		{"id", json.Number("1e999999999"), `is no whole number`},
		{"serial", "-1", `does not fit into uint64`},
		{"small", 128, `field small, value 128: does not fit into int8`},
		{"weight", "1e999", `does not fit into float64`},
		{"weight", "NaN", `is no number`},
		{"price", "£5", `use "price"`},
		{"sold", "maybe", `is neither true nor false; "to_bool" reads yes and no, too`},
		{"sizes", list{1, "x"}, `field sizes, value [1,"x"]: value 2, "x": is no number`},
		{"name", map[string]any{"a": 1}, `field name, value {"a":1}: is an object, and the field is string`},
		{"maker", "Smith", `field maker, value "Smith": is a text, and the field is loader_test.maker`},
		{"maker", map[string]any{"founded": "x"}, `founded, "x": is no number`},
		{"ip", "10.0.0", `ParseAddr`},
		{"wait", "soon", `is no duration, such as "90s"`},
		{"pair", list{1}, `has 1 values, and the field takes 2`},
		{"added", "3 May 2026", `is no time as in ["2006-01-02T15:04:05Z07:00"] (layouts are Go's: 2006-01-02 15:04:05); name the field's Layouts`},
		{"stock", "x", `field stock, value "x": is no number`},
		{"stock", list{list{1}}, `is a list of one value, and the field is int`},
		{"json", func() {}, `unsupported type`},
		{"keys", map[string]any{"1": "x"}, `whose keys are no texts`},
		{"added", map[string]any{}, `is an object, and the field is time.Time`},
		{"nme", "x", `there is no field "nme" in loader_test.product; there are name, id, serial, price,`},
		{"Ignored", "x", `there is no field "Ignored"`},
		{"private", "x", `there is no field "private"`},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			l := anyProduct.New(nil)
			l.AddValue("Untold", "kept")
			l.AddValue(test.field, test.value)
			got, err := l.Load()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff(product{Untold: "kept"}, got, cmp.AllowUnexported(product{}, big.Int{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAListForOneValueSaysHowToMakeOne(t *testing.T) {
	products := loader.MustFor[product](loader.Spec{Out: loader.Identity()})
	l := products.New(nil)
	l.AddValue("name", []string{"a", "b"})
	_, err := l.Load()
	if err == nil || !strings.Contains(err.Error(), `is a list of 2 values, and the field is string; an output processor such as take_first or join makes one value of it`) {
		t.Errorf("got %v", err)
	}
}

func TestAFieldThatTheStructDoesNotHaveIsFoundWhenTheSpecIsMade(t *testing.T) {
	_, err := loader.For[maker](loader.Spec{Fields: map[string]loader.Field{"nam": {}, "Founded": {}}})
	for _, want := range []string{
		`there is no field "Founded" in loader_test.maker; there are name, founded`,
		`there is no field "nam" in loader_test.maker; there are name, founded`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %s: %v", want, err)
		}
	}
}

func TestLayoutsOfAField(t *testing.T) {
	products := loader.MustFor[product](loader.Spec{Fields: map[string]loader.Field{
		"added": {Layouts: []string{"2006-01-02", "2 Jan 2006"}},
	}})
	l := products.New(nil)
	l.AddValue("added", "3 May 2026")
	got, err := l.Load()
	if err != nil || !got.Added.Equal(time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("got %v, %v", got.Dates, err)
	}
}

func TestAStructThatIsThereIsTheBeginning(t *testing.T) {
	before := product{Name: "old", Tags: []string{"a"}, Weight: 1.5, Ignored: "kept", private: "kept"}
	l := anyProduct.Update(nil, before)
	l.AddValue("tags", "b")
	l.AddValue("name", "new") // behind the old name, so the first one stays
	l.AddValue("id", "7")     // 0 counts as not there
	got, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := product{Name: "old", Tags: []string{"a", "b"}, Weight: 1.5, Ignored: "kept", private: "kept", ID: 7}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(product{}, big.Int{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	if len(before.Tags) != 1 {
		t.Error("the item that was there was changed")
	}
}

func TestAnEmbeddedStructOfTheItemThatIsThereIsNotChanged(t *testing.T) {
	before := product{Dates: &Dates{Name: "inner"}}
	l := anyProduct.Update(nil, before)
	l.AddValue("added", "2026-05-03T10:00:00Z")
	got, err := l.Load()
	if err != nil || got.Added.IsZero() || got.Dates.Name != "inner" {
		t.Errorf("got %+v, %v", got.Dates, err)
	}
	if !before.Added.IsZero() {
		t.Error("the item that was there was changed")
	}
}

func TestMapsAreItems(t *testing.T) {
	before := map[string]any{"a": "1"}
	l := loader.MustFor[map[string]any](loader.Spec{Out: loader.TakeFirst()}).Update(nil, before)
	l.AddValue("b", json.Number("9007199254740993"))
	got, err := l.Load()
	if diff := cmp.Diff(map[string]any{"a": "1", "b": json.Number("9007199254740993")}, got); diff != "" || err != nil {
		t.Errorf("%v, mismatch (-want +got):\n%s", err, diff)
	}
	if len(before) != 1 {
		t.Error("the map that was there was changed")
	}
	values, err := loader.MustFor[crawl.Values](loader.Spec{}).New(nil).Load()
	if values == nil || len(values) != 0 || err != nil {
		t.Errorf("got %v, %v", values, err)
	}
	ints := loader.MustFor[map[string]int](loader.Spec{Out: loader.TakeFirst()}).New(nil)
	ints.AddValue("a", "5")
	ints.AddValue("b", "x")
	numbers, err := ints.Load()
	if !cmp.Equal(numbers, map[string]int{"a": 5}) || err == nil || !strings.Contains(err.Error(), `field b, value "x": is no number`) {
		t.Errorf("got %v, %v", numbers, err)
	}
}

func TestWhatIsWrongInAProgramPanicsWhenItStarts(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(p.(error).Error(), `there is no field "x"`) {
			t.Errorf("got %v", p)
		}
	}()
	loader.MustFor[maker](loader.Spec{Fields: map[string]loader.Field{"x": {}}})
}

func TestFieldsOfOtherObjectsAreAdded(t *testing.T) {
	l := loader.MustFor[maker](loader.Spec{}).New(nil)
	l.AddFields(map[string]any{"name": "Smith"})
	l.AddFields([]int{1})
	if _, err := l.GetOutputValue("x"); err == nil || !strings.Contains(err.Error(), `there is no field "x"`) {
		t.Errorf("got %v", err)
	}
	got, err := l.Load()
	if got.Name != "Smith" || err == nil || !strings.Contains(err.Error(), "item of type []int is not a JSON object") {
		t.Errorf("got %+v, %v", got, err)
	}
}
