package loader_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/loader"
)

const productPage = `<base href="/shop/"><h1> Kettle </h1><p class=price>£1,234.50</p>
<ul class=tags><li>red</li><li> steel </li><li>red</li></ul>
<div class=maker><b>Smith</b><a href="smith">more</a></div><img src="k.jpg"><img src="/l.jpg">`

func page() *extract.Document {
	return extract.NewDocument([]byte(productPage), "text/html; charset=utf-8", "http://shop.example/p/1")
}

// items is a loader of crawl.Items without processors.
var items = loader.MustFor[crawl.Item](loader.Spec{})

// asJSON is the item as it travels.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	item, err := crawl.NewItem(v)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := item.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestLoader(t *testing.T) {
	strip := loader.Spec{In: loader.Strip(), Out: loader.TakeFirst()}
	tests := []struct {
		name string
		spec loader.Spec
		fill func(l *loader.Loader[crawl.Item])
		want string
	}{
		{"without processors every field is a list", loader.Spec{}, func(l *loader.Loader[crawl.Item]) {
			l.AddCSS("name", "h1::text")
			l.AddValue("tags", []string{"a", "b"})
			l.AddValue("tags", "c")
		}, `{"name":[" Kettle "],"tags":["a","b","c"]}`},
		{"default processors", strip, func(l *loader.Loader[crawl.Item]) {
			l.AddCSS("name", "h1::text")
			l.AddCSS("name", "li::text")
		}, `{"name":"Kettle"}`},
		{"a field's processors go before the defaults", loader.Spec{
			In: loader.Strip(), Out: loader.TakeFirst(),
			Fields: map[string]loader.Field{"tags": {In: loader.Upper(), Out: loader.Join("|")}},
		}, func(l *loader.Loader[crawl.Item]) {
			l.AddCSS("name", "h1::text")
			l.AddCSS("tags", "li::text")
		}, `{"name":"Kettle","tags":"RED| STEEL |RED"}`},
		{"identity where a default is not wanted", loader.Spec{
			Out:    loader.TakeFirst(),
			Fields: map[string]loader.Field{"tags": {Out: loader.Identity()}},
		}, func(l *loader.Loader[crawl.Item]) { l.AddValue("tags", "a") }, `{"tags":["a"]}`},
		{"fields stand in the order in which they were first added", strip, func(l *loader.Loader[crawl.Item]) {
			l.AddValue("z", 1)
			l.AddValue("a", 2)
			l.ReplaceValue("z", 3)
		}, `{"z":3,"a":2}`},
		{"processors of a call go first", loader.Spec{In: loader.ForEach("mark", func(_ *loader.Context, v any) (any, error) { return "<" + v.(string) + ">", nil })}, func(l *loader.Loader[crawl.Item]) {
			l.AddCSS("price", "p.price::text", loader.Re(`[\d.,]+`), loader.TakeFirst())
		}, `{"price":["<1,234.50>"]}`},
		{"replace", loader.Spec{}, func(l *loader.Loader[crawl.Item]) {
			l.AddValue("name", "old")
			l.ReplaceCSS("name", "h1::text", loader.Strip())
			l.AddValue("name", "new")
		}, `{"name":["Kettle","new"]}`},
		{"nothing replaces nothing, and an empty list does", loader.Spec{}, func(l *loader.Loader[crawl.Item]) {
			l.AddValue("a", "old")
			l.ReplaceValue("a", nil)
			l.AddValue("b", "old")
			l.ReplaceCSS("b", "h6")
		}, `{"a":["old"],"b":[]}`},
		{"nothing is stored of empty results, and 0 and false are values", strip, func(l *loader.Loader[crawl.Item]) {
			l.AddValue("nil", nil)
			l.AddValue("list", []string{})
			l.AddCSS("css", "h6")
			l.AddValue("zero", 0)
			l.AddValue("false", false)
			l.AddValue("filtered", "x", loader.Re(`\d`))
		}, `{"zero":0,"false":false}`},
		{"an output of nil leaves the field unset", strip, func(l *loader.Loader[crawl.Item]) {
			l.AddValue("blank", " ")
			l.AddValue("name", "x")
		}, `{"name":"x"}`},
		{"an input processor that gives one value", loader.Spec{In: loader.TakeFirst()}, func(l *loader.Loader[crawl.Item]) {
			l.AddValue("a", []string{"x", "y"})
			l.AddValue("a", []int{0, 1})
		}, `{"a":["x",0]}`},
		{"addresses", strip, func(l *loader.Loader[crawl.Item]) {
			l.AddCSS("more", "div a::attr(href)", loader.AbsoluteURL())
			l.AddValue("image", "k.jpg", loader.AbsoluteURL())
		}, `{"more":"http://shop.example/shop/smith","image":"http://shop.example/shop/k.jpg"}`},
		{"nested loaders fill the same item", strip, func(l *loader.Loader[crawl.Item]) {
			maker := l.NestedCSS("div.maker")
			maker.AddCSS("maker", "b::text")
			maker.NestedCSS("a").AddCSS("link", "::attr(href)", loader.AbsoluteURL())
			maker.AddCSS("name", "h1::text")
			l.AddCSS("name", "h1::text")
		}, `{"maker":"Smith","link":"http://shop.example/shop/smith","name":"Kettle"}`},
		{"compiled selectors", strip, func(l *loader.Loader[crawl.Item]) {
			l.AddQuery("name", extract.MustCSS("li::text"))
			l.ReplaceQuery("name", extract.MustCSS("h1::text"))
			l.NestedQuery(extract.MustCSS("div")).AddQuery("maker", extract.MustCSS("b::text"))
		}, `{"name":"Kettle","maker":"Smith"}`},
		{"XPath", strip, func(l *loader.Loader[crawl.Item]) {
			l.AddXPath("name", "//li/text()")
			l.ReplaceXPath("name", "//h1/text()")
			l.NestedXPath("//div[has-class('maker')]").AddXPath("maker", "./b/text()")
			l.AddXPath("items", "count(//li)")
			l.AddValue("second", page().XPathWith("//li[$n]/text()", map[string]any{"n": 2}))
		}, `{"name":"Kettle","maker":"Smith","items":"3","second":"steel"}`},
		{"a selection as a value has its own page", strip, func(l *loader.Loader[crawl.Item]) {
			other := extract.NewDocument([]byte("<a href=x>"), "text/html", "http://other.example/")
			l.AddValue("link", other.CSS("a::attr(href)"))
			l.AddValue("none", other.CSS("b"))
		}, `{"link":"x"}`},
		{"many fields at once", strip, func(l *loader.Loader[crawl.Item]) {
			l.AddFields(map[string]any{"b": []string{"x"}, "a": json.Number("9007199254740993")})
			l.AddFields(struct {
				C string `json:"c"`
			}{" y "})
			l.ReplaceFields(map[string]any{"b": "z"})
		}, `{"a":9007199254740993,"b":"z","c":"y"}`},
		{"objects are values", loader.Spec{}, func(l *loader.Loader[crawl.Item]) {
			l.AddValue("o", map[string]any{"k": 1})
			l.AddValue("o", []map[string]any{{"k": 2}})
			l.AddValue("raw", json.RawMessage(`[1]`))
			l.AddValue("bytes", []byte("x"))
		}, `{"o":[{"k":1},{"k":2}],"raw":[[1]],"bytes":["eA=="]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			products, err := loader.For[crawl.Item](test.spec)
			if err != nil {
				t.Fatal(err)
			}
			l := products.New(page())
			test.fill(l)
			item, err := l.Load()
			if err != nil {
				t.Fatal(err)
			}
			if got := asJSON(t, item); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestGettersStoreNothing(t *testing.T) {
	l := items.New(page())
	v, err := l.GetValue("name: foo", loader.Re("name: (.+)"), loader.TakeFirst(), loader.Upper())
	if v != "FOO" || err != nil {
		t.Errorf("GetValue: got %v, %v", v, err)
	}
	if v, err = l.GetValue(nil, loader.Upper()); v != nil || err != nil {
		t.Errorf("GetValue of nothing: got %v, %v", v, err)
	}
	if v, err = l.GetCSS("h1::text", loader.TakeFirst(), loader.Strip()); v != "Kettle" || err != nil {
		t.Errorf("GetCSS: got %v, %v", v, err)
	}
	if v, err = l.GetXPath("//h1/text()", loader.Strip()); !cmp.Equal(v, list{"Kettle"}) || err != nil {
		t.Errorf("GetXPath: got %v, %v", v, err)
	}
	if v, err = l.GetQuery(extract.MustCSS("li::text")); !cmp.Equal(v, list{"red", " steel ", "red"}) || err != nil {
		t.Errorf("GetQuery: got %v, %v", v, err)
	}
	if _, err = l.GetValue("x", loader.ToInt()); err == nil || err.Error() != `processor to_int of "x": is no number` {
		t.Errorf("got %v", err)
	}
	if _, err = l.GetCSS("h1["); err == nil {
		t.Error("a selector that is wrong was taken")
	}
	item, err := l.Load()
	if got := asJSON(t, item); got != `{}` || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestWhatIsCollectedCanBeSeen(t *testing.T) {
	products := loader.MustFor[crawl.Item](loader.Spec{In: loader.Strip(), Out: loader.Join("+")})
	l := products.New(page())
	l.AddValue("name", []string{" a ", "b"})
	if got := l.GetCollectedValues("name"); !cmp.Equal(got, list{"a", "b"}) {
		t.Errorf("got %v", got)
	}
	if got := l.GetCollectedValues("other"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if got, err := l.GetOutputValue("name"); got != "a+b" || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := l.GetOutputValue("other"); got != "" || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	l.AddValue("name", "c")
	if item, err := l.Load(); asJSON(t, item) != `{"name":"a+b+c"}` || err != nil {
		t.Errorf("got %s, %v", asJSON(t, item), err)
	}
}

func TestAnItemThatIsThereIsTheBeginning(t *testing.T) {
	before := crawl.Item{}
	for _, f := range []crawl.Field{{Name: "id", Value: json.Number("9007199254740993")}, {Name: "tags", Value: list{" a"}}, {Name: "none", Value: nil}} {
		if err := before.Set(f.Name, f.Value); err != nil {
			t.Fatal(err)
		}
	}
	products := loader.MustFor[crawl.Item](loader.Spec{
		In: loader.Strip(), Out: loader.TakeFirst(),
		Fields: map[string]loader.Field{"tags": {Out: loader.Identity()}},
	})
	l := products.Update(page(), before)
	l.AddValue("tags", " b ")
	l.AddValue("id", "2")
	l.AddCSS("name", "h1::text")
	item, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	if got := asJSON(t, item); got != `{"id":9007199254740993,"tags":[" a","b"],"none":null,"name":"Kettle"}` {
		t.Errorf("got %s", got)
	}
	if got := asJSON(t, before); got != `{"id":9007199254740993,"tags":[" a"],"none":null}` {
		t.Errorf("the item that was there is now %s", got)
	}
}

func TestContextReachesProcessors(t *testing.T) {
	unit := loader.ForEach("unit", func(c *loader.Context, v any) (any, error) {
		if c.Document() == nil {
			return nil, errors.New("no page")
		}
		return c.Field + ":" + v.(string) + c.Value("unit").(string), nil
	})
	products := loader.MustFor[crawl.Item](loader.Spec{In: unit, Out: loader.TakeFirst(), Context: map[string]any{"unit": "cm"}})
	l := products.New(page())
	l.AddValue("a", "1")
	l.SetContext("unit", "mm")
	nested := l.NestedCSS("ul")
	nested.SetContext("unit", "km")
	l.AddValue("b", "2")
	nested.AddValue("c", "3")
	products.New(page()).AddValue("a", "1") // another loader has the Spec's own
	item, err := l.Load()
	if got := asJSON(t, item); got != `{"a":"a:1cm","b":"b:2mm","c":"c:3km"}` || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestErrorsNameFieldProcessorAndValue(t *testing.T) {
	products := loader.MustFor[crawl.Item](loader.Spec{Out: loader.TakeFirst(), Fields: map[string]loader.Field{
		"price": {In: loader.MapCompose(loader.Strip(), loader.ToFloat())},
		"count": {Out: loader.Compose(loader.TakeFirst(), loader.ToInt())},
	}})
	l := products.New(page())
	l.AddValue("price", " 12,50 ")
	l.AddValue("count", "many")
	l.AddValue("name", "x", loader.Re("("))
	l.AddValue("year", "x", loader.ToInt())
	l.AddCSS("css", "h1[")
	l.NestedCSS("h1[").AddCSS("nested", "b")
	l.AddValue("good", "yes")
	item, err := l.Load()
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, want := range []string{
		`field price, input processor to_float of "12,50": is no number; where something stands around it or between its digits, use "price"`,
		`field count, output processor to_int of "many": is no number`,
		`field name: processor re: regular expression "("`,
		`field year, processor to_int of "x": is no number`,
		`field css: css selector "h1["`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %s:\n%v", want, err)
		}
	}
	if got := asJSON(t, item); got != `{"good":"yes"}` {
		t.Errorf("with an error the item has %s", got)
	}
	var of *loader.Error
	if !errors.As(err, &of) || of.Field != "price" || of.Value != "12,50" {
		t.Errorf("got %#v", of)
	}
	if l := items.New(page()); l != nil {
		for range 1000 {
			l.AddValue("n", "x", loader.ToInt())
		}
		if _, err := l.Load(); strings.Count(err.Error(), "\n") != 19 {
			t.Errorf("got %d errors, want 20", strings.Count(err.Error(), "\n")+1)
		}
	}
}

func TestASpecIsCheckedWhenItIsMade(t *testing.T) {
	wrong := loader.Spec{Fields: map[string]loader.Field{
		"a": {In: loader.Re("(")}, "b": {Out: loader.Price("x")},
	}, Out: loader.Replace("", "")}
	_, err := loader.For[crawl.Item](wrong)
	for _, want := range []string{"loader for crawl.Item: ", "field a: processor re: ", "field b: processor price: ", "processor replace: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	if _, err := loader.For[string](loader.Spec{}); err == nil || !strings.Contains(err.Error(), "an item is a struct, a crawl.Item or a map") {
		t.Errorf("got %v", err)
	}
	if _, err := loader.For[map[int]string](loader.Spec{}); err == nil {
		t.Error("a map with keys that are no texts was taken")
	}
}
