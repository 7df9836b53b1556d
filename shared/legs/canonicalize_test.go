package legs_test

import (
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
)

func TestCanonicalizeRules(t *testing.T) {
	tests := []struct{ rule, url, want string }{
		{"canonical", "http://a.example/x?b=2&a=1&c#frag", "http://a.example/x?a=1&b=2&c="},
		{"canonical", "http://a.example/%7ex/%2f", "http://a.example/~x/%2F"},
		{"sort_query", "http://a.example/x?b=2&a=%7e&&a=1&c#frag", "http://a.example/x?a=1&a=%7e&b=2&c#frag"},
		{"normalize_escapes", "http://a.example/%7ex%2f?q=%c3%a9%41#%7e", "http://a.example/~x%2F?q=%C3%A9A#%7e"},
		{"drop_fragment", "http://a.example/x?a=1#frag", "http://a.example/x?a=1"},
		{"drop_query", "http://a.example/x?a=1#frag", "http://a.example/x#frag"},
		{"drop_empty_params", "http://a.example/x?a=&b=1&c&=", "http://a.example/x?b=1"},
		{"drop_repeated_params", "http://a.example/x?a=1&a=2&a=%31", "http://a.example/x?a=1&a=2"},
		{"drop_tracking_params", "http://a.example/x?utm_source=n&id=1&UTM_x=2&gclid=3", "http://a.example/x?id=1"},
		{"drop_session_ids", "http://a.example/x;jsessionid=A1B2?PHPSESSID=1&id=2&sid=3", "http://a.example/x?id=2"},
		{"drop_user", "http://me:secret@a.example:8080/x", "http://a.example:8080/x"},
		{"drop_www", "http://www.a.example:81/x", "http://a.example:81/x"},
		{"drop_www", "http://www.example/x", "http://www.example/x"},
		{"https", "http://a.example/x", "https://a.example/x"},
		{"https", "http://a.example:8080/x", "http://a.example:8080/x"},
		{"lower_path", "http://a.example/A/%C3%A9B?Q=1", "http://a.example/a/%C3%A9b?Q=1"},
		{"collapse_slashes", "http://a.example//x///y?u=//z", "http://a.example/x/y?u=//z"},
		{"drop_index", "http://a.example/x/Index.HTML?a=1", "http://a.example/x/?a=1"},
		{"drop_index", "http://a.example/reindex.html", "http://a.example/reindex.html"},
		{"add_trailing_slash", "http://a.example/x/y?a=1", "http://a.example/x/y/?a=1"},
		{"add_trailing_slash", "http://a.example/x/y.html", "http://a.example/x/y.html"},
		{"drop_trailing_slash", "http://a.example/x/?a=1", "http://a.example/x?a=1"},
		{"drop_trailing_slash", "http://a.example/", "http://a.example/"},
	}
	tested := make(map[string]bool)
	for _, test := range tests {
		tested[test.rule] = true
		t.Run(test.rule, func(t *testing.T) {
			equal(t, test.url, canonicalized(t, legs.Canonicalize{Rules: []string{test.rule}}, test.url), test.want)
			equal(t, "a second time", canonicalized(t, legs.Canonicalize{Rules: []string{test.rule}}, test.want), test.want)
		})
	}
	for _, rule := range legs.CanonicalRules() {
		if !tested[rule.Name] {
			t.Errorf("rule %s has no test", rule.Name)
		}
	}
}

// canonicalized is a URL after the leg.
func canonicalized(t *testing.T, o legs.Canonicalize, url string) string {
	t.Helper()
	leg := bind(t, spider.Spider{Parse: nothing, Legs: []spider.Leg{o.Leg()}}).Legs[0]
	req, err := leg.ProcessRequest(t.Context(), nil, &crawl.Request{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return req.URL
}

func TestCanonicalizeOptions(t *testing.T) {
	const url = "HTTP://A.example:80/x/../y?b=2&utm_source=n&utm=1&a=1#f"
	tests := []struct {
		name string
		leg  legs.Canonicalize
		want string
	}{
		{"canonical by default", legs.Canonicalize{}, "http://a.example/y?a=1&b=2&utm=1&utm_source=n"},
		{"drop_params leaves the rest as it is", legs.Canonicalize{DropParams: []string{"utm_*", "b"}}, "http://a.example/y?utm=1&a=1#f"},
		{"keep_params", legs.Canonicalize{KeepParams: []string{"b", "a"}}, "http://a.example/y?b=2&a=1#f"},
		{"params first, then rules in order", legs.Canonicalize{KeepParams: []string{"?", "b"}, Rules: []string{"drop_fragment", "https"}}, "https://a.example/y?b=2"},
		{"other URLs are left", legs.Canonicalize{URLs: []string{"/other"}, Rules: []string{"drop_query"}}, url},
		{"these URLs are not", legs.Canonicalize{URLs: []string{"/y"}, Rules: []string{"drop_query", "drop_fragment"}}, "http://a.example/y"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { equal(t, url, canonicalized(t, test.leg, url), test.want) })
	}
	for _, odd := range []string{"no url", "mailto:a@b.example", "data:text/plain,x?y#z", "file:///tmp/x"} {
		equal(t, odd, canonicalized(t, legs.Canonicalize{Rules: []string{"drop_user", "https"}}, odd), odd)
	}
}

func TestCanonicalizeMistakesAreToldAtOnce(t *testing.T) {
	wantMistakes(t, legs.Canonicalize{Rules: []string{"sort-query"}, DropParams: []string{""}, URLs: []string{"("}}.Leg(),
		`option rules: there is no rule "sort-query"; there are canonical, sort_query,`, "option drop_params: an empty name", "option urls: error parsing regexp")
}
