package weburl_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/weburl"
)

// A reportedCase is one line of cases.jsonl: a failure that someone met.
type reportedCase struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind"`
	Title  string          `json:"title"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
}

func TestReportedCases(t *testing.T) {
	run := map[string]func(*testing.T, reportedCase){
		"url_resolve":         resolveCase,
		"url_resolve_many":    resolveCase,
		"property_idempotent": idempotentCase,
		"fingerprint":         fingerprintCase,
	}
	n := 0
	lines := bufio.NewScanner(bytes.NewReader(readShared(t, "cases", "cases.jsonl")))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c reportedCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if run[c.Kind] == nil {
			continue
		}
		n++
		t.Run(c.ID+" "+c.Title, func(t *testing.T) { run[c.Kind](t, c) })
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if n < 12 {
		t.Errorf("%d cases run, want at least 12", n)
	}
}

func decodeCase(t *testing.T, c reportedCase, input, expect any) {
	t.Helper()
	if err := json.Unmarshal(c.Input, input); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(c.Expect, expect); err != nil {
		t.Fatal(err)
	}
}

func resolveCase(t *testing.T, c reportedCase) {
	var in struct {
		Base, Ref string
		Refs      []string
	}
	var want struct {
		URL     string
		URLs    []string
		Targets []string `json:"request_targets"`
	}
	decodeCase(t, c, &in, &want)
	if in.Refs == nil {
		in.Refs, want.URLs = []string{in.Ref}, []string{want.URL}
	}
	base := parse(t, in.Base)
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
	if want.Targets != nil {
		if diff := cmp.Diff(want.Targets, targets); diff != "" {
			t.Errorf("request targets (-want +got):\n%s", diff)
		}
	}
}

func idempotentCase(t *testing.T, c reportedCase) {
	var in struct{ URL string }
	var want struct {
		MustContain []string `json:"must_contain"`
	}
	decodeCase(t, c, &in, &want)
	u := parse(t, in.URL)
	checkCanonical(t, u)
	for _, part := range want.MustContain {
		if canonical := weburl.Canonical(u); !strings.Contains(canonical, part) {
			t.Errorf("%s lacks %s", canonical, part)
		}
	}
}

func fingerprintCase(t *testing.T, c reportedCase) {
	var in struct {
		Requests []struct{ Method, URL, Body string } // headers belong to no identity unless asked for
	}
	var want struct {
		Equal, Differ       [][2]int
		KeepFragmentsDiffer [][2]int `json:"keep_fragments_differ"`
	}
	decodeCase(t, c, &in, &want)
	var prints, withFragments []weburl.Fingerprint
	for _, r := range in.Requests {
		if r.Method == "" {
			r.Method = "GET"
		}
		u := parse(t, r.URL)
		prints = append(prints, weburl.RequestFingerprint(r.Method, u, []byte(r.Body), nil))
		withFragments = append(withFragments, weburl.Identity{Method: r.Method, URL: weburl.CanonicalWithFragment(u)}.Fingerprint())
	}
	for _, pair := range want.Equal {
		if prints[pair[0]] != prints[pair[1]] {
			t.Errorf("requests %d and %d differ", pair[0], pair[1])
		}
	}
	for _, pair := range want.Differ {
		if prints[pair[0]] == prints[pair[1]] {
			t.Errorf("requests %d and %d are equal", pair[0], pair[1])
		}
	}
	for _, pair := range want.KeepFragmentsDiffer {
		if withFragments[pair[0]] == withFragments[pair[1]] {
			t.Errorf("requests %d and %d are equal with their fragments", pair[0], pair[1])
		}
	}
}
