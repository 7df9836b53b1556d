package aws

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/topology"
)

// shopItem is an item as a small shop has it.
func shopItem(t testing.TB, n int) crawl.Item {
	t.Helper()
	item, err := crawl.NewItem(struct {
		Name  string   `json:"name"`
		Price string   `json:"price"`
		SKU   string   `json:"sku"`
		Tags  []string `json:"tags"`
		URL   string   `json:"url"`
	}{
		fmt.Sprintf("A light in the attic, volume %d, in the edition with all of the drawings", n), fmt.Sprintf("%d.%02d €", n%90, n%100),
		fmt.Sprintf("SKU-%06d", n), []string{"poetry", "hardcover"}, fmt.Sprintf("https://shop.example.com/catalogue/a-light-in-the-attic-volume-%d/index.html", n),
	})
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// hashedRows are rows of units that are spread as hashes are.
func hashedRows(t testing.TB, seed uint64, n int) []items.Row {
	t.Helper()
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	rows := make([]items.Row, n)
	for i := range rows {
		var u crawl.UnitID
		r.Read(u[:])
		run := crawl.RunID(fmt.Sprintf("%016x", r.Uint64()))
		rows[i] = items.Row{Key: items.Key{Unit: u, Run: run}, State: items.Stored, Item: shopItem(t, i)}
	}
	return rows
}

// The items of a full batch of the pipeline cost little more than a write unit
// a shard, and reading them a fraction of a read unit each.
func TestItemsOfAPutShareWriteUnits(t *testing.T) {
	const n, most = 100, 25
	for seed := range uint64(20) {
		m := new(meter.Meter)
		store, _ := openItems(t, passBudget, m)
		if err := store.Put(t.Context(), fakeJob, hashedRows(t, seed, n)); err != nil {
			t.Fatal(err)
		}
		written := sum(m.Take(), meter.WriteUnit)
		if written < float64(frontier.Shards) || written > most {
			t.Errorf("%d items cost %.1f write units, want %d to %d", n, written, frontier.Shards, most)
		}
		for shard := range frontier.Shards {
			read(t, store, shard)
		}
		if got := sum(m.Take(), meter.ReadUnit); got > written {
			t.Errorf("reading %d items costs %.1f read units, want at most %.1f", n, got, written)
		}
	}
}

func sum(counts map[meter.Key]float64, unit meter.Unit) (n float64) {
	for key, count := range counts {
		if key.Unit == unit {
			n += count
		}
	}
	return n
}

// packsOf counts the packs of all shards.
func packsOf(t testing.TB, store *Items) (n int) {
	t.Helper()
	for shard := range frontier.Shards {
		packs, err := store.s.query(t.Context(), store.s.partOf(topology.TableItems, partition(fakeJob, shard), "", nil), 0)
		if err != nil {
			t.Fatal(err)
		}
		n += len(packs)
	}
	return n
}

// A pack that the SDK or the adapter sends again replaces itself; one of
// another Put stands beside it.
func TestAPackThatIsSentAgainIsThereOnce(t *testing.T) {
	tests := []struct {
		name  string
		fault func(call int) awstest.Fault
	}{
		{"the answer is lost", func(call int) awstest.Fault { return awstest.Fault{Lost: call == 1} }},
		{"half are left undone", func(call int) awstest.Fault {
			return awstest.Fault{Refuse: func(i int) bool { return call < 3 && i%2 == 0 }}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store, b := openItems(t, passBudget, nil)
			store.s.sleep = func(context.Context, time.Duration) error { return nil }
			calls := 0
			b.SetHook(func(c *awstest.Call) awstest.Fault {
				if c.Op != "dynamodb.BatchWriteItem" {
					return awstest.Fault{}
				}
				calls++
				return test.fault(calls)
			})
			for put := 1; put <= 2; put++ {
				if err := store.Put(t.Context(), fakeJob, hashedRows(t, 1, 100)); err != nil {
					t.Fatal(err)
				}
				if n := packsOf(t, store); n != put*frontier.Shards {
					t.Errorf("%d packs after %d puts, want one a shard and put", n, put)
				}
			}
			if calls < 3 {
				t.Errorf("%d calls for two puts: nothing was sent again", calls)
			}
			n := 0
			for shard := range frontier.Shards {
				n += len(read(t, store, shard))
			}
			if n != 100 {
				t.Errorf("%d items come back, want 100", n)
			}
		})
	}
}

// A pack that grows too long goes on in another, of the same first unit.
func TestLongPacksAreCut(t *testing.T) {
	store, _ := openItems(t, passBudget, nil)
	rows := hashedRows(t, 1, 2_000)
	for i := range rows {
		rows[i].Unit, rows[i].Run, rows[i].Ordinal = unitN(1), "r", i
	}
	if err := store.Put(t.Context(), fakeJob, rows); err != nil {
		t.Fatal(err)
	}
	body, _ := rows[0].Item.MarshalJSON()
	if n, least := packsOf(t, store), len(rows)*len(body)/mostPacked; n < least || n > 2*least {
		t.Errorf("%d packs of %d items, want about %d", n, len(rows), least)
	}
	if got := read(t, store, unitN(1).Shard(frontier.Shards)); len(got) != len(rows) {
		t.Errorf("%d of %d items come back", len(got), len(rows))
	}
}

// Of two Puts at one time of the clock, and of one after the clock was set
// back, the later one counts.
func TestPutsAreOrderedWhateverTheClock(t *testing.T) {
	var c putClock
	last := int64(0)
	for _, at := range []time.Duration{0, 0, time.Second, -time.Hour, 0, time.Hour} {
		put := c.next(noon.Add(at))
		if put <= last {
			t.Errorf("at %s the Put has %d, after one with %d", at, put, last)
		}
		last = put
	}
	if last != noon.Add(time.Hour).UnixNano() {
		t.Errorf("the last Put has %d, want the clock's time", last)
	}
}

func TestADamagedPackIsAnError(t *testing.T) {
	body := []byte(`{"n":1}`)
	whole := packItems([]itemEntry{{Key: items.Key{Unit: unitN(1), Run: "r", Ordinal: 300}, state: items.Stored, why: "why", body: body}})
	entry := whole["p"]
	in := reader{record: whole}
	plain := in.raw("p")
	count := func(r record) (n int, err error) {
		pack, err := readPack(r)
		if err == nil {
			err = pack.each(func(itemEntry) { n++ })
		}
		return n, err
	}
	if n, err := count(whole); n != 1 || err != nil {
		t.Fatalf("%d entries (%v), want one", n, err)
	}
	for cut := 1; cut < len(plain); cut++ {
		whole["p"] = asBytes(plain[:cut])
		if n, err := count(whole); n != 0 || err == nil {
			t.Errorf("cut to %d of %d bytes: %d entries, no error", cut, len(plain), n)
		}
	}
	const form = 20 + 2 // behind the unit and the ordinal
	other := slices.Clone(plain)
	other[form] = byte(blobItem) + 1
	whole["p"] = asBytes(other)
	if n, err := count(whole); n != 0 || err == nil {
		t.Errorf("an unknown form: %d entries, no error", n)
	}
	for name, value := range map[string]record{
		"a short key":       {"item": asBytes([]byte{1})},
		"no last unit":      {"u": asBytes([]byte{1})},
		"text for a number": {"a": asText("x")},
		"no zstd":           {"z": asBytes(plain)},
	} {
		bad := record{"item": whole["item"], "u": whole["u"], "a": asNumber(1), "p": entry}
		for k, v := range value {
			bad[k] = v
		}
		if _, err := count(bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
