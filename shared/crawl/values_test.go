package crawl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
)

func TestValuesKeepDigits(t *testing.T) {
	tests := []struct {
		name, text string
		want       crawl.Values
	}{
		{"a number above 2^53", `{"id":9007199254740993}`, crawl.Values{"id": json.Number("9007199254740993")}},
		{"a number far inside", `{"a":[{"b":1.10}]}`, crawl.Values{"a": []any{map[string]any{"b": json.Number("1.10")}}}},
		{"all other kinds", `{"s":"x","t":true,"n":null}`, crawl.Values{"s": "x", "t": true, "n": nil}},
		{"an empty object", `{}`, crawl.Values{}},
		{"null", `null`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got crawl.Values
			if err := json.Unmarshal([]byte(test.text), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
			raw, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var again crawl.Values
			if err := json.Unmarshal(raw, &again); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, again); diff != "" {
				t.Errorf("read back (-want, +got):\n%s", diff)
			}
		})
	}
	for _, text := range []string{`[1]`, `"x"`, `1`} {
		var v crawl.Values
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			t.Errorf("%s is read as values", text)
		}
	}
}

func TestValuesString(t *testing.T) {
	v := crawl.Values{"s": "x", "n": json.Number("1")}
	for name, want := range map[string]string{"s": "x", "n": "", "none": ""} {
		if got := v.String(name); got != want {
			t.Errorf("String(%q) is %q, want %q", name, got, want)
		}
	}
	if got := crawl.Values(nil).String("s"); got != "" {
		t.Errorf("no values have %q", got)
	}
}

func TestValuesClone(t *testing.T) {
	v := crawl.Values{"a": 1}
	v.Clone()["a"] = 2
	if v["a"] != 1 {
		t.Error("changing the copy changed the values")
	}
	if crawl.Values(nil).Clone() != nil {
		t.Error("a copy of none is some")
	}
}

// Dead letters and logs show these texts, and verdicts are found when wrapped.
func TestVerdictsAreErrors(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 500_000_000, time.UTC)
	tests := []struct {
		err  error
		want string
	}{
		{&crawl.Drop{Reason: "robots"}, "dropped: robots"},
		{&crawl.Retry{Reason: "timeout", After: time.Minute}, "to be tried again after 1m0s: timeout"},
		{&crawl.Later{At: at, Why: "slot"}, "not before 2026-03-01T12:00:00.5Z: slot"},
		{&crawl.Instead{Request: &crawl.Request{URL: "http://b/"}, Reason: "302"}, "instead http://b/: 302"},
		{&crawl.CloseSpider{Reason: "enough"}, "close spider: enough"},
		{&crawl.Failure{Reason: "dns"}, "dns"},
		{&crawl.Failure{Reason: "dns", Message: "no such host"}, "dns: no such host"},
	}
	for _, test := range tests {
		if got := test.err.Error(); got != test.want {
			t.Errorf("%T says %q, want %q", test.err, got, test.want)
		}
	}
	var later *crawl.Later
	if !errors.As(fmt.Errorf("a middleware: %w", &crawl.Later{At: at}), &later) || !later.At.Equal(at) {
		t.Error("a wrapped verdict is not found")
	}
}

func TestJobStates(t *testing.T) {
	for state, ended := range map[crawl.JobState]bool{
		crawl.JobRunning: false, crawl.JobPaused: false, crawl.JobClosing: false,
		crawl.JobFinished: true, crawl.JobFailed: true, crawl.JobCancelled: true,
	} {
		if state.Ended() != ended {
			t.Errorf("%s has ended: %t, want %t", state, state.Ended(), ended)
		}
		for _, stop := range []string{"", "cancelled"} {
			job := crawl.Job{State: state, Stop: stop}
			if want := state == crawl.JobRunning && stop == ""; job.Open() != want {
				t.Errorf("%s with stop %q may start work: %t, want %t", state, stop, job.Open(), want)
			}
		}
	}
}

func TestCredentialsStayAtTheirOriginWhoeverMadeTheTarget(t *testing.T) {
	asked := &crawl.Request{URL: "https://example.com/a", Headers: http.Header{"Authorization": {"Basic x"}, "Cookie": {"s=1"}, "Accept": {"a"}}}
	for url, stays := range map[string]bool{
		"https://example.com/b": true, "https://example.com:443/b": true, "https://example.com:8443/": false, "http://example.com/": false,
		"https://www.example.com/": false, "https://other.example/": false, "no URL": false,
	} {
		next := asked.Clone()
		next.URL = url
		got := (&crawl.Instead{Request: next}).Target(asked).Headers
		if (got["Authorization"] != nil) != stays || (got["Cookie"] != nil) != stays || got["Accept"] == nil {
			t.Errorf("%s is asked with %v", url, got)
		}
		// What the target has of its own was meant for it.
		next.SetHeader("Authorization", "Basic y")
		if got := (&crawl.Instead{Request: next}).Target(asked).Headers.Get("Authorization"); got != "Basic y" {
			t.Errorf("%s is asked with the Authorization %q", url, got)
		}
	}
}

func TestHeadersAndCookiesGivenCarelesslyStayAtTheirOriginToo(t *testing.T) {
	asked := &crawl.Request{
		URL: "https://example.com/a", Headers: http.Header{"authorization": {"Basic x"}, "cookie": {"s=1"}, "x-own": {"a"}},
		Cookies: []crawl.Cookie{{Name: "s", Value: "1"}, {Name: "t", Value: "2", Domain: "example.com"}},
	}
	next := asked.Clone()
	next.URL = "https://other.example/"
	got := (&crawl.Instead{Request: next}).Target(asked)
	if diff := cmp.Diff(http.Header{"X-Own": {"a"}}, got.Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if len(got.Cookies) != 1 || got.Cookies[0].Name != "t" {
		t.Errorf("cookies %v, want those alone that name their domain", got.Cookies)
	}
	next.URL = "https://example.com/b"
	if got := (&crawl.Instead{Request: next}).Target(asked); got.Headers.Get("Authorization") == "" || len(got.Cookies) != 2 {
		t.Errorf("at its origin it is asked with %v and %v", got.Headers, got.Cookies)
	}
}

func TestTheRequestsOwnLogInStaysAtItsOrigin(t *testing.T) {
	for _, test := range []struct{ domain, url, want string }{
		{"", "https://example.com/b", "u p"}, {"", "https://other.example/", " "}, {"", "http://example.com/", " "},
		{"example.com", "https://other.example/", "u p"}, {"*", "https://other.example/", "u p"},
	} {
		asked := &crawl.Request{URL: "https://example.com/a", Options: crawl.Options{HTTPUser: "u", HTTPPass: "p", HTTPAuthDomain: test.domain}}
		next := asked.Clone()
		next.URL = test.url
		got := (&crawl.Instead{Request: next}).Target(asked)
		if got.HTTPUser+" "+got.HTTPPass != test.want {
			t.Errorf("domain %q: %s is asked with %q", test.domain, test.url, got.HTTPUser+" "+got.HTTPPass)
		}
	}
}

func TestATargetHasTheProxyThatTheRequestNamed(t *testing.T) {
	for _, named := range []string{"", crawl.NoProxy, "http://u:p@proxy.example:3128"} {
		asked := &crawl.Request{URL: "http://example.com/", Options: crawl.Options{Proxy: named}}
		next := asked.Clone()
		next.URL, next.Proxy = "https://example.com/", "http://chosen.example:3128"
		if got := (&crawl.Instead{Request: next}).Target(asked).Proxy; got != named {
			t.Errorf("got %q, want %q", got, named)
		}
	}
}
