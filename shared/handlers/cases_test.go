package handlers_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
)

// TestRawCases answers with the bytes of the cases of kind http_raw and
// http_raw_many, failures that people who crawl have reported.
func TestRawCases(t *testing.T) {
	h := newHandler(t, handlers.Options{})
	for line := range bytes.Lines(readShared(t, "cases", "cases.jsonl")) {
		var kind struct{ Kind string }
		if err := json.Unmarshal(line, &kind); err != nil {
			t.Fatal(err)
		}
		if kind.Kind != "http_raw" && kind.Kind != "http_raw_many" {
			continue
		}
		var c struct {
			ID    string
			Input struct {
				Raw  []byte   `json:"raw_b64"`
				Raws [][]byte `json:"raws_b64"`
			}
			Expect struct {
				Outcomes []any
				OptOut   struct {
					Body  string
					Flags []string
				} `json:"opt_out"`
			}
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID, func(t *testing.T) {
			for n, raw := range c.Input.Raws {
				got := "error"
				resp, err := h.Fetch(t.Context(), &crawl.Request{URL: serveRaw(t, sends(string(raw))).url})
				if err == nil {
					got = string(resp.Body)
				}
				many, _ := c.Expect.Outcomes[n].([]any)
				if c.Expect.Outcomes[n] != any(got) && !slices.Contains(many, any(got)) {
					t.Errorf("answer %d: %s, want %v", n, got, c.Expect.Outcomes[n])
				}
			}
			if c.Input.Raw == nil {
				return
			}
			url := serveRaw(t, sends(string(c.Input.Raw))).url
			if _, err := h.Fetch(t.Context(), &crawl.Request{URL: url}); reason(err) != "dataloss" {
				t.Errorf("by default: %q, want dataloss, which is tried again", reason(err))
			}
			lenient := h.ForJob(with(t, map[string]any{"DOWNLOAD_FAIL_ON_DATALOSS": false}))
			resp, err := lenient.Fetch(t.Context(), &crawl.Request{URL: url})
			if err != nil || string(resp.Body) != c.Expect.OptOut.Body || !reflect.DeepEqual(resp.Flags, c.Expect.OptOut.Flags) {
				t.Errorf("without DOWNLOAD_FAIL_ON_DATALOSS: %+v, %v", resp, err)
			}
		})
	}
}
