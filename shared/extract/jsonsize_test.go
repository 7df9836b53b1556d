package extract_test

import (
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/extract"
)

func TestJSONThatWouldFillTheMemoryIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without the race detector does it")
	}
	deep := func(n int) string { return strings.Repeat(`{"a":[`, n) + strings.Repeat("]}", n) }
	for _, test := range []struct {
		name, body, jsonpath string
		want                 string // "" if it is read
	}{
		{"empty objects", "[" + strings.Repeat("{},", 500_000) + "{}]", "$[0]", `jsonpath selector "$[0]": the page's JSON is too large: its values would take more than 200 MiB`},
		{"numbers", "[" + strings.Repeat("0,", 2_200_000) + "0]", "$[0]", "more than 200 MiB"},
		{"nesting", deep(300), "$.a", "the page's JSON is too large: it nests deeper than 512"},
		{"nesting of half that", deep(250), "$.a[0]", ""},
		{"brackets in a string", `{"a": "` + strings.Repeat(`{[\",`, 700_000) + `"}`, "$.a", ""},
		{"all values of a large one", "[" + strings.Repeat("0,", 1_000_000) + "0]", "$..*", "it finds more than 1000000 values"},
		{"the same a few times", "[" + strings.Repeat("[[0]],", 200_000) + "0]", "$..x..x..x..x..x", ""},
		{"a walk in walks", deep(250), "$..*..*..x", "it looks at more than 10000000 values"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := extract.NewDocument([]byte(test.body), "application/json", "").JSONPath(test.jsonpath).Err()
			if test.want == "" && err == nil || err != nil && test.want != "" && strings.Contains(err.Error(), test.want) {
				return
			}
			t.Errorf("got %v, want %q", err, test.want)
		})
	}
	page := extract.NewDocument([]byte("<script>["+strings.Repeat("{},", 500_000)+"{}]</script>"), "text/html", "")
	if err := page.CSS("script").JMESPath("[0]").Err(); err == nil || !strings.Contains(err.Error(), "the text is too large as JSON") {
		t.Errorf("in a script: %v", err)
	}
}
