package pipelines_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/pipelines"
)

func TestRequireFields(t *testing.T) {
	tests := []struct {
		name, item string
		lacking    string // the field, "" if none is
	}{
		{"both are there", `{"name":"x","price":1}`, ""},
		{"more than both are there", `{"a":null,"price":1,"name":"x"}`, ""},
		{"zero and false are values", `{"name":0,"price":false}`, ""},
		{"a list and an object", `{"name":["x"],"price":{"a":null}}`, ""},
		{"one is not there", `{"name":"x"}`, "price"},
		{"one is null", `{"name":null,"price":1}`, "name"},
		{"one is empty", `{"name":"","price":1}`, "name"},
		{"one is blank", `{"name":" \n ","price":1}`, "name"},
		{"one is an empty list", `{"name":"x","price":[]}`, "price"},
		{"one is an empty object", `{"name":"x","price":{}}`, "price"},
		{"there is nothing", `{}`, "name"},
	}
	chain, err := pipeline.NewChain(pipelines.RequireFields("name", "price"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var item crawl.Item
			if err := json.Unmarshal([]byte(test.item), &item); err != nil {
				t.Fatal(err)
			}
			got, err := chain.Process(context.Background(), pipeline.Key{}, item)
			if out, _ := json.Marshal(got); string(out) != test.item {
				t.Errorf("the item became %s", out)
			}
			if test.lacking == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var drop *crawl.Drop
			if !errors.As(err, &drop) || drop.Reason != "missing-field" || !strings.Contains(err.Error(), "field "+test.lacking) {
				t.Errorf("got %v, want a drop that names %s", err, test.lacking)
			}
		})
	}
}

func TestRequireFieldsSeesWhatAStepBeforeItSet(t *testing.T) {
	var item crawl.Item
	if err := item.Set("tags", []string{}); err != nil {
		t.Fatal(err)
	}
	_, err := pipelines.RequireFields("tags").Process(context.Background(), pipeline.Key{}, item)
	var drop *crawl.Drop
	if !errors.As(err, &drop) {
		t.Errorf("got %v", err)
	}
}

func TestRequireFieldsOfAnItemThatIsBroken(t *testing.T) {
	var item crawl.Item
	if err := item.UnmarshalJSON([]byte(`{"a":`)); err != nil {
		t.Fatal(err)
	}
	_, err := pipelines.RequireFields("a").Process(context.Background(), pipeline.Key{}, item)
	var drop *crawl.Drop
	if err == nil || errors.As(err, &drop) {
		t.Errorf("got %v, want an error that is no drop", err)
	}
}
