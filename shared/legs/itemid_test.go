package legs_test

import (
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
)

// identified is an item after the leg; nil if it was dropped.
func identified(t *testing.T, o legs.ItemID, item string) (*crawl.Item, error) {
	t.Helper()
	leg := bind(t, spider.Spider{Parse: nothing, Legs: []spider.Leg{o.Leg()}}).Legs[0]
	var it crawl.Item
	if err := json.Unmarshal([]byte(item), &it); err != nil {
		t.Fatal(err)
	}
	return leg.ProcessItem(t.Context(), nil, &it)
}

func guid(t *testing.T, o legs.ItemID, item string) string {
	t.Helper()
	it, err := identified(t, o, item)
	if err != nil {
		t.Fatal(err)
	}
	id, _ := it.Get("guid")
	s, _ := id.(string)
	return s
}

func TestItemIDsAreTheSameForTheSameFields(t *testing.T) {
	o := legs.ItemID{IDFieldsToHash: []string{"supplier", "sku"}}
	first := guid(t, o, `{"supplier":"Ada","sku":12.5,"price":1}`)
	if len(first) != 40 {
		t.Errorf("got %q, want 40 digits", first)
	}
	tests := []struct {
		name, item string
		same       bool
	}{
		{"another order", `{"sku":12.5,"supplier":"Ada"}`, true},
		{"zeros at the end", `{"supplier":"Ada","sku":12.50}`, true},
		{"an exponent", `{"supplier":"Ada","sku":1.25e1}`, true},
		{"an identifier of before", `{"guid":"old","supplier":"Ada","sku":12.5}`, true},
		{"another value", `{"supplier":"Ada","sku":12.51}`, false},
		{"a text is no number", `{"supplier":"Ada","sku":"12.5"}`, false},
		{"values that change places", `{"supplier":12.5,"sku":"Ada"}`, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := guid(t, o, test.item); (got == first) != test.same {
				t.Errorf("got %s, the first is %s", got, first)
			}
		})
	}
	backwards := legs.ItemID{IDFieldsToHash: []string{"sku", "supplier"}}
	equal(t, "the order of the option", guid(t, backwards, `{"supplier":"Ada","sku":12.5}`), first)
}

func TestItemIDsAreTheHashOfPlainJSON(t *testing.T) {
	text := "{\"name\":\"A & B <Söhne>\",\"price\":125e-1,\"stock\":1200}"
	want := fmt.Sprintf("%x", sha1.Sum([]byte(text)))
	equal(t, "guid", guid(t, legs.ItemID{}, `{"stock":12e2,"name":"A & B <Söhne>","price":12.50}`), want)
}

func TestItemIDNumbersAreOneHoweverTheyAreWritten(t *testing.T) {
	o := legs.ItemID{}
	for _, same := range [][]string{
		{"0", "-0", "0.0", "0e9", "-0.00e-3"},
		{"5", "5.0", "50e-1", "0.5e1"},
		{"-1200", "-12e2", "-1.2e+3", "-1200.000"},
		{"9007199254740993", "9007199254740993.0", "9.007199254740993e15"},
		{"1e21", "1000000000000000000000"},
		{"1e999999999999999999999", "10e999999999999999999998"},
		{"0.00001", "1e-5", "1E-05"},
	} {
		first := guid(t, o, `{"n":`+same[0]+`}`)
		for _, number := range same[1:] {
			equal(t, number, guid(t, o, `{"n":`+number+`}`), first)
		}
	}
	if guid(t, o, `{"n":9007199254740993}`) == guid(t, o, `{"n":9007199254740992}`) {
		t.Error("two numbers above 2^53 have one identifier")
	}
	// What travelled is json.Number, what did not is what Go has.
	leg := bind(t, spider.Spider{Parse: nothing, Legs: []spider.Leg{o.Leg()}}).Legs[0]
	item, err := crawl.NewItem(struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	if err := item.Set("n", 12.5); err != nil {
		t.Fatal(err)
	}
	fresh, err := leg.ProcessItem(t.Context(), nil, &item)
	if err != nil {
		t.Fatal(err)
	}
	id, _ := fresh.Get("guid")
	equal(t, "a float64", id, any(guid(t, o, `{"n":12.50}`)))
}

func TestItemIDHashesNestedFieldsWhateverTheirOrder(t *testing.T) {
	o := legs.ItemID{}
	equal(t, "nested", guid(t, o, `{"a":{"x":1,"y":[1.0,{"p":2,"q":3}]}}`), guid(t, o, `{"a":{"y":[1,{"q":3,"p":2.0}],"x":1}}`))
}

func TestItemIDOptions(t *testing.T) {
	const item = `{"a":1,"b":null}`
	two := []string{"a", "b"}
	sha256 := legs.ItemID{Hash: "sha256"}
	if got := guid(t, sha256, item); len(got) != 64 {
		t.Errorf("sha256 gave %q", got)
	}
	if _, err := identified(t, legs.ItemID{IDFieldsToHash: two}, item); err == nil {
		t.Error("a field that is missing is no error")
	}
	if it, err := identified(t, legs.ItemID{IDFieldsToHash: two, Missing: "drop"}, item); err != nil || it != nil {
		t.Errorf("drop: got %v, %v", it, err)
	}
	equal(t, "keep", guid(t, legs.ItemID{IDFieldsToHash: two, Missing: "keep"}, item), "")
	equal(t, "empty", guid(t, legs.ItemID{IDFieldsToHash: two, Missing: "empty"}, item), guid(t, legs.ItemID{IDFieldsToHash: two, Missing: "empty"}, `{"a":1}`))
	it, err := identified(t, legs.ItemID{IDField: "id"}, `{"a":1,"id":7,"z":2}`)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(it)
	equal(t, "the field keeps its place", string(text), `{"a":1,"id":"fb13e3a76a9883b04131dfe6de51eec484f833fb","z":2}`)
}

func TestItemIDMistakesAreToldAtOnce(t *testing.T) {
	wantMistakes(t, legs.ItemID{Hash: "md5", Missing: "skip", IDFieldsToHash: []string{"", "guid"}}.Leg(),
		`option hash: "md5" is not known; there are sha1, sha256`, `option missing: "skip" is not known; there are fail, drop, keep, empty`,
		"option id_fields_to_hash: an empty name", `option id_fields_to_hash: "guid" is id_field itself`)
}
