package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/loader"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

// Numbers that a float64 cannot hold, or writes in another way.
const numbers = `{"id":9007199254740993,"serial":18446744073709551615,"price":1.10,"list":[9007199254740993,1.10,1e2],"nested":{"id":9007199254740993}}`

// record is a struct of them.
type record struct {
	ID     int64       `json:"id"`
	Serial uint64      `json:"serial"`
	Price  json.Number `json:"price"`
	List   []any       `json:"list"`
	Nested struct {
		ID uint64 `json:"id"`
	} `json:"nested"`
}

// numbersProject has a spider that gives the numbers of a page in every way that
// an item can be made, on its second page those that its request brought.
func numbersProject(url string) project.Project {
	p := spiders.Project()
	p.Spiders = []spider.Spider{{
		Name: "numbers", StartURLs: []string{url},
		Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			var values crawl.Values
			if err := json.Unmarshal(page.Document().UTF8(), &values); err != nil {
				return err
			}
			out.Request(&crawl.Request{URL: url + "two", Callback: "carried", CBKwargs: values, Meta: crawl.Values{"id": values["id"]}})
			return give(out, "", values)
		},
		Callbacks: map[string]spider.Callback{"carried": func(_ context.Context, page *spider.Page, out *spider.Output) error {
			if err := give(out, "carried-", page.Request.CBKwargs); err != nil {
				return err
			}
			return give(out, "meta-", crawl.Values{"id": page.Request.Meta["id"]})
		}},
	}}
	p.Pipeline = func(project.Env) ([]pipeline.Step, error) {
		return []pipeline.Step{{Name: "Touch", Process: func(_ context.Context, _ pipeline.Key, item crawl.Item) (crawl.Item, error) {
			id, _ := item.Get("id")
			return item, item.Set("same", id)
		}}}, nil
	}
	return p
}

// give gives the values as a map, as a loaded item and as a loaded struct.
func give(out *spider.Output, by string, values crawl.Values) error {
	plain := values.Clone()
	plain["by"] = by + "map"
	out.Item(plain)

	item := loader.MustFor[crawl.Item](loader.Spec{Out: loader.TakeFirst(), Fields: map[string]loader.Field{"list": {Out: loader.Identity()}}}).New(nil)
	item.AddFields(values)
	item.AddValue("by", by+"item")
	loaded, err := item.Load()
	if err != nil {
		return err
	}
	out.Item(loaded)

	typed := loader.MustFor[record](loader.Spec{}).New(nil)
	typed.AddFields(values)
	r, err := typed.Load()
	if err != nil {
		return err
	}
	out.Item(r)
	return nil
}

func TestNumbersKeepTheirDigitsFromThePageToTheFeed(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, numbers)
	}))
	defer srv.Close()
	t.Chdir(t.TempDir())
	const items = 9
	for _, feed := range []struct {
		file string
		want map[string]int // how often a text stands there
	}{
		{"n.jsonl", map[string]int{`"id":9007199254740993,"same":9007199254740993`: items, `"serial":18446744073709551615`: 6, `"price":1.10`: 6, `"list":[9007199254740993,1.10,1e2]`: 6, `"nested":{"id":9007199254740993}`: 6}},
		{"n.json", map[string]int{`"id":9007199254740993,"same":9007199254740993`: items, `"serial":18446744073709551615`: 6, `"price":1.10`: 6, `"list":[9007199254740993,1.10,1e2]`: 6}},
		{"n.csv", map[string]int{`,9007199254740993,9007199254740993,`: items, `,18446744073709551615,1.10,"9007199254740993,1.10,1e2","{""id"":9007199254740993}"`: 6}},
	} {
		var said bytes.Buffer
		a := &app{stdout: &said, stderr: &said, project: numbersProject(srv.URL + "/")}
		code := a.run(t.Context(), []string{"crawl", "numbers", "-O", feed.file, "-s", "DOWNLOAD_DELAY=0", "-s", "FEED_EXPORT_FIELDS=by,id,same,serial,price,list,nested"})
		if code != 0 {
			t.Fatalf("exit code %d:\n%s", code, said.String())
		}
		text, err := os.ReadFile(feed.file)
		if err != nil {
			t.Fatalf("%v:\n%s", err, said.String())
		}
		for want, times := range feed.want {
			if got := strings.Count(string(text), want); got != times {
				t.Errorf("%s has %s %d times, want %d:\n%s", feed.file, want, got, times, text)
			}
		}
	}
}
