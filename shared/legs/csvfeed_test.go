package legs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spider/spidertest"
)

func csvPage(body string) *spider.Page {
	page := newPage("http://shop.example/list.csv", body, nil)
	page.Headers.Set("Content-Type", "text/csv")
	return page
}

func withCSV(o legs.CSVFeed) spider.Spider { return spider.Spider{Legs: []spider.Leg{o.Leg()}} }

func TestCSVFeedMakesItemsOfColumns(t *testing.T) {
	tests := []struct {
		name, body string
		leg        legs.CSVFeed
		want       []string
		bad        int64
	}{
		{"all columns", "\ufeffid,name\n1,A\r\n2,B\r3,C", legs.CSVFeed{}, []string{`{"id":"1","name":"A"}`, `{"id":"2","name":"B"}`, `{"id":"3","name":"C"}`}, 0},
		{"fields", "id,full name,x\n1,A,9\n", legs.CSVFeed{Fields: map[string]string{"name": "full name", "a": "id"}}, []string{`{"a":"1","name":"A"}`}, 0},
		{"headers", "1,A\n", legs.CSVFeed{Headers: []string{"id", "name"}}, []string{`{"id":"1","name":"A"}`}, 0},
		{"delimiter and quotechar", "id;name\n1;'A;''B''\n\"C\"'\n", legs.CSVFeed{Delimiter: ";", Quotechar: "'"}, []string{`{"id":"1","name":"A;'B'\n\"C\""}`}, 0},
		{"tabs", "id\tname\n1\tA,B\n", legs.CSVFeed{Delimiter: `\t`}, []string{`{"id":"1","name":"A,B"}`}, 0},
		{"other characters", "id€name\n1€«A«\n", legs.CSVFeed{Delimiter: "€", Quotechar: "«"}, []string{`{"id":"1","name":"A"}`}, 0},
		{"quotes within and after", "id,name\n1,5\" x\n2,\"A\"B\n3,\"\"\n", legs.CSVFeed{}, []string{`{"id":"1","name":"5\" x"}`, `{"id":"2","name":"AB"}`, `{"id":"3","name":""}`}, 0},
		{"line ends in quotes, blank lines", "id,name\n\n1,\"A\r\nB\"\n\n\n2,B\n", legs.CSVFeed{}, []string{`{"id":"1","name":"A\r\nB"}`, `{"id":"2","name":"B"}`}, 0},
		{"rows that are too long or short", "id,name\n1\n2,B\n3,C,D\n4,E\n", legs.CSVFeed{}, []string{`{"id":"2","name":"B"}`, `{"id":"4","name":"E"}`}, 2},
		{"a quote that never closes", "id,name\n1,\"A\n2,B\n3,C\n", legs.CSVFeed{}, []string{`{"id":"2","name":"B"}`, `{"id":"3","name":"C"}`}, 1},
		{"a header whose quote never closes", "\"id\nid,name\n1,A\n", legs.CSVFeed{}, []string{`{"id":"1","name":"A"}`}, 1},
		{"a header twice", "id,id\n1,2\n", legs.CSVFeed{}, []string{`{"id":"2"}`}, 0},
		{"a header alone", "id,name\n", legs.CSVFeed{}, nil, 0},
		{"nothing", "\n\n", legs.CSVFeed{}, nil, 0},
		{"another encoding", "id,name\n1,\xcf\xf0\n", legs.CSVFeed{Encoding: "cp1251"}, []string{`{"id":"1","name":"Пр"}`}, 0},
		{"only", "id\n1\n", legs.CSVFeed{Only: legs.Only{URLs: []string{"/other"}}}, nil, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := read(t, withCSV(test.leg), csvPage(test.body))
			equal(t, "items", got.items, test.want)
			equal(t, "bad rows", got.stats["leg/csv_feed/bad_row_count"], test.bad)
		})
	}
}

func TestCSVFeedReadsWhatMayBeCSV(t *testing.T) {
	for _, test := range []struct {
		contentType, path, body string
		want                    int
	}{
		{"text/csv; charset=utf-8", "/x", "id\n1\n", 1},
		{"application/octet-stream", "/x", "id\n1\n", 1},
		{"text/plain", "/x", "id\n1\n", 1},
		{"", "/x", "id\n1\n", 1},
		{"application/zip", "/x.CSV?y", "id\n1\n", 1},
		{"text/html", "/x", "id\n1\n", 0},
		{"application/json", "/x", "id\n1\n", 0},
		{"", "/x", " <html>\n1\n", 0},
		{"text/plain", "/x", "{\n1\n", 0},
		{"text/plain", "/robots.txt", "id\n1\n", 0},
	} {
		page := newPage("http://shop.example"+test.path, test.body, nil)
		page.Headers.Set("Content-Type", test.contentType)
		equal(t, test.contentType+" "+test.path, len(read(t, withCSV(legs.CSVFeed{}), page).items), test.want)
	}
}

func TestCSVFeedCallsFunctions(t *testing.T) {
	o := legs.CSVFeed{
		AdaptResponse: func(page *spider.Page) ([]byte, error) { return page.Body[len("junk\n"):], nil },
		ParseRow: func(_ context.Context, _ *spider.Page, row map[string]string, out *spider.Output) error {
			if row["id"] == "2" {
				return errors.New("no two")
			}
			if row["id"] == "3" {
				panic("no three")
			}
			out.Follow("/p/"+row["id"], "")
			return nil
		},
		ProcessResults: func(_ *spider.Page, results spider.Results) spider.Results {
			return func(yield func(crawl.Result, error) bool) {
				for res, err := range results {
					if err == nil {
						res.Request.Priority = 5
					}
					if !yield(res, err) {
						return
					}
				}
			}
		},
	}
	got, err := tryRead(t, withCSV(o), newPage("http://shop.example/x", "junk\nid\n1\n2\n3\n4\n", nil))
	if err == nil || !strings.Contains(err.Error(), "no two") || !strings.Contains(err.Error(), "no three") {
		t.Errorf("error %v", err)
	}
	equal(t, "requests", got.urls(), []string{"http://shop.example/p/1", "http://shop.example/p/4"})
	equal(t, "priority", got.requests[0].Priority, 5)
}

func TestCSVFeedNamesAColumnThatIsMissing(t *testing.T) {
	_, err := tryRead(t, withCSV(legs.CSVFeed{Fields: map[string]string{"price": "Price"}}), csvPage("id,price\n1,2\n"))
	if err == nil || !strings.Contains(err.Error(), `field price: the file has no column "Price"; it has ["id" "price"]`) {
		t.Errorf("error %v", err)
	}
}

func TestCSVFeedMistakesAreToldAtOnce(t *testing.T) {
	wantMistakes(t, legs.CSVFeed{Delimiter: "ab", Quotechar: "\n", Encoding: "klingon", Headers: []string{"id"}, Fields: map[string]string{"a": "b"}}.Leg(),
		`option delimiter: "ab"`, "option quotechar", `option encoding: "klingon"`, `option fields.a: there is no column "b"; there are id`)
	wantMistakes(t, legs.CSVFeed{Delimiter: "'", Quotechar: "'"}.Leg(), "option quotechar: it is the delimiter, too")
}

func TestHostileCSVIsReadInOneGo(t *testing.T) {
	for name, body := range map[string]string{
		"quotes that never close": "id\n" + strings.Repeat("\"a\n", 1<<17) + "\"\"\"",
		"one line":                strings.Repeat("a,", 1<<17),
		"line ends":               strings.Repeat("\r", 1<<17),
	} {
		begin := time.Now()
		got := read(t, withCSV(legs.CSVFeed{Quotechar: `"`}), csvPage(body))
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s: %v, %d items", name, took, len(got.items))
		}
	}
}

func TestCSVFeedGolden(t *testing.T) {
	s := spider.Spider{Name: "stock", Legs: []spider.Leg{legs.CSVFeed{Delimiter: ";", Fields: map[string]string{"sku": "Artikel-Nr.", "name": "Bezeichnung"}}.Leg()}}
	spidertest.Golden(t, s, "", "https://stock.example/stock.csv", "testdata/stock.csv")
}

func TestCSVFeedCrawlsTheShop(t *testing.T) {
	got := crawlShop(t, 40, spider.Spider{
		StartURLs: []string{worldtest.Host + "/products.csv"},
		Legs:      []spider.Leg{legs.CSVFeed{}.Leg()},
	})
	equal(t, "items", len(got.Items), 40)
	equal(t, "an item", got.Items[7], `{"sku":"SKU-000007","name":"Product 7","price":"£14.59","description":"The \"Product 7\", only £14.59","url":"http://world.example/p/7"}`)
}

func FuzzCSV(f *testing.F) {
	f.Add("id,name\n1,\"A\nB\"\"\"\n2", ",", `"`)
	f.Add("a'b\n'c", "'", ";")
	f.Fuzz(func(t *testing.T, body, delimiter, quote string) {
		_, err := tryBind(withCSV(legs.CSVFeed{Delimiter: delimiter, Quotechar: quote}))
		if err != nil {
			return
		}
		_, _ = tryRead(t, withCSV(legs.CSVFeed{Delimiter: delimiter, Quotechar: quote}), csvPage(body))
	})
}

// fastest is the least time of three that a CSV file takes, with what was read
// of it. The machine may be busy, so one time says little.
func fastest(t *testing.T, body string) (time.Duration, output) {
	t.Helper()
	least, got := time.Hour, output{}
	for range 3 {
		begin := time.Now()
		got = read(t, withCSV(legs.CSVFeed{}), csvPage(body))
		least = min(least, time.Since(begin))
	}
	return least, got
}

func TestCSVFeedIsReadInLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without the race detector does it")
	}
	columns := func(n int) string {
		header, row := make([]string, n), strings.Repeat(",", n-1)
		for i := range header {
			header[i] = fmt.Sprint("c", i)
		}
		return strings.Join(header, ",") + strings.Repeat("\n"+row, 3)
	}
	for name, file := range map[string]func(n int) string{
		"columns":                      columns,
		"quotes that run to the end":   func(n int) string { return "a,b\n" + strings.Repeat("\"x\",\"y\n", n/2*2+1) },
		"a quote that never closes":    func(n int) string { return "a,b\n1,\"" + strings.Repeat("x,y\n", n) },
		"quotes in pairs, none closes": func(n int) string { return "a,b\n" + strings.Repeat("\"\"\"\",\n", n) + "\"" },
	} {
		t.Run(name, func(t *testing.T) {
			const n = 6000
			short, _ := fastest(t, file(n))
			long, _ := fastest(t, file(4*n))
			if long > 10*max(short, time.Millisecond) {
				t.Errorf("four times the file takes %v in place of %v", long, short)
			}
		})
	}
}

func TestQuotesThatNeverCloseAreTriedWithinABudget(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without the race detector does it")
	}
	for name, test := range map[string]struct {
		lines int
		least int64
		most  int64
	}{"a small file": {301, 301, 301}, "a large file": {1<<18 + 1, 1, 5}} {
		t.Run(name, func(t *testing.T) {
			got := read(t, withCSV(legs.CSVFeed{}), csvPage("a,b\n"+strings.Repeat("\"x\",\"y\n", test.lines)))
			if bad := got.stats["leg/csv_feed/bad_row_count"]; bad < test.least || bad > test.most {
				t.Errorf("%d rows are bad", bad)
			}
		})
	}
}
