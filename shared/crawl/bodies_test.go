package crawl_test

import (
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
)

func TestNewFormRequest(t *testing.T) {
	got := crawl.NewFormRequest("http://example.com/search", url.Values{"q": {"two words", "ü&="}, "a": {""}})
	want := &crawl.Request{
		URL: "http://example.com/search", Method: "POST", Body: []byte("a=&q=two+words&q=%C3%BC%26%3D"),
		Headers: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}

func TestNewJSONRequest(t *testing.T) {
	headers := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/javascript, */*; q=0.01"}}
	for name, test := range map[string]struct {
		value any
		want  crawl.Request
	}{
		"a body with its markup and digits as they are": {
			map[string]any{"b": "<a&b>", "a": int64(9007199254740993)},
			crawl.Request{Method: "POST", Body: []byte(`{"a":9007199254740993,"b":"<a&b>"}`)},
		},
		"nil is no body": {nil, crawl.Request{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := crawl.NewJSONRequest("http://example.com/api", test.value)
			if err != nil {
				t.Fatal(err)
			}
			test.want.URL, test.want.Headers = "http://example.com/api", headers
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewJSONRequestOfWhatIsNoJSON(t *testing.T) {
	_, err := crawl.NewJSONRequest("http://example.com/api", math.NaN())
	if err == nil || !strings.Contains(err.Error(), "http://example.com/api") || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("got %v", err)
	}
}
