package loader_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/loader"
)

type list = []any

type (
	named string
	yes   bool
)

func number(s string) json.Number { return json.Number(s) }

func TestProcessors(t *testing.T) {
	one := loader.NewProcessor("count", func(_ *loader.Context, v any) (any, error) { return len(v.([]any)), nil })
	toNil := loader.NewProcessor("nil", func(_ *loader.Context, v any) (any, error) { return nil, nil })
	orElse := loader.NewProcessor("or", func(_ *loader.Context, v any) (any, error) {
		if v == nil {
			return "else", nil
		}
		return v, nil
	})
	tests := []struct {
		name      string
		processor loader.Processor
		value     any
		want      any
	}{
		{"the zero processor does nothing", loader.Processor{}, list{"a"}, list{"a"}},
		{"identity", loader.Identity(), list{"a", nil}, list{"a", nil}},
		{"take_first passes over nothing and empty texts", loader.TakeFirst(), list{nil, "", "a", "b"}, "a"},
		{"take_first takes 0", loader.TakeFirst(), list{"", 0}, 0},
		{"take_first takes false", loader.TakeFirst(), list{false, true}, false},
		{"take_first takes an object", loader.TakeFirst(), list{map[string]any{}}, map[string]any{}},
		{"take_first of nothing", loader.TakeFirst(), list{}, nil},
		{"take_first of one value", loader.TakeFirst(), "a", "a"},
		{"join", loader.Join(" "), list{"a", "", "b"}, "a  b"},
		{"join keeps digits", loader.Join("|"), list{number("1.10"), uint64(18446744073709551615), 9007199254740993, 1.5, true}, "1.10|18446744073709551615|9007199254740993|1.5|true"},
		{"join of nothing", loader.Join(","), list{}, ""},
		{"join of one value", loader.Join(","), "ab", "ab"},
		{"compose hands on the whole value", loader.Compose(loader.Strip(), one), list{" a ", "b"}, 2},
		{"compose stops at nil", loader.Compose(toNil, orElse), list{"a"}, nil},
		{"compose that does not stop at nil", loader.ComposeThroughNil(toNil, orElse), list{"a"}, "else"},
		{"compose of nothing", loader.Compose(), list{"a"}, list{"a"}},
		{"map_compose spreads lists and leaves out nil", loader.MapCompose(loader.ForEach("f", func(_ *loader.Context, v any) (any, error) {
			switch v {
			case "none":
				return nil, nil
			case "two":
				return []string{"2a", "2b"}, nil
			}
			return v, nil
		}), loader.Upper()), list{"one", "none", "two"}, list{"ONE", "2A", "2B"}},
		{"map_compose of one value gives a list", loader.MapCompose(loader.Upper()), "a", list{"A"}},
		{"map_compose of nil", loader.MapCompose(loader.Upper()), nil, list{}},
		{"unique", loader.Unique(), list{"a", 1, "a", number("1"), list{"x"}, list{"x"}, map[string]any{"k": 1}, map[string]any{"k": 1}, nil, nil}, list{"a", 1, number("1"), list{"x"}, map[string]any{"k": 1}, nil}},
		{"unique of one value", loader.Unique(), "a", "a"},
		{"join of Go's own values", loader.Join(" "), list{int8(-1), uint(2), float32(1.25), time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC), time.Second, named("x"), yes(true)}, "-1 2 1.25 2026-05-03T00:00:00Z 1000000000 x true"},
		{"a function that reads texts passes over nothing", loader.Parse("n", strconv.Atoi), list{nil, "5"}, list{5}},
		{"re passes over nothing", loader.Re("."), list{nil, "a"}, list{"a"}},
		{"strip", loader.Strip(), list{"\n a b\u00a0", "", nil}, list{"a b", ""}},
		{"strip of characters", loader.Strip("\"“”"), "“a”", "a"},
		{"strip leaves numbers", loader.Strip(), list{number("9007199254740993"), true}, list{number("9007199254740993"), true}},
		{"strip of a list in a list", loader.Strip(), list{list{" a"}, " b"}, list{"a", "b"}},
		{"normalize_space", loader.NormalizeSpace(), " a\n\t b\u00a0 c ", "a b c"},
		{"lower and upper", loader.Compose(loader.Lower(), loader.Upper()), "Éa", "ÉA"},
		{"replace", loader.Replace(",", ""), list{"1,234", number("12")}, list{"1234", number("12")}},
		{"replace_re", loader.ReplaceRe(`(\d+) (?P<unit>\w+)`, "${unit} $1"), "10 kg", "kg 10"},
		{"re without groups", loader.Re(`\d+`), list{"a1b22", "none", "3"}, list{"1", "22", "3"}},
		{"re with groups", loader.Re(`(\w)=(\d)?`), "a=1 b=", list{"a", "1", "b", ""}},
		{"re with a group named extract", loader.Re(`(\w)=(?P<extract>\d)`), "a=1 b=2", list{"1"}},
		{"re of a number", loader.Re(`\d\d`), number("1234"), list{"12", "34"}},
		{"re replaces entities, and keeps those of markup", loader.Re(`.+`), "caf&eacute; &lt;b&gt; &amp; &amp;lt;", list{"café &lt;b> &amp; &amp;lt;"}},
		{"replace_entities", loader.ReplaceEntities(), "&lt;b&gt; &#233;", "<b> é"},
		{"remove_tags", loader.RemoveTags(), `<p class="a>b">x<!-- c --> &amp; <b>y</b><br/></p>`, "x &amp; y"},
		{"remove_tags of names", loader.RemoveTags("B", "br"), "<p>x<b>y</b><br/></p><!-- c -->", "<p>xy</p><!-- c -->"},
		{"remove_tags of a text with a sign", loader.RemoveTags(), "a < b", "a < b"},
		{"to_int", loader.ToInt(), list{" 12 ", "+5", "007", "-0", number("9007199254740993"), "18446744073709551615", "123456789012345678901234567890", number("12.0"), number("1e3"), 7}, list{number("12"), number("5"), number("7"), number("0"), number("9007199254740993"), number("18446744073709551615"), number("123456789012345678901234567890"), number("12"), number("1000"), number("7")}},
		{"to_float keeps digits", loader.ToFloat(), list{"1.10", ".5", "5.", "-007.50", "+1e5", "9007199254740993.1", number("1.10"), 2.5}, list{number("1.10"), number("0.5"), number("5"), number("-7.50"), number("1e5"), number("9007199254740993.1"), number("1.10"), number("2.5")}},
		{"to_bool", loader.ToBool(), list{"Yes", " no", "1", number("0"), true, "off"}, list{true, false, true, false, true, false}},
		{"to_time", loader.ToTime("2 January 2006", time.RFC3339), list{" 3 May 2026", "2026-05-03T10:00:00Z"}, list{time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC), time.Date(2026, 5, 3, 10, 0, 0, 0, time.UTC)}},
		{"select_jmes in objects", loader.SelectJMES("foo"), list{map[string]any{"foo": "bar"}, map[string]any{"baz": 1}, map[string]any{"foo": number("9007199254740993")}}, list{"bar", number("9007199254740993")}},
		{"select_jmes in a text that is JSON", loader.SelectJMES("id"), `{"id":9007199254740993,"x":1}`, number("9007199254740993")},
		{"select_jmes in a text that is none", loader.SelectJMES("id"), "no JSON", nil},
		{"select_jmes that gives a list", loader.SelectJMES("ids"), map[string]any{"ids": []int{1}}, list{number("1")}},
		{"select_jmes that gives lists in a list", loader.SelectJMES("[ids, *]"), map[string]any{"ids": []int{1}}, list{list{number("1")}, list{list{number("1")}}}},
		{"select_jmes with a star", loader.SelectJMES("*"), map[string]any{"b": 2, "a": 1}, list{number("1"), number("2")}},
		{"select_jmes in a struct", loader.SelectJMES("k"), struct {
			K float64 `json:"k"`
		}{1.5}, number("1.5")},
		{"select_jsonpath", loader.SelectJSONPath("$.a[*]"), map[string]any{"a": list{"x", true, nil}}, list{"x", true, nil}},
		{"select_jsonpath that finds a list", loader.SelectJSONPath("$.a"), map[string]any{"a": list{"x"}}, list{list{"x"}}},
		{"select_jsonpath that finds nothing", loader.SelectJSONPath("$.b"), map[string]any{"a": 1}, list{}},
		{"a function that reads texts", loader.Parse("url", url.Parse), "http://a.example/", &url.URL{Scheme: "http", Host: "a.example", Path: "/"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.processor.Process(nil, test.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrice(t *testing.T) {
	tests := []struct{ text, decimal, want string }{
		{"£51.77", "", "51.77"},
		{"£1,234.50", "", "1234.50"},
		{"1.234,50 €", "", "1234.50"},
		{"1 234,50 €", "", "1234.50"},
		{"1\u202f234\u202f567 kr", "", "1234567"},
		{"CHF 1'234.–", "", "1234"},
		{"1.234.567", "", "1234567"},
		{"12,- €", "", "12"},
		{"12,5", "", "12.5"},
		{"0.125", "", "0.125"},
		{"1234.567", "", "1234.567"},
		{"$.99", "", "0.99"},
		{"-£5", "", "-5"},
		{"\u22125 °C", "", "-5"},
		{"SKU-5", "", "5"},
		{"(3 reviews)", "", "3"},
		{"Total: 007.", "", "7"},
		{"9007199254740993", "", "9007199254740993"},
		{"1.10", "", "1.10"},
		{"1.234", ",", "1234"},
		{"1.234", ".", "1.234"},
		{"1,234", ".", "1234"},
		{"1,234", ",", "1.234"},
		{"EUR 1.234,50", ",", "1234.50"},
	}
	for _, test := range tests {
		got, err := loader.Price(test.decimal).Process(nil, test.text)
		if err != nil || got != number(test.want) {
			t.Errorf("price(%q) of %q: got %v (%v), want %s", test.decimal, test.text, got, err, test.want)
		}
	}
	for _, text := range []string{"", "call us", "-"} {
		if got, err := loader.Price("").Process(nil, text); got != nil || err != nil {
			t.Errorf("%q: got %v, %v, want nothing", text, got, err)
		}
	}
	if got, err := loader.Price("").Process(nil, list{"£1", "free", number("2.50")}); err != nil || !cmp.Equal(got, list{number("1"), number("2.50")}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestPriceRefusesWhatMayChangeTheNumber(t *testing.T) {
	for want, texts := range map[string][]string{
		"is a part of the number":   {"2½", "2 ½", "½", "€ 12⁹⁹", "Ⅳ 5"},
		"in brackets":               {"(5.00)", "$(5)", "($5.00)", "( 5.00 € )", "(EUR 5)", "USD (5.00)", "Total ($5.00)"},
		"which may be a minus":      {"5-", "5 -", "5- €", "5\u2212", "5 – USD", "—5", "–£5", "Change —5", "- 5", "— € 5"},
		"or one with a blank in it": {"5 200 g", "2 500ml", "1 250 kg.", "3 100 г"},
		"has more than one number":  {"2 for £5", "5 - 10", "5 20", "1/2", "1⁄2", "10% off 5"},
	} {
		for _, text := range texts {
			if got, err := loader.Price("").Process(nil, text); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: got %v, %v; want an error that has %q", text, got, err, want)
			}
		}
	}
	for text, want := range map[string]string{
		"Reviews (5)": "5", "(3 reviews)": "3", "(only 3)": "3", "€5/m²": "5", "5-pack": "5", "ISO-5": "5", "Price - £5": "5", "Price — £5": "5",
		"1 200 €": "1200", "1 200 kr": "1200", "1\u00a0200 g": "1200", "1 200,50 g": "1200.50", "-5 €": "-5", "12,- EUR": "12", "5 - in stock": "5",
	} {
		if got, err := loader.Price("").Process(nil, text); err != nil || got != number(want) {
			t.Errorf("%q: got %v (%v), want %s", text, got, err, want)
		}
	}
}

func TestErrorsOfProcessorsNameWhatIsWrong(t *testing.T) {
	tests := []struct {
		processor loader.Processor
		value     any
		want      string
	}{
		{loader.ToInt(), list{"1", "x2"}, `processor to_int of "x2": is no number; where something stands around it`},
		{loader.ToInt(), "abc", `processor to_int of "abc": is no number`},
		{loader.ToInt(), "", `processor to_int of "": is no number`},
		{loader.ToInt(), "1.5", `is no whole number`},
		{loader.ToInt(), number("1e999999999"), `is no whole number`},
		{loader.ToInt(), map[string]any{"a": 1}, `processor to_int of {"a":1}: is an object; a text or a number is needed`},
		{loader.ToFloat(), "1e", `is no number`},
		{loader.ToFloat(), "NaN", `is no number`},
		{loader.ToFloat(), "--5", `is no number`},
		{loader.ToFloat(), "1e--5", `is no number`},
		{loader.ToFloat(), "1.2.3", `is no number`},
		{loader.ToBool(), "maybe", `is none of true, yes`},
		{loader.ToTime("2006-01-02"), "3 May", `is no time as in ["2006-01-02"]`},
		{loader.Join(","), list{"a", nil}, `processor join of ["a",null]: value 2 is nothing`},
		{loader.Strip(), map[string]any{}, `is an object`},
		{loader.Price(""), "1.234", `"1.234" can be 1234 or 1.234; say which sign is before the fraction`},
		{loader.Price(""), "1,234", `"1,234" can be 1234 or 1.234`},
		{loader.Price("."), "12,50 €", `"12,50" is no number whose decimal sign is ".": thousands are parted in threes`},
		{loader.Price(","), "1,234,567", `"1,234,567" is no number whose decimal sign is ","`},
		{loader.Price(""), "1,2.3,4", `is no number`},
		{loader.Price(""), "2 for £5", `has more than one number; choose one with "re" first`},
		{loader.Price(""), "2 50 g", `has more than one number`},
		{loader.Price(""), "٣", `has digits other than 0 to 9`},
		{loader.Re("."), list{map[string]any{"a": 1}}, `processor re of {"a":1}: is an object`},
		{loader.Re("."), []byte("x"), `is a []uint8; a text or a number is needed`},
		{loader.AbsoluteURL(), map[string]any{}, `is an object`},
		{loader.AbsoluteURL(), "/x", `there is no page to resolve against`},
		{loader.MapCompose(loader.Strip(), loader.Compose(loader.ToInt())), list{" 1", "y"}, `processor to_int of "y": is no number`},
		{loader.Lower(), list{strings.Repeat("é", 500), map[string]any{"k": strings.Repeat("é", 500)}}, `éé…: is an object`},
		{loader.NewProcessor("odd", func(*loader.Context, any) (any, error) { return nil, errors.New("no") }), func() {}, `processor odd of a func(): no`},
		// Arguments that are wrong are told where the processor is used, at last.
		{loader.Re("("), "x", "processor re: regular expression \"(\""},
		{loader.Re("a(?=b)"), "x", "patterns are Go's: no lookahead"},
		{loader.ReplaceRe("[", ""), "x", "processor replace_re: regular expression"},
		{loader.Replace("", "x"), "x", `processor replace: "old" is empty`},
		{loader.Price(";"), "x", `processor price: decimal ";"; it is "." or ","`},
		{loader.SelectJMES("a["), "x", `processor select_jmes: jmespath selector "a["`},
		{loader.SelectJMES("0"), "x", `processor select_jmes: jmespath selector "0"`},
		{loader.SelectJSONPath("a["), "x", `processor select_jsonpath: jsonpath selector "a["`},
		{loader.SelectJMES("sum(@)"), list{map[string]any{"a": "b"}}, `processor select_jmes of {"a":"b"}: `},
		{loader.SelectJMES("a"), func() {}, `which is nothing in JSON`},
		{loader.Compose(loader.Re("(")), "x", `processor re: regular`},
		{loader.MapCompose(loader.Re("(")), "x", `processor re: regular`},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			got, err := test.processor.Process(nil, test.value)
			if err == nil || !strings.Contains(err.Error(), test.want) || got != nil {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestTheErrorOfAProcessorHasItsParts(t *testing.T) {
	_, err := loader.MapCompose(loader.ToInt()).Process(nil, list{"y"})
	var of *loader.Error
	if !errors.As(err, &of) || of.Processor != "to_int" || of.Value != "y" {
		t.Errorf("got %#v", err)
	}
	errSold := errors.New("sold")
	_, err = loader.Parse("sold", func(string) (int, error) { return 0, errSold }).Process(nil, "x")
	if !errors.Is(err, errSold) {
		t.Errorf("the cause of %v is lost", err)
	}
	if loader.Re("(").Err() == nil || loader.Re("a").Err() != nil {
		t.Error("Err does not tell wrong arguments")
	}
	if got := (loader.Processor{}).String(); got != "identity" {
		t.Errorf("the zero processor is %q", got)
	}
}

func TestAddressesAreResolvedOutsideOfALoaderToo(t *testing.T) {
	resolve := loader.AbsoluteURL()
	c := loader.NewContext(page())
	got, err := resolve.Process(c, list{"x", nil, "//other.example/y"})
	if diff := cmp.Diff(list{"http://shop.example/shop/x", "http://other.example/y"}, got); diff != "" || err != nil {
		t.Errorf("%v, mismatch (-want +got):\n%s", err, diff)
	}
	if _, err := resolve.Process(c, "http://[::x/"); err == nil || !strings.Contains(err.Error(), `processor absolute_url of "http://[::x/": `) {
		t.Errorf("got %v", err)
	}
	if v := c.Value("x"); v != nil {
		t.Errorf("got %v", v)
	}
}
