package casetest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/robots"
	"github.com/skitterhq/skitter/shared/weburl"
)

func robotsMatch(t *testing.T, c reported) {
	var in struct {
		Robots []byte `json:"robots_b64"`
		Agent  string
		URLs   []string
	}
	var want struct{ Allowed map[string]bool }
	decode(t, c, &in, &want)
	if in.URLs != nil && len(in.URLs) != len(want.Allowed) {
		t.Errorf("%d URLs and %d verdicts", len(in.URLs), len(want.Allowed))
	}
	rules := robots.Parse(in.Robots)
	for url, allowed := range want.Allowed {
		if got := rules.Allowed(in.Agent, url); got != allowed {
			t.Errorf("%s is allowed: %v, want %v", url, got, allowed)
		}
	}
}

func robotsMatchMany(t *testing.T, c reported) {
	var in struct {
		Agent string
		Cases []struct {
			Agent  string
			Robots []byte `json:"robots_b64"`
			Gen    *struct {
				CommentBytes int `json:"comment_bytes"`
				Then         string
			} `json:"robots_gen"`
			URLs []string
		}
	}
	var want struct{ Allowed [][]bool }
	decode(t, c, &in, &want)
	for i, file := range in.Cases {
		agent, body := in.Agent, file.Robots
		if file.Agent != "" {
			agent = file.Agent
		}
		if file.Gen != nil {
			body = []byte(strings.Repeat("#\n", file.Gen.CommentBytes/2) + file.Gen.Then)
		}
		rules := robots.Parse(body)
		for j, url := range file.URLs {
			if got := rules.Allowed(agent, url); got != want.Allowed[i][j] {
				t.Errorf("%s is allowed: %v, want %v, by\n%s", url, got, want.Allowed[i][j], body)
			}
		}
	}
}

func robotsDelay(t *testing.T, c reported) {
	var in struct{ Values []string }
	var want struct{ Delay []any }
	decode(t, c, &in, &want)
	for i, value := range in.Values {
		got, ok := robots.Parse([]byte("User-agent: *\nCrawl-delay: " + value + "\n")).CrawlDelay("mybot")
		switch w := want.Delay[i].(type) {
		case nil:
			if ok {
				t.Errorf("%s is %v, want none", value, got)
			}
		case float64:
			if seconds := time.Duration(w * float64(time.Second)); got != seconds {
				t.Errorf("%s is %v, want %v", value, got, seconds)
			}
		default: // "cap": the caller's setting bounds what the file says
			if !ok {
				t.Errorf("%s is none", value)
			}
		}
	}
}

func urlResolve(t *testing.T, c reported) {
	var in struct {
		Base, Ref string
		Refs      []string
	}
	var want struct {
		URL     string
		URLs    []string
		Targets []string `json:"request_targets"`
	}
	decode(t, c, &in, &want)
	if in.Refs == nil {
		in.Refs, want.URLs = []string{in.Ref}, []string{want.URL}
	}
	base := parseURL(t, in.Base)
	var got, targets []string
	for _, ref := range in.Refs {
		u, err := base.Resolve(ref)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, u.String())
		targets = append(targets, u.NetURL().RequestURI())
	}
	if diff := cmp.Diff(want.URLs, got); diff != "" {
		t.Errorf("URLs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Targets, targets); want.Targets != nil && diff != "" {
		t.Errorf("request targets (-want +got):\n%s", diff)
	}
}

func idempotent(t *testing.T, c reported) {
	var in struct{ URL string }
	var want struct {
		Idempotent  bool
		MustContain []string `json:"must_contain"`
	}
	decode(t, c, &in, &want)
	once := weburl.Canonical(parseURL(t, in.URL))
	if twice := weburl.Canonical(parseURL(t, once)); (twice == once) != want.Idempotent {
		t.Errorf("canonical %s becomes %s the second time", once, twice)
	}
	for _, part := range want.MustContain {
		if !strings.Contains(once, part) {
			t.Errorf("%s lacks %s", once, part)
		}
	}
}

func fingerprint(t *testing.T, c reported) {
	var in struct {
		Requests []struct {
			Method, URL, Body string
			Headers           map[string]string // belong to no identity unless asked for
		}
	}
	var want struct {
		Equal, Differ       [][2]int
		KeepFragmentsDiffer [][2]int `json:"keep_fragments_differ"`
	}
	decode(t, c, &in, &want)
	var prints, withFragments []weburl.Fingerprint
	for _, r := range in.Requests {
		if r.Method == "" {
			r.Method = "GET"
		}
		u := parseURL(t, r.URL)
		prints = append(prints, weburl.RequestFingerprint(r.Method, u, []byte(r.Body), nil))
		withFragments = append(withFragments, weburl.Identity{Method: r.Method, URL: weburl.CanonicalWithFragment(u)}.Fingerprint())
	}
	check := func(list []weburl.Fingerprint, pairs [][2]int, equal bool) {
		for _, pair := range pairs {
			if got := list[pair[0]] == list[pair[1]]; got != equal {
				t.Errorf("requests %d and %d are equal: %v, want %v", pair[0], pair[1], got, equal)
			}
		}
	}
	check(prints, want.Equal, true)
	check(prints, want.Differ, false)
	check(withFragments, want.KeepFragmentsDiffer, false)
}

// roundtrip sends a page and a request as a message, which must hold only what
// SQS takes and come back as it was.
func roundtrip(t *testing.T, c reported) {
	var in struct {
		Body []byte `json:"body_b64"`
		Meta crawl.Values
		Via  []string
	}
	var want struct{ Equal bool }
	decode(t, c, &in, &want)
	for _, via := range in.Via {
		if via != "sqs-message" {
			t.Fatalf("no runner takes bytes via %s", via)
		}
	}
	req, err := json.Marshal(crawl.Request{URL: "http://example.com/", Method: "POST", Body: in.Body, Meta: in.Meta})
	if err != nil {
		t.Fatal(err)
	}
	s := newStack(t)
	sent := message.Page{Req: req, Body: message.Body{Size: len(in.Body), Data: in.Body}}
	body, err := message.Encode(message.Header{Kind: message.KindPage, Job: jobA}, sent)
	if err != nil {
		t.Fatal(err)
	}
	// The queue in memory refuses what SQS refuses.
	_, payload, err := message.ReadHeader(s.through(t, body))
	if err != nil {
		t.Fatal(err)
	}
	var page message.Page
	var got crawl.Request
	if err := message.Decode(payload, &page); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(page.Req, &got); err != nil {
		t.Fatal(err)
	}
	equal := bytes.Equal(got.Body, in.Body) && bytes.Equal(page.Body.Data, in.Body) && cmp.Equal(got.Meta, in.Meta)
	if equal != want.Equal {
		t.Errorf("the same came back: %v, want %v; got %+v", equal, want.Equal, got)
	}
}

func parseURL(t *testing.T, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
