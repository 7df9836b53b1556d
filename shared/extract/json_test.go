package extract_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/extract"
)

const answer = `{
  "id": 9007199254740993, "price": 1.10, "count": 5, "big": 1e400, "none": null, "on": true,
  "html": "<ul><li>a</li><li class=x>b</li></ul>",
  "inner": "{\"n\": 12345678901234567890}",
  "list": [{"id": 9007199254740993, "p": 2.50}, {"id": 9007199254740992, "p": 1.00}, {"id": 7, "p": 10}],
  "map": {"b": {"v": 2}, "a": {"v": 1}, "c": {"v": 3}}
}`

func jsonDocument(body string) *extract.Document {
	return extract.NewDocument([]byte(body), "application/json", "http://example.com/api")
}

func TestJMESPath(t *testing.T) {
	for _, test := range []struct {
		expression string
		want       []string
	}{
		{"id", []string{"9007199254740993"}},
		{"price", []string{"1.10"}},
		{"none", []string{}},
		{"on", []string{"true"}},
		{"nothing", []string{}},
		{"list[].id", []string{"9007199254740993", "9007199254740992", "7"}},
		{"list[?id == `9007199254740993`].p", []string{"2.50"}},
		{"list[?id != `9007199254740993`].p", []string{"1.00", "10"}},
		{"list[?id > `9007199254740992`].p", []string{"2.50"}},
		{"list[?p >= `2.5`].p", []string{"2.50", "10"}},
		{"list[?p == `1`].id", []string{"9007199254740992"}},
		{"list[?p < `2`].p", []string{"1.00"}},
		{"sort_by(list, &p)[].p", []string{"1.00", "2.50", "10"}},
		{"sort_by(list, &id)[].id", []string{"7", "9007199254740992", "9007199254740993"}},
		{"list[].id", []string{"9007199254740993", "9007199254740992", "7"}}, // sorting has changed nothing
		{"max_by(list, &id).id", []string{"9007199254740993"}},
		{"min(list[].p)", []string{"1.00"}},
		{"max(list[].id)", []string{"9007199254740993"}},
		{"sort(list[].p)", []string{"1.00", "2.50", "10"}},
		{"sum(list[].p)", []string{"13.5"}},
		{"avg(list[].p)", []string{"4.5"}},
		{"ceil(price)", []string{"2"}},
		{"price + `1`", []string{"2.1"}},
		{"-price", []string{"-1.1"}},
		{"contains(list[].id, `9007199254740993`)", []string{"true"}},
		{"contains(list, `{\"id\": 7, \"p\": 10}`)", []string{"true"}},
		{"contains(list[].p, `3`)", []string{"false"}},
		{"type(id)", []string{"number"}},
		{"to_string(price)", []string{"1.10"}},
		{"to_string(list[1])", []string{`{"id":9007199254740992,"p":1.00}`}},
		{"to_number('1.50')", []string{"1.50"}},
		{"to_number('x')", []string{}},
		{"`1.10`", []string{"1.10"}},
		{"length(list)", []string{"3"}},
		{"map.*.v", []string{"1", "2", "3"}},
		{"keys(map)", []string{"a", "b", "c"}},
		{"values(map)[].v", []string{"1", "2", "3"}},
		{"items(map)[0]", []string{"a", `{"v":1}`}},
		{"list[0]", []string{`{"id":9007199254740993,"p":2.50}`}},
		{"big", []string{"1e400"}},
		{"big > `5`", []string{"true"}},
		{"list[?p > `2`] | [0].p", []string{"2.50"}},
	} {
		t.Run(test.expression, func(t *testing.T) {
			d := jsonDocument(answer)
			d.JMESPath("sort_by(list, &p)")
			got := d.JMESPath(test.expression)
			if diff := cmp.Diff(test.want, got.All()); diff != "" || got.Err() != nil {
				t.Errorf("(-want +got)\n%s%v", diff, got.Err())
			}
		})
	}
}

func TestJSONPath(t *testing.T) {
	for _, test := range []struct {
		expression string
		want       []string
	}{
		{"$.id", []string{"9007199254740993"}},
		{"$.list[*].p", []string{"2.50", "1.00", "10"}},
		{"$.list[?@.p > 1.5].id", []string{"9007199254740993", "7"}},
		{"$.list[?@.p == 1].id", []string{"9007199254740992"}},
		{"$..v", []string{"1", "2", "3"}},
		{"$.map[?@.v > 1].v", []string{"2", "3"}},
		{"$.map.*.v", []string{"1", "2", "3"}},
		{"$.list[::-1].p", []string{"10", "1.00", "2.50"}},
		{"$.list", []string{`[{"id":9007199254740993,"p":2.50},{"id":9007199254740992,"p":1.00},{"id":7,"p":10}]`}},
		{"$.nothing", []string{}},
	} {
		t.Run(test.expression, func(t *testing.T) {
			got := jsonDocument(answer).JSONPath(test.expression)
			if diff := cmp.Diff(test.want, got.All()); diff != "" || got.Err() != nil {
				t.Errorf("(-want +got)\n%s%v", diff, got.Err())
			}
		})
	}
}

func TestValuesAreWhatJSONHas(t *testing.T) {
	d := jsonDocument(answer)
	want := []any{map[string]any{"id": json.Number("7"), "p": json.Number("10")}}
	got := d.JMESPath("list[2:]").Values()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got[0].(map[string]any)["id"] = "changed"
	if again := d.JMESPath("list[2].id").Value(); again != json.Number("7") {
		t.Errorf("a changed value has changed the page: %v", again)
	}
	null := d.JSONPath("$.none")
	if null.Len() != 1 || null.Value() != nil || null.Get() != "" || null.GetOr("x") != "x" {
		t.Errorf("null: %d values, %v, %q, %q", null.Len(), null.Value(), null.Get(), null.GetOr("x"))
	}
	if v := d.JMESPath("nothing").Value(); v != nil {
		t.Errorf("of nothing: %v", v)
	}
}

func TestLanguagesChain(t *testing.T) {
	d := jsonDocument(answer)
	page := extract.NewDocument([]byte(`<script type="application/ld+json">{"name": "K", "offers": [{"price": 1.10}], "text": "<b>x</b>"}</script>`+
		`<a data-item='{"id": 9007199254740993}'>not JSON</a>`), "text/html", "http://example.com/")
	for _, test := range []struct {
		name string
		got  extract.Selection
		want []string
	}{
		{"CSS in JSON", d.JMESPath("html").CSS("li::text"), []string{"a", "b"}},
		{"XPath in JSON", d.JSONPath("$.html").XPath("//li[@class]/text()"), []string{"b"}},
		{"JSON in JSON", d.JMESPath("inner").JMESPath("n"), []string{"12345678901234567890"}},
		{"a part of a part", d.JMESPath("list").JSONPath("$.p"), []string{"2.50", "1.00", "10"}},
		{"JSON in a script", page.CSS("script::text").JMESPath("offers[].price"), []string{"1.10"}},
		{"JSON in an element", page.CSS("script").JMESPath("name"), []string{"K"}},
		{"JSON in an attribute", page.CSS("a::attr(data-item)").JMESPath("id"), []string{"9007199254740993"}},
		{"JSON in XPath's string", page.XPath("string(//script)").JSONPath("$.name"), []string{"K"}},
		{"HTML in JSON in HTML", page.CSS("script").JMESPath("text").CSS("b::text"), []string{"x"}},
		{"what is no JSON", page.CSS("a").JMESPath("name"), []string{}},
		{"elements of a number", d.JMESPath("count").CSS("li"), []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.got.All()); diff != "" || test.got.Err() != nil {
				t.Errorf("(-want +got)\n%s%v", diff, test.got.Err())
			}
		})
	}
}

func TestJSONThatIsAskedWrong(t *testing.T) {
	for _, test := range []struct {
		name string
		ask  func(d *extract.Document) extract.Selection
		want string
	}{
		{"a page that is no JSON", func(*extract.Document) extract.Selection {
			return extract.NewDocument([]byte("<p>"), "text/html", "").JMESPath("a")
		}, `jmespath selector "a": the page is no JSON: invalid character '<'`},
		{"an empty page", func(*extract.Document) extract.Selection { return jsonDocument("").JSONPath("$.a") }, "the page is no JSON: it is empty"},
		{"two values", func(*extract.Document) extract.Selection { return jsonDocument("{}{}").JSONPath("$.a") }, "something follows the value"},
		{"an expression of JMESPath", func(d *extract.Document) extract.Selection { return d.JMESPath("a[") }, `jmespath selector "a[": `},
		{"an unknown function", func(d *extract.Document) extract.Selection { return d.JMESPath("first(list)") }, "unknown function first()"},
		{"a wrong argument", func(d *extract.Document) extract.Selection { return d.JMESPath("abs(html)") }, `jmespath selector "abs(html)": invalid type`},
		{"what does not compare", func(d *extract.Document) extract.Selection { return d.JMESPath("sort([id, html])") }, "must all be numbers, or all strings"},
		{"an expression of JSONPath", func(d *extract.Document) extract.Selection { return d.JSONPath("list") }, `jsonpath selector "list": `},
		{"elements of an object", func(d *extract.Document) extract.Selection { return d.JMESPath("map").CSS("a") }, `css selector "a": it is asked of a JSON object or list`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.ask(jsonDocument(answer))
			if got.Err() == nil || !strings.Contains(got.Err().Error(), test.want) || got.Len() != 0 {
				t.Errorf("got %d values, %v; want %q", got.Len(), got.Err(), test.want)
			}
		})
	}
}

func TestJSONIsDecodedByThePagesEncoding(t *testing.T) {
	body, err := base64.StdEncoding.DecodeString("eyJhIjoiz/AifQ==") // {"a":"Пр"} in windows-1251
	if err != nil {
		t.Fatal(err)
	}
	d := extract.NewDocument(body, "application/json; charset=windows-1251", "")
	var v struct{ A string }
	if err := d.JSON(&v); err != nil || v.A != "Пр" || d.JMESPath("a").Get() != "Пр" {
		t.Errorf("got %+v, %q, %v", v, d.JMESPath("a").Get(), err)
	}
	var any map[string]any
	if err := jsonDocument(answer).JSON(&any); err != nil || any["id"] != json.Number("9007199254740993") {
		t.Errorf("got %v, %v", any["id"], err)
	}
	if err := jsonDocument("{").JSON(&any); err == nil {
		t.Error("a cut body is decoded without an error")
	}
}
