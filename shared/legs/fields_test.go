package legs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
)

const fieldsPage = `<h1 class=name> Clog </h1><p class=price>Only £1,012.50!</p><p id=n>9007199254740993</p>
<ul><li class=tag>shoe<li class=tag>wood<li class=tag></ul><a href="/p/2">Next <b>one</b></a>
<div class=maker><span>Ada</span><i>Delft</i></div><div class=maker><span>Bo</span></div>`

// fieldsOf reads fields as YAML would have them.
func fieldsOf(t *testing.T, text string) legs.FieldList {
	t.Helper()
	var list legs.FieldList
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestFieldsMakeAnItemOfAPage(t *testing.T) {
	tests := []struct{ name, fields, want string }{
		{"a selector as text", `{"name": "h1::text"}`, `{"name":" Clog "}`},
		{"an element is its HTML", `{"maker": ".maker i"}`, `{"maker":"<i>Delft</i>"}`},
		{"text is what a reader sees", `{"next": {"css": "a", "type": "text"}}`, `{"next":"Next one"}`},
		{"fields keep their order", `{"z": "h1::text", "a": "i::text"}`, `{"z":" Clog ","a":"Delft"}`},
		{"all", `{"tags": {"css": "li.tag::text", "all": true}}`, `{"tags":["shoe","wood"]}`},
		{"the first that is not empty", `{"tag": {"css": "li.tag, i", "type": "text", "process": ["identity"]}}`, `{"tag":"shoe"}`},
		{"re", `{"price": {"css": ".price::text", "re": "[\\d,.]+"}}`, `{"price":"1,012.50"}`},
		{"re with groups", `{"p": {"css": ".price::text", "re": "(\\d),(\\d+)", "all": true}}`, `{"p":["1","012"]}`},
		{"process", `{"name": {"css": "h1::text", "process": ["strip", "upper"]}}`, `{"name":"CLOG"}`},
		{"process gets all values", `{"tags": {"css": "li.tag::text", "process": [{"join": "|"}]}}`, `{"tags":"shoe|wood"}`},
		{"int keeps its digits", `{"n": {"css": "#n::text", "type": "int"}}`, `{"n":9007199254740993}`},
		{"price", `{"p": {"css": ".price::text", "type": "price"}}`, `{"p":1012.50}`},
		{"url", `{"next": {"css": "a::attr(href)", "type": "url"}}`, `{"next":"http://a.example/p/2"}`},
		{"default", `{"name": "h1::text", "x": {"css": "h9", "default": "none"}}`, `{"name":" Clog ","x":"none"}`},
		{"missing is null, and [] with all", `{"name": "h1::text", "x": "h9", "y": {"css": "h9", "all": true}}`, `{"name":" Clog ","x":null,"y":[]}`},
		{"a field that is required and there", `{"name": {"css": "h1::text", "required": true}}`, `{"name":" Clog "}`},
		{"an object", `{"maker": {"css": ".maker", "fields": {"name": "span::text", "place": "i::text"}}}`, `{"maker":{"name":"Ada","place":"Delft"}}`},
		{"objects", `{"makers": {"css": ".maker", "all": true, "fields": {"name": "span::text", "place": "i::text"}}}`,
			`{"makers":[{"name":"Ada","place":"Delft"},{"name":"Bo","place":null}]}`},
		{"an object of what stands beside it", `{"about": {"fields": {"name": "h1::text"}}}`, `{"about":{"name":" Clog "}}`},
		{"no object", `{"name": "h1::text", "x": {"css": "h9", "fields": {"y": "i"}}}`, `{"name":" Clog ","x":null}`},
		{"what the page is", `{"url": {"from": "url"}, "s": {"from": "status"}, "d": {"from": "depth"}, "t": {"from": "header content-type"}, "m": {"from": "meta m"}, "k": {"from": "cb_kwargs k"}, "a": {"from": "arg a"}, "sp": {"from": "spider"}, "j": {"from": "job"}}`,
			`{"url":"http://a.example/p/1","s":200,"d":0,"t":"text/html; charset=utf-8","m":[1,2],"k":7,"a":null,"sp":"test","j":""}`},
		{"a value", `{"shop": {"value": ["a", 1.50]}}`, `{"shop":["a",1.50]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := spider.Spider{Legs: []spider.Leg{legs.Fields{Fields: fieldsOf(t, test.fields)}.Leg()}}
			req := crawl.Request{Meta: crawl.Values{"m": []int{1, 2}}, CBKwargs: crawl.Values{"k": json.Number("7")}}
			equal(t, "items", read(t, s, newPage("http://a.example/p/1", fieldsPage, &req)).items, []string{test.want})
		})
	}
}

func TestFieldsOfEachPart(t *testing.T) {
	leg := legs.Fields{Each: legs.CSS(".maker, h1"), OmitMissing: true, Fields: legs.FieldList{
		{Name: "name", CSS: "span::text"}, {Name: "place", CSS: "i::text"}, {Name: "page", From: "url"},
	}}
	s := spider.Spider{Legs: []spider.Leg{leg.Leg()}}
	equal(t, "a part in which nothing is found gives no item", read(t, s, newPage("http://a.example/", fieldsPage, nil)).items, []string{
		`{"name":"Ada","place":"Delft","page":"http://a.example/"}`, `{"name":"Bo","page":"http://a.example/"}`,
	})
}

func TestFieldsThatAreMissing(t *testing.T) {
	fields := legs.FieldList{{Name: "name", CSS: "span::text"}, {Name: "place", CSS: "i::text", Required: true}}
	leg := legs.Fields{Each: legs.CSS(".maker, h1"), Fields: fields}
	ada := []string{`{"name":"Ada","place":"Delft"}`}

	got := read(t, spider.Spider{Legs: []spider.Leg{leg.Leg()}}, newPage("http://a.example/", fieldsPage, nil))
	equal(t, "items", got.items, ada)
	equal(t, "count", got.stats["leg/fields/incomplete_count"], 1)

	leg.Incomplete = "fail"
	got, err := tryRead(t, spider.Spider{Legs: []spider.Leg{leg.Leg()}}, newPage("http://a.example/", fieldsPage, nil))
	equal(t, "items of a page that fails", got.items, ada)
	if err == nil || !strings.Contains(err.Error(), "leg fields: field place is required, and has no value") {
		t.Errorf("got %v", err)
	}

	s := spider.Spider{Legs: []spider.Leg{legs.Fields{Fields: fields, Incomplete: "fail"}.Leg()}}
	equal(t, "a page of another kind", len(read(t, s, newPage("http://a.example/", "<p>About us", nil)).items), 0)

	inner := legs.FieldList{{Name: "maker", CSS: ".maker", All: true, Fields: fields}}
	_, err = tryRead(t, spider.Spider{Legs: []spider.Leg{legs.Fields{Fields: inner, Incomplete: "fail"}.Leg()}}, newPage("http://a.example/", fieldsPage, nil))
	if err == nil || !strings.Contains(err.Error(), "in maker: field place is required") {
		t.Errorf("inside of an object: got %v", err)
	}
}

func TestFieldsThatDoNotFitLeaveTheirItemOut(t *testing.T) {
	leg := legs.Fields{Each: legs.CSS("li"), Fields: legs.FieldList{{Name: "n", CSS: "::text", Type: "int"}}}
	got, err := tryRead(t, spider.Spider{Legs: []spider.Leg{leg.Leg()}}, newPage("http://a.example/", `<li>1<li>two<li>3`, nil))
	equal(t, "items", got.items, []string{`{"n":1}`, `{"n":3}`})
	if err == nil || !strings.Contains(err.Error(), `leg fields: field n: processor to_int of "two"`) {
		t.Errorf("got %v", err)
	}
}

func TestXPathVariablesAreRefusedInEveryOption(t *testing.T) {
	with := legs.XPath("//a[@id=$x]")
	const xpath = "//a[@id=$x]"
	fields := legs.FieldList{{Name: "a", XPath: xpath}}
	links := extract.LinkOptions{RestrictXPaths: []string{xpath}}
	for option, leg := range map[string]legs.Builder{
		"each":                     legs.Fields{Each: with, Fields: legs.FieldList{{Name: "a", CSS: "b"}}},
		"fields.a":                 legs.Fields{Fields: fields},
		"fields.o.fields.a":        legs.Fields{Fields: legs.FieldList{{Name: "o", Fields: fields}}},
		"next":                     legs.Pagination{Next: with},
		"while":                    legs.Pagination{PageParam: "p", While: with},
		"until":                    legs.Pagination{PageParam: "p", Until: with},
		"restrict_xpaths":          legs.RegexLinks{LinkOptions: links},
		"rules[0].restrict_xpaths": legs.CrawlRules{Rules: []legs.Rule{{LinkOptions: links}}},
	} {
		wantMistakes(t, leg.Leg(), "option "+option, "variable $x has no value here")
	}
}

func TestAValueThatDoesNotFitIsToldBesideOneThatIsMissing(t *testing.T) {
	fields := legs.FieldList{{Name: "a", CSS: "b::text", Required: true}, {Name: "p", CSS: "i::text", Type: "int"}}
	const page = `<div><b>x</b><i>1</i></div><div><i>2</i></div><div><i>abc</i></div>`
	for name, leg := range map[string]legs.Fields{
		"a page":             {Each: legs.CSS("div"), Fields: fields},
		"an object":          {Fields: legs.FieldList{{Name: "o", Fields: fields}}},
		"objects":            {Fields: legs.FieldList{{Name: "o", CSS: "div", All: true, Fields: fields}}},
		"incomplete is fail": {Each: legs.CSS("div"), Fields: fields, Incomplete: "fail"},
	} {
		t.Run(name, func(t *testing.T) {
			html := page
			if name == "an object" {
				html = `<i>abc</i>`
			}
			_, err := tryRead(t, spider.Spider{Legs: []spider.Leg{leg.Leg()}}, newPage("http://a.example/", html, nil))
			if err == nil || !strings.Contains(err.Error(), `field p: processor to_int of "abc"`) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFieldsMistakesAreToldAtOnce(t *testing.T) {
	wantMistakes(t, legs.Fields{}.Leg(), "option fields: there are none")
	wantMistakes(t, legs.Fields{Each: legs.CSS("li["), Incomplete: "keep", Fields: legs.FieldList{
		{Name: "a", CSS: "["}, {Name: "b"}, {Name: "b", CSS: "i", From: "url"}, {Name: "c", CSS: "i", Re: "(", Type: "number"},
		{Name: "d", From: "header"}, {Name: "e", From: "page"}, {Name: "f", CSS: "i", Required: true, Default: 1},
		{Name: "g", Type: "int", Fields: legs.FieldList{{Name: "h", CSS: "["}}}, {CSS: "i"},
	}}.Leg(),
		"option each: css", `option incomplete: "keep" is not known; there are drop, fail`, "option fields.a: css", "option fields.b: it has no value",
		"option fields.b: there are two fields of that name", "option fields.b: its value comes from one place", "option fields.c.re: ",
		`option fields.c.type: "number" is not known; there are string, text, int,`, "option fields.d.from: header needs a name",
		`option fields.e.from: "page" is not known`, "option fields.f.required: a field with a default", "option fields.g: it is an object",
		"option fields.g.fields.h: css", "option fields: a field has no name")
	for text, want := range map[string]string{
		`{"a": {"csss": "i"}}`: `field a: json: unknown field "csss"`,
		`{"a": ""}`:            "field a: an empty selector",
		`["a"]`:                "fields are names with selectors",
		`{"a": {"css": "i", "process": ["stripp"]}}`: `field a: there is no processor "stripp"`,
	} {
		var list legs.FieldList
		if err := json.Unmarshal([]byte(text), &list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// typed makes a page of another Content-Type.
func typed(contentType, body string) *spider.Page {
	page := newPage("http://a.example/api?page=1", body, nil)
	page.Headers.Set("Content-Type", contentType)
	return page
}

func TestFieldsOfJSONAndXML(t *testing.T) {
	const answer = `{"total": 2, "books": [
		{"id": 9007199254740993, "title": "Emma", "price": 3.50, "tags": ["a", "b"], "about": "<p>By <b>Jane</b></p>", "sold": null},
		{"id": 2, "title": "Persuasion", "price": 4, "tags": [], "sold": true}]}`
	json := func(each legs.Selector, fields string) legs.Fields {
		return legs.Fields{Each: each, Fields: fieldsOf(t, fields)}
	}
	tests := []struct {
		name string
		leg  legs.Fields
		page *spider.Page
		want []string
	}{
		{"values keep their types and digits", json(legs.Selector{JMESPath: "books"}, `{"id": {"jmespath": "id"}, "price": {"jmespath": "price"}, "tags": {"jmespath": "tags", "all": true}, "sold": {"jmespath": "sold"}}`),
			typed("application/json", answer), []string{
				`{"id":9007199254740993,"price":3.50,"tags":["a","b"],"sold":null}`, `{"id":2,"price":4,"tags":[],"sold":true}`,
			}},
		{"JSONPath", json(legs.Selector{JSONPath: "$.books[?@.price < 4]"}, `{"title": {"jsonpath": "$.title"}}`), typed("application/json", answer), []string{`{"title":"Emma"}`}},
		{"an item of the whole answer", json(legs.Selector{}, `{"total": {"jmespath": "total", "type": "int"}, "first": {"jmespath": "books[0].title"}}`),
			typed("application/json", answer), []string{`{"total":2,"first":"Emma"}`}},
		{"HTML inside of JSON", json(legs.Selector{JMESPath: "books"}, `{"by": {"jmespath": "about", "fields": {"name": "b::text"}}}`), typed("application/json", answer), []string{`{"by":{"name":"Jane"}}`}},
		{"XML", json(legs.XPath("//book"), `{"id": {"xpath": "@id", "type": "int"}, "title": "title::text"}`),
			typed("application/xml", `<?xml version="1.0"?><books><book id="7"><title>Emma</title></book></books>`), []string{`{"id":7,"title":"Emma"}`}},
		{"a JSON path on a page of HTML finds nothing", json(legs.Selector{JMESPath: "books"}, `{"id": {"jmespath": "id"}}`), typed("text/html", "<p>Hello"), nil},
		{"CSS on a page of JSON finds nothing", json(legs.Selector{}, `{"name": "h1::text"}`), typed("application/json", answer), nil},
		{"and nothing on what is neither", json(legs.Selector{}, `{"name": "h1::text", "x": {"jmespath": "x"}}`), typed("image/png", "\x89PNG\r\n\x1a\n\x00\x00"), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			equal(t, "items", read(t, spider.Spider{Legs: []spider.Leg{test.leg.Leg()}}, test.page).items, test.want)
		})
	}
}
