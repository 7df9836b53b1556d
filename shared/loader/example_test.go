package loader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/loader"
	"github.com/skitterhq/skitter/shared/spider"
)

// The examples of docs/loaders.md, which has their code.

type Book struct {
	Title string      `json:"title"`
	Price json.Number `json:"price"`
	Stock int         `json:"stock"`
	Tags  []string    `json:"tags,omitempty"`
	Cover string      `json:"cover,omitempty"`
}

var books = loader.MustFor[Book](loader.Spec{
	In: loader.NormalizeSpace(),
	Fields: map[string]loader.Field{
		"price": {In: loader.Price("")},
		"stock": {In: loader.Price("")},
		"tags":  {In: loader.Compose(loader.Strip(), loader.Lower()), Out: loader.Unique()},
		"cover": {In: loader.AbsoluteURL()},
	},
})

func book(_ context.Context, page *spider.Page, out *spider.Output) error {
	l := books.New(page)
	l.AddCSS("title", "h1::text")
	l.AddCSS("price", "p.price::text")
	l.AddCSS("stock", "p.stock::text")
	l.AddCSS("tags", "li.tag::text")
	l.AddCSS("cover", "img::attr(src)")
	b, err := l.Load()
	if err != nil {
		return err
	}
	out.Item(b)
	return nil
}

const bookHTML = `<h1> The
 Raven </h1><p class=price>£1,234.50</p><p class=stock>In stock (22 available)</p>
<ul><li class=tag> Poetry<li class=tag>poetry<li class=tag>Birds</ul><img src=raven.jpg>`

func bookPage() *spider.Page {
	return spider.NewPage(&crawl.Response{
		URL: "https://books.example/raven/", Status: http.StatusOK, Body: []byte(bookHTML),
		Headers: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Request: &crawl.Request{URL: "https://books.example/raven/"},
	}, &spider.Spider{}, crawl.Job{}, nil)
}

func Example() {
	l := books.New(bookPage())
	l.AddCSS("title", "h1::text")
	l.AddCSS("price", "p.price::text")
	l.AddCSS("stock", "p.stock::text")
	l.AddCSS("tags", "li.tag::text")
	l.AddCSS("cover", "img::attr(src)")
	b, err := l.Load()
	fmt.Printf("%+v %v\n", b, err)
	// Output: {Title:The Raven Price:1234.50 Stock:22 Tags:[poetry birds] Cover:https://books.example/raven/raven.jpg} <nil>
}

// An item without a struct has its fields in the order in which they were first
// added.
func ExampleFor_item() {
	things := loader.MustFor[crawl.Item](loader.Spec{Out: loader.TakeFirst()})
	l := things.New(bookPage())
	l.AddCSS("title", "h1::text", loader.NormalizeSpace())
	l.AddCSS("price", "p.price::text", loader.Re(`[\d.,]+`))
	l.AddValue("id", json.Number("9007199254740993"))
	item, err := l.Load()
	raw, _ := item.MarshalJSON()
	fmt.Println(string(raw), err)
	// Output: {"title":"The Raven","price":"1,234.50","id":9007199254740993} <nil>
}

func ExampleLoader_NestedCSS() {
	doc := extract.NewDocument([]byte(`<footer><a class=social href=/f>f</a><a class=mail href=/m>m</a></footer>`), "", "https://books.example/")
	l := loader.MustFor[crawl.Item](loader.Spec{Out: loader.TakeFirst()}).New(doc)
	footer := l.NestedCSS("footer")
	footer.AddCSS("social", "a.social::attr(href)")
	footer.AddCSS("mail", "a.mail::attr(href)")
	item, err := l.Load()
	raw, _ := item.MarshalJSON()
	fmt.Println(string(raw), err)
	// Output: {"social":"/f","mail":"/m"} <nil>
}

// A processor of one's own is a function with a name.
func ExampleText() {
	noColon := loader.Text("no_colon", func(s string) string { return strings.TrimSuffix(s, ":") })
	labels := loader.MustFor[crawl.Item](loader.Spec{In: loader.Compose(loader.Strip(), noColon)})
	l := labels.New(nil)
	l.AddValue("label", []string{" Price: ", "Stock"})
	fmt.Println(l.GetCollectedValues("label"))
	// Output: [Price Stock]
}

// The context has values that processors can ask for.
func ExampleLoader_SetContext() {
	length := loader.ForEach("length", func(c *loader.Context, v any) (any, error) {
		return fmt.Sprintf("%v %v", v, c.Value("unit")), nil
	})
	lengths := loader.MustFor[crawl.Item](loader.Spec{In: length, Context: map[string]any{"unit": "m"}})
	l := lengths.New(nil)
	l.AddValue("length", 100)
	l.SetContext("unit", "cm")
	l.AddValue("length", 100)
	fmt.Println(l.GetCollectedValues("length"))
	// Output: [100 m 100 cm]
}

// Update begins with an item that an earlier page gave.
func ExampleType_Update() {
	l := books.Update(bookPage(), Book{Title: "Raven, The", Tags: []string{"classic"}})
	l.ReplaceCSS("title", "h1::text")
	l.AddCSS("tags", "li.tag::text")
	b, err := l.Load()
	fmt.Println(b.Title, b.Tags, err)
	// Output: The Raven [classic poetry birds] <nil>
}

// An error names the field, the processor and the value.
func ExampleError() {
	l := books.New(nil)
	l.AddValue("title", "The Raven")
	l.AddValue("price", "2 for £5")
	b, err := l.Load()
	fmt.Println(b.Title)
	fmt.Println(err)
	// Output:
	// The Raven
	// field price, input processor price of "2 for £5": has more than one number; choose one with "re" first
}

func ExampleNamed() {
	tidy, err := loader.FromValue([]any{"strip", map[string]any{"replace": []any{"_", " "}}, "take_first"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tidy.Process(nil, []any{" ", " a_b "}))
	_, err = loader.Named("joyn", ", ")
	fmt.Println(err)
	// Output:
	// a b <nil>
	// there is no processor "joyn"; there are absolute_url, compose, identity, join, lower, map_compose, normalize_space, price, re, remove_tags, replace, replace_entities, replace_re, select_jmes, select_jsonpath, strip, take_first, to_bool, to_float, to_int, to_time, unique, upper
}
