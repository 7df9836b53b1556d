package aws_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/origins"
	"github.com/skitterhq/skitter/shared/slotrows"
)

// oddTexts are names of all lengths and letters, in their order.
func oddTexts() []string {
	long := strings.Repeat("x", 900)
	texts := []string{
		"", "\x00", "\x01", " ", "a", "a\x00b", "a\x00c", "a/b", "a.b", "..", "größer", "日本", "#", "sha256-a", "invalid \xff", "invalid \xfe",
		long, long[:899] + "ö", long + "1", long + "2", strings.Repeat("y", 3000), strings.Repeat("日", 1000),
		strings.Repeat("日", 1000) + "!",
	}
	slices.Sort(texts)
	return texts
}

func TestLettersOfAllIDsAreKeptApart(t *testing.T) {
	s, _, _ := openFaulty(t)
	ids := oddTexts()
	ids = slices.DeleteFunc(ids, func(id string) bool { return !utf8.ValidString(id) }) // JSON has none
	for _, id := range slices.Backward(ids) {
		if err := s.Dead().Put(t.Context(), dead.Letter{ID: id, Job: jobA, Body: []byte("body of " + id)}); err != nil {
			t.Fatalf("put %.40q: %v", id, err)
		}
	}
	list, err := s.Dead().List(t.Context(), jobA, 0)
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, l := range list {
		listed = append(listed, l.ID)
	}
	sorted := slices.Sorted(slices.Values(listed))
	if !slices.Equal(sorted, ids) {
		t.Errorf("%d letters are listed, want %d", len(listed), len(ids))
	}
	for _, id := range ids {
		l, ok, err := s.Dead().Get(t.Context(), jobA, id)
		if err != nil || !ok || l.ID != id || string(l.Body) != "body of "+id {
			t.Errorf("letter %.40q: %.40q, found %t (%v)", id, l.ID, ok, err)
		}
	}
}

func TestSlotsOfAllNamesAreKeptApart(t *testing.T) {
	s, _, _ := openFaulty(t)
	gate := func(i int) time.Time { return newClock().now.Add(time.Duration(i+1) * time.Second) }
	for i, slot := range oddTexts() {
		if did, err := s.SlotRows().Swap(t.Context(), slot, slotrows.Row{Gate: gate(i)}); err != nil || !did {
			t.Fatalf("swap %.40q: %t (%v)", slot, did, err)
		}
	}
	for i, slot := range oddTexts() {
		if row, err := s.SlotRows().Get(t.Context(), slot); err != nil || !row.Gate.Equal(gate(i)) {
			t.Errorf("slot %.40q: %v (%v)", slot, row, err)
		}
	}
}

func TestOriginsAndSlotsOfOneNameAreKeptApart(t *testing.T) {
	s, c, _ := openFaulty(t)
	for i, name := range oddTexts() {
		if err := s.Origins().Put(t.Context(), name, origins.Row{Status: i + 1, Expires: c.Now().Add(day)}); err != nil {
			t.Fatalf("put %.40q: %v", name, err)
		}
	}
	for i, name := range oddTexts() {
		row, found, err := s.Origins().Get(t.Context(), name)
		if err != nil || !found || row.Status != i+1 {
			t.Errorf("origin %.40q: status %d, found %t (%v)", name, row.Status, found, err)
		}
		if slot, err := s.SlotRows().Get(t.Context(), name); err != nil || slot.Version != 0 {
			t.Errorf("slot %.40q: version %d (%v)", name, slot.Version, err)
		}
	}
}

func TestJobsAndLeasesOfAllNamesAreKeptApart(t *testing.T) {
	s, _, _ := openFaulty(t)
	for i, name := range oddTexts() {
		job := someJob(crawl.JobUID(fmt.Sprint(i)), name)
		if !utf8.ValidString(name) {
			continue // JSON has no such names
		}
		for _, project := range []string{name, "other"} {
			job.Project, job.UID = project, job.UID+"x"
			if _, wrote, err := s.Jobs().Create(t.Context(), job); err != nil || !wrote {
				t.Fatalf("create %.40q in %.40q: %t (%v)", name, project, wrote, err)
			}
			if got, err := s.Jobs().Find(t.Context(), project, name); err != nil || got.UID != job.UID || got.Name != name {
				t.Errorf("find %.40q in %.40q: %v (%v)", name, project, got.UID, err)
			}
		}
		if took, err := s.Jobs().Lease(t.Context(), name, 60); err != nil || !took {
			t.Errorf("lease %.40q: %t (%v)", name, took, err)
		}
	}
}

func TestManyCountersAreAllAdded(t *testing.T) {
	s, _, inside := openFaulty(t)
	delta := jobs.Counts{}
	for i := range 950 {
		delta[fmt.Sprintf("downloader/response_status_count/%d", i)] = int64(i)
	}
	for range 2 {
		totals, err := s.Jobs().Add(t.Context(), jobA, jobs.Fetch, delta)
		if err != nil || len(totals) != len(delta) {
			t.Fatalf("%d totals (%v), want %d", len(totals), err, len(delta))
		}
	}
	totals, err := s.Jobs().Totals(t.Context(), jobA)
	if err != nil || len(totals) != len(delta) {
		t.Fatalf("%d totals (%v), want %d", len(totals), err, len(delta))
	}
	for name, n := range totals {
		if n != 2*delta[name] {
			t.Errorf("%s is %d, want %d", name, n, 2*delta[name])
		}
	}
	if n := inside.Calls()["dynamodb.UpdateItem"]; n != 20 {
		t.Errorf("%d updates, want 10 for each addition", n)
	}
}

func TestAnAdditionIsOneWriteAndOneRead(t *testing.T) {
	s, _, inside := openFaulty(t)
	if _, _, err := s.Jobs().Create(t.Context(), someJob(jobA, "nightly")); err != nil {
		t.Fatal(err)
	}
	before := inside.Calls()
	if _, err := s.Jobs().Add(t.Context(), jobA, jobs.Fetch, jobs.Counts{"pages": 1}); err != nil {
		t.Fatal(err)
	}
	after := inside.Calls()
	for op, want := range map[string]int{"dynamodb.UpdateItem": 1, "dynamodb.Query": 1, "dynamodb.GetItem": 0, "dynamodb.PutItem": 0} {
		if n := after[op] - before[op]; n != want {
			t.Errorf("%d calls of %s, want %d", n, op, want)
		}
	}
}

// A robots.txt of the largest size that nothing makes shorter is more than a
// row may have.
func TestALongFileOfAnOriginIsKeptWhole(t *testing.T) {
	s, c, _ := openFaulty(t)
	want := origins.Row{Status: 200, Body: random(500 << 10), Expires: c.Now().Add(day)}
	for range 2 {
		if err := s.Origins().Put(t.Context(), "https://long.example:443", want); err != nil {
			t.Fatal(err)
		}
		got, found, err := s.Origins().Get(t.Context(), "https://long.example:443")
		if err != nil || !found || string(got.Body) != string(want.Body) {
			t.Errorf("%d bytes come back, found %t (%v), want %d", len(got.Body), found, err, len(want.Body))
		}
		want.Body = []byte(noise(500 << 10)) // and then one that does get shorter
	}
}

func TestARowOfASlotIsOneWriteUnit(t *testing.T) {
	s, c, inside := openFaulty(t)
	row := slotrows.Row{Gate: c.Now(), Tail: c.Now(), BlockedUntil: c.Now()}
	for i := range 40 {
		row.Leases = append(row.Leases, slotrows.Lease{ID: fmt.Sprintf("%016x", i), Until: c.Now()})
	}
	if did, err := s.SlotRows().Swap(t.Context(), "www.example.com", row); err != nil || !did {
		t.Fatalf("swap: %t (%v)", did, err)
	}
	if units := inside.Capacity()["dynamodb.PutItem"].Write; units != 1 {
		t.Errorf("a row with 40 leases takes %g write units, want 1", units)
	}
}

func TestLeasesOfAllIDsComeBack(t *testing.T) {
	s, c, _ := openFaulty(t)
	want := []string{"", "ab", "AB", "aB", "abc", "0123456789abcdef", "größer", "\x00", strings.Repeat("f", 300)}
	var row slotrows.Row
	for _, id := range want {
		row.Leases = append(row.Leases, slotrows.Lease{ID: id, Until: c.Now()})
	}
	if did, err := s.SlotRows().Swap(t.Context(), "example.com", row); err != nil || !did {
		t.Fatalf("swap: %t (%v)", did, err)
	}
	back, err := s.SlotRows().Get(t.Context(), "example.com")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, lease := range back.Leases {
		got = append(got, lease.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("leases %q, want %q", got, want)
	}
}
