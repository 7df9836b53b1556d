package aws

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/items/itemstest"
	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/topology"
)

// openItems returns the items of a stack of its own, with a budget of a pass,
// and what they are over.
func openItems(t *testing.T, budget int, m *meter.Meter) (*Items, *awstest.Backend) {
	t.Helper()
	c := &meterClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	b, stack := awstest.New(c.Now), topology.Default("t")
	if err := provision.Create(t.Context(), b.Config(), stack); err != nil {
		t.Fatal(err)
	}
	store := New(Config{AWS: b.Config(), Stack: stack, Now: c.Now, Meter: m}).Items()
	store.budget = budget
	return store, b
}

// A shard that is longer than the budget of a pass is read in several.
func TestItemsOfManyPasses(t *testing.T) {
	for _, budget := range []int{1_000, 10_000} {
		t.Run(fmt.Sprintf("%d bytes", budget), func(t *testing.T) {
			itemstest.Run(t, func(t *testing.T) itemstest.Harness {
				store, _ := openItems(t, budget, nil)
				return itemstest.Harness{Store: store}
			})
		})
	}
}

func read(t testing.TB, store *Items, shard int) (rows []items.Row) {
	t.Helper()
	for row, err := range store.Scan(t.Context(), fakeJob, shard) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// However small the budget, a pass holds no more, and all passes together give
// what one gives, with what was put last.
func TestPassesOfAnyBudgetGiveTheSame(t *testing.T) {
	one, b := openItems(t, passBudget, nil)
	for put := range uint64(12) {
		rows := hashedRows(t, put%9, 60) // the last three are put a second time
		for i := range oneShard(rows) {
			rows[i].Why = fmt.Sprint("put ", put)
		}
		if err := one.Put(t.Context(), fakeJob, rows); err != nil {
			t.Fatal(err)
		}
	}
	want := read(t, one, 0)
	if len(want) != 9*60 || !slices.IsSortedFunc(want, func(a, b items.Row) int { return a.Compare(b.Key) }) {
		t.Fatalf("one pass gives %d rows, want %d in order", len(want), 9*60)
	}
	again := map[string]int{}
	for _, row := range want {
		again[row.Why]++
	}
	for put := range 12 {
		if n := again[fmt.Sprint("put ", put)]; (n == 0) != (put < 3) {
			t.Errorf("%d rows of put %d", n, put)
		}
	}
	queries := b.Calls()["dynamodb.Query"]
	for _, budget := range []int{1, 2_000, 50_000, 150_000} {
		store := &Items{one.s, one.bodies, budget}
		if got := read(t, store, 0); !slices.EqualFunc(got, want, sameRow) {
			t.Errorf("with %d bytes %d rows come, or others than in one pass", budget, len(got))
		}
		passes := b.Calls()["dynamodb.Query"] - queries
		if queries += passes; passes < 2 || passes > 5+2*500*len(want)/budget {
			t.Errorf("%d passes with a budget of %d bytes", passes, budget)
		}
	}
}

func sameRow(a, b items.Row) bool {
	x, _ := a.Item.MarshalJSON()
	y, _ := b.Item.MarshalJSON()
	return a.Key == b.Key && a.State == b.State && a.Why == b.Why && bytes.Equal(x, y)
}

func TestAPassHoldsNoMoreThanItsBudget(t *testing.T) {
	const budget = 20_000
	p := pass{budget: budget}
	longest := 0
	for seed := range uint64(100) {
		var entries []itemEntry
		for _, row := range hashedRows(t, seed, 10) {
			body, _ := row.Item.MarshalJSON()
			entries = append(entries, itemEntry{Key: row.Key, body: body})
		}
		slices.SortFunc(entries, func(a, b itemEntry) int { return a.Compare(b.Key) })
		pack, err := readPack(packItems(entries))
		if err == nil {
			err = p.add(pack)
		}
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, p.size)
		if p.isBefore(crawl.UnitID{}) {
			t.Fatal("the pass ends before the first unit")
		}
	}
	if longest > budget || longest < budget/2 || len(p.entries) == 0 || p.until == nil {
		t.Errorf("the pass held up to %d bytes and has %d entries, its end is %v", longest, len(p.entries), p.until)
	}
	if !p.isBefore(crawl.UnitID{0xff}) {
		t.Error("the pass does not end before the last unit")
	}
}

// What a pass keeps of a pack does not keep the whole pack in memory.
func TestAPassCopiesWhatItKeeps(t *testing.T) {
	pack, err := readPack(packItems([]itemEntry{{Key: items.Key{Unit: unitN(1)}, body: []byte(`{"n":1}`)}}))
	p := pass{budget: passBudget}
	if err == nil {
		err = p.add(pack)
	}
	if err != nil {
		t.Fatal(err)
	}
	clear(pack.entries)
	if got := string(p.entries[0].body); got != `{"n":1}` {
		t.Errorf("with its pack gone the entry holds %q", got)
	}
}

// A pass that fails ends the scan after the rows of those before it.
func TestAnErrorInALaterPassComesAfterItsRows(t *testing.T) {
	store, b := openItems(t, 2_000, nil)
	if err := store.Put(t.Context(), fakeJob, oneShard(hashedRows(t, 1, 50))); err != nil {
		t.Fatal(err)
	}
	queries := 0
	b.SetHook(func(c *awstest.Call) awstest.Fault {
		if c.Op != "dynamodb.Query" {
			return awstest.Fault{}
		}
		if queries++; queries < 3 {
			return awstest.Fault{}
		}
		return awstest.Fault{Error: &awstest.Error{Status: 400, Code: "AccessDeniedException", Message: "no"}}
	})
	rows, errs := 0, 0
	for row, err := range store.Scan(t.Context(), fakeJob, 0) {
		if err == nil && errs == 0 {
			rows++
			continue
		}
		if errs++; row.Run != "" || !strings.Contains(err.Error(), "scan items of shard 0 of job "+fakeJob) {
			t.Errorf("after %d rows: %v, %v", rows, row.Key, err)
		}
	}
	if rows == 0 || rows >= 50 || errs != 1 {
		t.Errorf("%d rows and %d errors, want the rows of two passes and one error", rows, errs)
	}
}

// Blobs are fetched as far ahead as calls go at once, not for the whole pass.
func TestBlobsAreFetchedAFewAhead(t *testing.T) {
	store, b := openItems(t, passBudget, nil)
	rows := oneShard(hashedRows(t, 1, 40))
	for i := range rows {
		item, err := crawl.NewItem(map[string]any{"n": i, "text": noiseOf(t, 20_000)})
		if err != nil {
			t.Fatal(err)
		}
		rows[i].Item = item
	}
	if err := store.Put(t.Context(), fakeJob, rows); err != nil {
		t.Fatal(err)
	}
	for range store.Scan(t.Context(), fakeJob, 0) {
		break
	}
	if n := b.Calls()["s3.GetObject"]; n != rowsAtOnce {
		t.Errorf("for the first item %d blobs were fetched, want %d", n, rowsAtOnce)
	}
	if got := read(t, store, 0); len(got) != len(rows) {
		t.Errorf("%d of %d long items come back", len(got), len(rows))
	}
	if n := b.Calls()["s3.GetObject"]; n != rowsAtOnce+len(rows) {
		t.Errorf("%d blobs were fetched in all, want each once and the first %d twice", n, rowsAtOnce)
	}
}

// noiseOf is text that hardly gets shorter.
func noiseOf(t testing.TB, n int) string {
	t.Helper()
	b := make([]byte, n/2)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return fmt.Sprintf("%x", b)
}

// oneShard moves rows into shard 0.
func oneShard(rows []items.Row) []items.Row {
	for i := range rows {
		rows[i].Unit[0] %= 256 / frontier.Shards
	}
	return rows
}

// An expired pack is not read, and one that lives is, beside it.
func TestScanSkipsExpiredPacks(t *testing.T) {
	pack := func(run crawl.RunID, expires int64) record {
		r := packItems([]itemEntry{{Key: items.Key{Unit: unitN(1), Run: run}, state: items.Dropped, body: []byte("{}")}})
		r["a"], r[topology.TTL] = asNumber(1), asNumber(expires)
		return r
	}
	packs := []record{pack("past", noon.Unix()-1), pack("now", noon.Unix()), pack("later", noon.Unix()+1)}
	s, _ := storeOver(t, &fakeRows{query: func(in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		if !*in.ConsistentRead {
			t.Error("the read is not strong")
		}
		return &dynamodb.QueryOutput{Items: packs}, nil
	}})
	rows := read(t, s.Items(), 0)
	if len(rows) != 1 || rows[0].Run != "later" {
		t.Errorf("%d rows, want that of the pack that lives", len(rows))
	}
}
