package aws

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/topology"
)

func unitN(n int) crawl.UnitID { return crawl.RepeatUnit(crawl.StartUnit, [20]byte{}, n) }

// shelf answers batches like a table, save what leave says it leaves.
type shelf struct {
	mu    sync.Mutex
	rows  map[string]record // by the bytes of the sort key
	sizes []int             // of the batches
	leave func(call, entries int) int
}

func (s *shelf) get(in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := in.RequestItems["fake-frontier"]
	n := len(asked.Keys)
	left := s.leave(len(s.sizes), n)
	s.sizes = append(s.sizes, n)
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{}}
	for _, key := range asked.Keys[:n-left] {
		in := reader{record: key}
		if row, ok := s.rows[string(in.raw("unit"))]; ok {
			out.Responses["fake-frontier"] = append(out.Responses["fake-frontier"], row)
		}
	}
	if left > 0 {
		asked.Keys = asked.Keys[n-left:]
		out.UnprocessedKeys = map[string]types.KeysAndAttributes{"fake-frontier": asked}
	}
	return out, nil
}

func (s *shelf) write(in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	puts := in.RequestItems["fake-items"]
	left := s.leave(len(s.sizes), len(puts))
	s.sizes = append(s.sizes, len(puts))
	for _, put := range puts[:len(puts)-left] {
		in := reader{record: put.PutRequest.Item}
		s.rows[string(in.raw("item"))] = put.PutRequest.Item
	}
	out := &dynamodb.BatchWriteItemOutput{}
	if left > 0 {
		out.UnprocessedItems = map[string][]types.WriteRequest{"fake-items": puts[len(puts)-left:]}
	}
	return out, nil
}

func nothing(int, int) int { return 0 }

// filled has a queued row for each of n units.
func filled(n int) *shelf {
	s := &shelf{rows: map[string]record{}, leave: nothing}
	for i := range n {
		row := packUnit(fakeJob, frontier.Row{Unit: unitN(i), State: frontier.Queued})
		row[topology.TTL] = asNumber(noon.Unix() + 1)
		u := unitN(i)
		s.rows[string(u[:])] = row
	}
	return s
}

func firstUnits(n int) []crawl.UnitID {
	list := make([]crawl.UnitID, n)
	for i := range list {
		list[i] = unitN(i)
	}
	return list
}

func (s *shelf) total() (n int) {
	for _, size := range s.sizes {
		n += size
	}
	return n
}

func TestGetAsksForAHundredAtATimeAndForNoneTwice(t *testing.T) {
	shelf := filled(130)
	s, _ := storeOver(t, &fakeRows{batchGet: shelf.get})
	rows, err := s.Frontier().Get(t.Context(), fakeJob, append(firstUnits(130), firstUnits(40)...), frontier.Strong)
	if err != nil || len(rows) != 130 {
		t.Fatalf("%d rows (%v), want 130", len(rows), err)
	}
	if len(shelf.sizes) != 2 || shelf.total() != 130 {
		t.Errorf("batches of %v, want 130 keys in two", shelf.sizes)
	}
}

func TestGetLeavesOutWhatHasExpired(t *testing.T) {
	shelf := filled(3)
	for n, at := range []int64{noon.Unix() - 1, noon.Unix(), noon.Unix() + 1} {
		u := unitN(n)
		shelf.rows[string(u[:])][topology.TTL] = asNumber(at)
	}
	s, _ := storeOver(t, &fakeRows{batchGet: shelf.get})
	rows, err := s.Frontier().Get(t.Context(), fakeJob, firstUnits(3), frontier.Eventual)
	if _, ok := rows[unitN(2)]; err != nil || len(rows) != 1 || !ok {
		t.Errorf("%v (%v), want the third row alone", rows, err)
	}
}

func TestUnprocessedKeysAreAskedForAgain(t *testing.T) {
	shelf := filled(90)
	shelf.leave = func(call, n int) int { return []int{60, 60, 60, 10, 0}[call] }
	s, waited := storeOver(t, &fakeRows{batchGet: shelf.get})
	rows, err := s.Frontier().Get(t.Context(), fakeJob, firstUnits(90), frontier.Strong)
	if err != nil || len(rows) != 90 {
		t.Fatalf("%d rows (%v), want 90", len(rows), err)
	}
	// After 30 are done: 25 to 50 ms; nothing done: up to 100, up to 200;
	// some done: up to 50 again.
	if *waited < 200*time.Millisecond || *waited > 400*time.Millisecond {
		t.Errorf("waited %s in all, want 200 to 400 ms", *waited)
	}
}

func TestAKeyThatIsNeverProcessedIsAnError(t *testing.T) {
	shelf := filled(2)
	shelf.leave = func(_, n int) int { return 1 }
	s, waited := storeOver(t, &fakeRows{batchGet: shelf.get})
	_, err := s.Frontier().Get(t.Context(), fakeJob, firstUnits(2), frontier.Strong)
	if err == nil || !strings.Contains(err.Error(), "read 2 units") || !strings.Contains(err.Error(), "1 entries are left unprocessed for 1m") {
		t.Errorf("got %v", err)
	}
	if *waited < stuckAfter || *waited > stuckAfter+2*longestDelay {
		t.Errorf("waited %s, want about %s", *waited, stuckAfter)
	}
}

func TestUnprocessedKeysEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	shelf := filled(2)
	shelf.leave = func(call, n int) int {
		if call == 3 {
			cancel()
		}
		return 1
	}
	s, _ := storeOver(t, &fakeRows{batchGet: shelf.get})
	_, err := s.Frontier().Get(ctx, fakeJob, firstUnits(2), frontier.Strong)
	if !errors.Is(err, context.Canceled) || len(shelf.sizes) != 4 {
		t.Errorf("%d calls, %v", len(shelf.sizes), err)
	}
}

// packsOfTheirOwn are items of one run so long that each has its pack.
func packsOfTheirOwn(t testing.TB, n int) []items.Row {
	t.Helper()
	rows := make([]items.Row, n)
	for i := range rows {
		rows[i] = items.Row{
			Key: items.Key{Unit: unitN(1), Run: "r", Ordinal: i}, State: items.Dead,
			Why: strings.Repeat(string(rune('a'+i)), mostPacked),
		}
	}
	return rows
}

func TestPacksArePutTwentyFiveAtATimeTheLastOfAKeyWins(t *testing.T) {
	shelf := &shelf{rows: map[string]record{}, leave: nothing}
	s, _ := storeOver(t, &fakeRows{batchWrite: shelf.write})
	rows := packsOfTheirOwn(t, 60)
	rows[17].Ordinal, rows[59].Ordinal = 3, 3
	if err := s.Items().Put(t.Context(), fakeJob, rows); err != nil {
		t.Fatal(err)
	}
	if len(shelf.sizes) != 3 || shelf.total() != 58 || len(shelf.rows) != 58 {
		t.Fatalf("batches of %v, %d packs, want 58 in 3 calls", shelf.sizes, len(shelf.rows))
	}
	for _, r := range shelf.rows {
		pack, err := readPack(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := pack.each(func(e itemEntry) {
			if e.Ordinal == 3 && e.why != rows[59].Why {
				t.Errorf("of the key that came three times there is %.3s…", e.why)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// What is sent again has the keys that it had, so no pack is there twice.
func TestUnprocessedPacksAreSentAgain(t *testing.T) {
	shelf := &shelf{rows: map[string]record{}, leave: func(call, n int) int { return []int{20, 20, 1, 1, 0}[call] }}
	s, waited := storeOver(t, &fakeRows{batchWrite: shelf.write})
	if err := s.Items().Put(t.Context(), fakeJob, packsOfTheirOwn(t, 25)); err != nil {
		t.Fatal(err)
	}
	if len(shelf.rows) != 25 || len(shelf.sizes) != 5 || *waited == 0 {
		t.Errorf("%d packs in batches of %v after %s, want all 25", len(shelf.rows), shelf.sizes, *waited)
	}
}

func TestAPackThatIsNeverProcessedIsAnError(t *testing.T) {
	shelf := &shelf{rows: map[string]record{}, leave: func(_, n int) int { return 1 }}
	s, _ := storeOver(t, &fakeRows{batchWrite: shelf.write})
	err := s.Items().Put(t.Context(), fakeJob, packsOfTheirOwn(t, 2))
	if err == nil || !strings.Contains(err.Error(), "write 2 items of job "+fakeJob) {
		t.Errorf("got %v", err)
	}
}

func TestAThrottledPutIsAnErrorAndStartsNoMore(t *testing.T) {
	var mu sync.Mutex
	calls := 0
	s, _ := storeOver(t, &fakeRows{putItem: func(*dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		if calls >= 5 {
			return nil, &types.ProvisionedThroughputExceededException{}
		}
		return &dynamodb.PutItemOutput{}, nil
	}})
	rows := make([]frontier.Row, 1000)
	for i := range rows {
		rows[i] = frontier.Row{Unit: unitN(i), State: frontier.Queued}
	}
	_, err := s.Frontier().Put(t.Context(), fakeJob, rows)
	var throttled *types.ProvisionedThroughputExceededException
	if !errors.As(err, &throttled) || !strings.Contains(err.Error(), "write 1000 units") {
		t.Errorf("got %v", err)
	}
	if calls > 5+2*rowsAtOnce {
		t.Errorf("%d puts were begun although the fifth failed", calls)
	}
}

func TestThePatientRetryerKeepsTryingWhereAllAreThrottled(t *testing.T) {
	r := rowRetryer()
	throttled := &types.ProvisionedThroughputExceededException{}
	if !r.IsErrorRetryable(throttled) || r.MaxAttempts() != rowAttempts {
		t.Fatalf("retryable %t, %d attempts", r.IsErrorRetryable(throttled), r.MaxAttempts())
	}
	for range 10_000 { // many calls at once, all of them refused
		if _, err := r.GetRetryToken(t.Context(), throttled); err != nil {
			t.Fatal(err)
		}
	}
	for attempt, most := range map[int]time.Duration{1: 100 * time.Millisecond, 4: 800 * time.Millisecond, 40: longestDelay} {
		if d, err := r.RetryDelay(attempt, throttled); err != nil || d < most/2 || d > most {
			t.Errorf("attempt %d is tried again after %s (%v), want %s to %s", attempt, d, err, most/2, most)
		}
	}
}

func TestAShortPageOfAQueryIsNotTheEnd(t *testing.T) {
	pages := 0
	s, _ := storeOver(t, &fakeRows{query: func(in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		if !*in.ConsistentRead || (pages > 0) != (in.ExclusiveStartKey != nil) {
			t.Errorf("page %d: consistent %t, start %v", pages, *in.ConsistentRead, in.ExclusiveStartKey)
		}
		out := &dynamodb.QueryOutput{}
		if pages != 1 { // the second is empty, as where all was filtered
			row := packUnit(fakeJob, frontier.Row{Unit: unitN(pages), State: frontier.Queued})
			expired := packUnit(fakeJob, frontier.Row{Unit: unitN(99), State: frontier.Queued})
			expired[topology.TTL] = asNumber(noon.Unix())
			out.Items = []map[string]types.AttributeValue{expired, row}
		}
		pages++
		if pages < 6 {
			out.LastEvaluatedKey = unitKey(fakeJob, unitN(pages))
		}
		return out, nil
	}})
	rows, err := s.Frontier().Scan(t.Context(), fakeJob, 0, nil, 3)
	if err != nil || len(rows) != 3 || pages != 4 {
		t.Errorf("%d rows of %d pages (%v), want 3 of 4", len(rows), pages, err)
	}
	pages = 0
	if rows, err = s.Frontier().Scan(t.Context(), fakeJob, 0, nil, 100); err != nil || len(rows) != 5 || pages != 6 {
		t.Errorf("%d rows of %d pages (%v), want all 5 of 6", len(rows), pages, err)
	}
}
