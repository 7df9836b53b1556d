package weburl_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/skitterhq/skitter/shared/weburl"
)

// A w3libCall is one recorded call of w3lib's own tests.
type w3libCall struct {
	Args   []json.RawMessage `json:"args"`
	Kwargs struct {
		Encoding        string          `json:"encoding"`
		KeepFragments   json.RawMessage `json:"keep_fragments"`
		KeepBlankValues json.RawMessage `json:"keep_blank_values"`
		QuerySeparator  string          `json:"query_separator"`
	} `json:"kwargs"`
	Out json.RawMessage `json:"out"`
}

func w3libCalls(t *testing.T) (calls []w3libCall) {
	t.Helper()
	for line := range bytes.Lines(testdata(t, "w3lib_canonicalize.jsonl")) {
		var c w3libCall
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, c)
	}
	return calls
}

// text reads an argument or result that is a text.
func text(raw json.RawMessage) (string, bool) {
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// input returns the URL of the call: a text, bytes, or a list of the six parts
// that Python's urlparse makes.
func (c w3libCall) input(t *testing.T) string {
	t.Helper()
	if s, ok := text(c.Args[0]); ok {
		return s
	}
	var raw struct {
		B64 []byte `json:"b64"`
	}
	if json.Unmarshal(c.Args[0], &raw) == nil {
		return string(raw.B64)
	}
	var parts []string
	if err := json.Unmarshal(c.Args[0], &parts); err != nil || len(parts) != 6 {
		t.Fatalf("an argument of no known form: %s", c.Args[0])
	}
	s := parts[0] + "://" + parts[1] + parts[2]
	for i, sign := range []string{";", "?", "#"} {
		if parts[3+i] != "" {
			s += sign + parts[3+i]
		}
	}
	return s
}

func (c w3libCall) encoding() encoding.Encoding {
	label := c.Kwargs.Encoding
	if label == "iso2022jp" {
		label = "iso-2022-jp" // Python knows more labels
	}
	enc, _ := htmlindex.Get(label)
	return enc
}

func TestCanonicalIsScrapys(t *testing.T) {
	// Why a call's result differs, by input; the rest must be equal.
	differs := map[string]string{
		"a#frag": "it is relative", "a?b=1#frag": "it is relative", "?b=1": "it is relative",
		"http://.éxamplé.com/résumé?q=résumé":                                  "w3lib keeps a host with an empty label as it is",
		"http://www." + strings.Repeat("éxamplé", 11) + ".com/résumé?q=résumé": "w3lib keeps a host with a label of more than 63 bytes as it is",
		"http://www.example.com/résumé?currency=€":                             "the label latin1 means windows-1252, which has the sign",
		"http://www.example.com/résumé?country=Россия":                         "w3lib falls back to UTF-8, browsers to character references",
	}
	const wantRight = 86 // of 94
	applicable, right := 0, 0
	for _, c := range w3libCalls(t) {
		if c.Kwargs.KeepBlankValues != nil || c.Kwargs.QuerySeparator != "" {
			continue // options that Scrapy does not use
		}
		applicable++
		in := c.input(t)
		want, _ := text(c.Out)
		got := ""
		u, err := (weburl.URL{}).ResolveIn(in, c.encoding())
		switch {
		case err != nil:
			got = err.Error()
		case c.Kwargs.KeepFragments != nil:
			got = weburl.CanonicalWithFragment(u)
		default:
			got = weburl.Canonical(u)
		}
		if got == want {
			right++
		} else if differs[in] == "" {
			t.Errorf("Canonical(%q) = %q, want %q", in, got, want)
		} else {
			t.Logf("Canonical(%q) = %q, not %q: %s", in, got, want, differs[in])
		}
	}
	t.Logf("%d of %d right", right, applicable)
	if right < wantRight {
		t.Errorf("%d right, want at least %d", right, wantRight)
	}
}
