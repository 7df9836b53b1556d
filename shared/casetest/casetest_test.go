// Package casetest runs the cases of people's real failures: one line of JSON
// each, read from the file that SKITTER_CASES names, or else from testdata.
package casetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

// EnvCases names the file of cases; empty means the project's own copy.
const EnvCases = "SKITTER_CASES"

const ownCases = "testdata/cases.jsonl"

// A reported case is one failure that someone met.
type reported struct {
	ID, Kind, Title string
	Input, Expect   json.RawMessage
}

// TestCases runs every case by its kind.
func TestCases(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range readCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			if seen[c.ID] {
				t.Fatalf("two cases are named %s", c.ID)
			}
			seen[c.ID] = true
			k, listed := kinds[c.Kind]
			switch {
			case !listed:
				t.Fatalf("kind %q is in no list: say who runs it, or which issue will", c.Kind)
			case parts[c.ID] != "":
				t.Skipf("later: waits for %s", parts[c.ID])
			case k.run != nil:
				k.run(t, c)
			case k.named != nil:
				if k.named[c.ID] == nil {
					t.Fatalf("no test is written for this case of kind %s, which has no fixed shape", c.Kind)
				}
				t.Skip("runs by itself: Test" + strings.ReplaceAll(c.ID, "-", ""))
			default:
				t.Skipf("later: kind %s belongs to %s%s", c.Kind, k.issue, k.note)
			}
		})
	}
	if len(seen) == 0 {
		t.Fatal("the file holds no case")
	}
}

// TestEveryKindIsDoneOrLater keeps the lists honest: a kind is in exactly one.
func TestEveryKindIsDoneOrLater(t *testing.T) {
	for name, k := range kinds {
		ways := 0
		for _, is := range []bool{k.run != nil, k.named != nil, k.issue != ""} {
			if is {
				ways++
			}
		}
		if ways != 1 {
			t.Errorf("kind %s: %d of run, named and issue are set, want one", name, ways)
		}
	}
}

// TestTheOwnCasesAreThoseOfTheShared keeps the copy what it is a copy of.
func TestTheOwnCasesAreThoseOfTheShared(t *testing.T) {
	const shared = "../../../shared/cases/cases.jsonl"
	want, err := os.ReadFile(shared)
	if os.IsNotExist(err) {
		t.Skip("the shared cases are not here")
	}
	got, ownErr := os.ReadFile(ownCases)
	if err := errors.Join(err, ownErr); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what %s has: copy it", ownCases, shared)
	}
}

func readCases(t *testing.T) []reported {
	t.Helper()
	file := os.Getenv(EnvCases)
	if file == "" {
		file = ownCases
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []reported
	for line := range bytes.Lines(data) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var c reported
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%s: case %d: %v", file, len(list)+1, err)
		}
		list = append(list, c)
	}
	return list
}

// caseOf finds the case that a test is named after, and decodes it.
func caseOf(t *testing.T, id string, input, expect any) {
	t.Helper()
	decode(t, caseNamed(t, id), input, expect)
}

// caseNamed finds the case that a test is named after. A file without it has
// nothing to test.
func caseNamed(t *testing.T, id string) reported {
	t.Helper()
	for _, c := range readCases(t) {
		if c.ID == id {
			return c
		}
	}
	t.Skipf("the file of cases has no %s", id)
	return reported{}
}

// decode reads a case. A field that the runner does not know is a question that
// nobody would ask, and fails.
func decode(t *testing.T, c reported, input, expect any) {
	t.Helper()
	strictly(t, "input", c.Input, input)
	strictly(t, "expect", c.Expect, expect)
}

func strictly(t *testing.T, what string, data json.RawMessage, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s of the case: %v", what, err)
	}
}
