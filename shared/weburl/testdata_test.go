package weburl_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// testdata returns a file of the folder testdata, whose README says where each
// is from.
func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// wptCases decodes the cases in a file of the web platform tests; entries that
// are text are comments.
func wptCases[T any](t testing.TB, name string) (cases []T) {
	t.Helper()
	var raw []json.RawMessage
	if err := json.Unmarshal(testdata(t, name), &raw); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, r := range raw {
		if bytes.HasPrefix(r, []byte(`"`)) {
			continue
		}
		var c T
		if err := json.Unmarshal(r, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases = append(cases, c)
	}
	return cases
}
