package aws_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
)

// noise is text that hardly gets shorter.
func noise(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

// random are bytes that do not get shorter.
func random(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestLongItemsLieInBlobs(t *testing.T) {
	tests := []struct {
		name  string
		text  string
		blobs int
	}{
		{"short", "x", 0},
		{"longer than a write unit", noise(3000), 0},
		{"long, and compressed short", strings.Repeat("all work and no play ", 5000), 0},
		{"long", noise(30_000), 1},
		{"longer than a row may be", noise(2 << 20), 1},
		{"long, and compressed long as well", strings.Repeat(noise(20_000), 3), 1},
		{"just short enough for a row", noise(7_800), 0},
		{"just too long for a row", noise(8_000), 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, _, inside := openFaulty(t)
			item, err := crawl.NewItem(map[string]any{"text": test.text, "html": "<&>"})
			if err != nil {
				t.Fatal(err)
			}
			row := items.Row{Key: items.Key{Unit: unitN(1), Run: "run/with \x01 bytes", Ordinal: 3}, State: items.Stored, Item: item}
			if err := s.Items().Put(t.Context(), jobA, []items.Row{row}); err != nil {
				t.Fatal(err)
			}
			if n := inside.Calls()["s3.PutObject"]; n != test.blobs {
				t.Errorf("%d blobs, want %d", n, test.blobs)
			}
			keys, err := s.Blobs().List(t.Context(), "items/"+string(jobA)+"/"+unitN(1).String()+"/", "", 0)
			if err != nil || len(keys) != test.blobs {
				t.Errorf("blobs %v (%v), want %d", keys, err, test.blobs)
			}
			got := allItems(t, s, row.Unit.Shard(frontier.Shards))
			if len(got) != 1 || got[0].Key != row.Key || got[0].State != items.Stored {
				t.Fatalf("read %d items", len(got))
			}
			want, _ := item.MarshalJSON()
			if body, _ := got[0].Item.MarshalJSON(); string(body) != string(want) {
				t.Errorf("the item comes back with %d bytes, want %d", len(body), len(want))
			}
		})
	}
}

func TestItemsWithoutANumberAreRefused(t *testing.T) {
	s, _, _ := openFaulty(t)
	if err := s.Items().Put(t.Context(), jobA, []items.Row{{Key: items.Key{Run: "r", Ordinal: -1}, State: items.Stored}}); err == nil {
		t.Error("put took ordinal -1")
	}
}

// allItems are the items of a shard of jobA.
func allItems(t *testing.T, s *aws.Store, shard int) (rows []items.Row) {
	t.Helper()
	for row, err := range s.Items().Scan(t.Context(), jobA, shard) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}
