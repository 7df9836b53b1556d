package crawl_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
)

func TestUnitIDTextRoundTrips(t *testing.T) {
	const text = "00ff10a90102030405060708090a0b0c0d0e0f42"
	unit, err := crawl.ParseUnitID(text)
	if err != nil {
		t.Fatal(err)
	}
	if unit.String() != text {
		t.Errorf("String: %s, want %s", unit, text)
	}
	// JSON writes it both as a value and as a map's key.
	raw, err := json.Marshal(map[crawl.UnitID]crawl.UnitID{unit: unit})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"` + text + `":"` + text + `"}`; string(raw) != want {
		t.Errorf("JSON %s, want %s", raw, want)
	}
	var back map[crawl.UnitID]crawl.UnitID
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if back[unit] != unit {
		t.Errorf("read back %v", back)
	}
	capitals, err := crawl.ParseUnitID(strings.ToUpper(text))
	if err != nil || capitals != unit {
		t.Errorf("in capitals: %s, %v", capitals, err)
	}
}

func TestUnitIDTextErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no digits", "", "has 0 characters"},
		{"one digit short", strings.Repeat("0", 39), "has 39 characters"},
		{"one digit long", strings.Repeat("0", 41), "has 41 characters"},
		{"a letter that is no digit", strings.Repeat("0", 39) + "g", "invalid byte"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			unit, err := crawl.ParseUnitID(test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("err %v, want one with %q", err, test.want)
			}
			if !unit.IsZero() {
				t.Errorf("unit %s beside the error", unit)
			}
		})
	}
}

func TestUnitIDIsZero(t *testing.T) {
	if !(crawl.UnitID{}).IsZero() || (crawl.UnitID{19: 1}).IsZero() || crawl.StartUnit.IsZero() {
		t.Error("only the zero unit is zero")
	}
}

func TestShardsFollowTheOrderOfUnits(t *testing.T) {
	for _, n := range []int{1, 3, 16, 64, 256} {
		seen, last := make([]bool, n), 0
		for first := range 256 {
			s := crawl.UnitID{byte(first), 0xff}.Shard(n)
			if s < 0 || s >= n {
				t.Fatalf("of %d shards, unit %02x… is in %d", n, first, s)
			}
			// Scans join two ordered reads, so a shard is one range of units.
			if s < last {
				t.Errorf("of %d shards, unit %02x… is in %d, below the one before it in %d", n, first, s, last)
			}
			seen[s], last = true, s
		}
		for s, ok := range seen {
			if !ok {
				t.Errorf("of %d shards, %d is always empty", n, s)
			}
		}
	}
}

func TestRepeatUnitTellsApart(t *testing.T) {
	parent, fp := crawl.UnitID{1}, [20]byte{2}
	unit := crawl.RepeatUnit(parent, fp, 0)
	if unit != crawl.RepeatUnit(parent, fp, 0) {
		t.Error("the same work has two IDs")
	}
	// The ID is in rows that live on, so it may never come out differently:
	// the SHA-1 of parent, fingerprint and number, 8 bytes big-endian.
	if want := "52ce2402f7f9b5f499d771fae5c8de5aa9ecada3"; unit.String() != want {
		t.Errorf("ID %s, want %s", unit, want)
	}
	others := map[string]crawl.UnitID{
		"the fingerprint itself": fp,
		"the next of its kind":   crawl.RepeatUnit(parent, fp, 1),
		"one far on":             crawl.RepeatUnit(parent, fp, math.MaxInt32+1),
		"another parent's":       crawl.RepeatUnit(crawl.UnitID{3}, fp, 0),
		"another request's":      crawl.RepeatUnit(parent, [20]byte{4}, 0),
		"both turned round":      crawl.RepeatUnit(fp, parent, 0),
	}
	seen := map[crawl.UnitID]string{unit: "it"}
	for name, other := range others {
		if same, ok := seen[other]; ok {
			t.Errorf("%s has the ID of %s", name, same)
		}
		seen[other] = name
	}
}

func TestRandomNamesDiffer(t *testing.T) {
	if a, b := crawl.NewJobUID(), crawl.NewJobUID(); a == b || len(a) != 24 {
		t.Errorf("job UIDs %q and %q, want two of 24 digits", a, b)
	}
	if a, b := crawl.NewRunID(), crawl.NewRunID(); a == b || len(a) != 16 {
		t.Errorf("run IDs %q and %q, want two of 16 digits", a, b)
	}
}
