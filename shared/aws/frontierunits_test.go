package aws_test

import (
	"bytes"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
)

// A unit is to take one write unit when it is admitted, marked and settled.
// The longest request that package scheduler leaves in a row is 750 bytes.
func TestAFullUnitIsOneWriteUnit(t *testing.T) {
	s, _, inside := openFaulty(t)
	row := frontier.Row{
		Unit: unitN(1), By: unitN(2), State: frontier.Queued, Priority: -1_000_000_000, Depth: 1000,
		Req: bytes.Repeat([]byte{0xff}, 750), Marks: 2, Rounds: 3,
	}
	if _, err := s.Frontier().Put(t.Context(), jobA, []frontier.Row{row}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Frontier().Mark(t.Context(), jobA, row.Unit); err != nil {
		t.Fatal(err)
	}
	closed, err := s.Frontier().Settle(t.Context(), jobA, []frontier.Settlement{{
		Unit: row.Unit, State: frontier.Dropped,
		Outcome: frontier.Outcome{Run: crawl.NewRunID(), Items: 1_000_000, Why: "downloader/exception_type_count"},
	}})
	if err != nil || !closed[0] {
		t.Fatalf("settle: %t (%v)", closed[0], err)
	}
	for op, want := range map[string]float64{"dynamodb.PutItem": 1, "dynamodb.UpdateItem": 2} {
		if units := inside.Capacity()[op].Write; units != want {
			t.Errorf("%s takes %g write units, want %g", op, units, want)
		}
	}
}

func TestARefusalHandsOverWhatStandsThere(t *testing.T) {
	s, _, inside := openFaulty(t)
	if _, _, err := s.Jobs().Create(t.Context(), someJob(jobA, "nightly")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := putUnit(t, s); err != nil {
			t.Fatal(err)
		}
	}
	if n := inside.Calls()["dynamodb.GetItem"]; n != 0 {
		t.Errorf("%d reads, want none: DynamoDB hands over what stands there", n)
	}
}
