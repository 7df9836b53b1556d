// Package originstest holds the tests that every family's origins store must
// pass: the contract of package origins, sentence by sentence.
//
// It leaves to the adapters what becomes of the leases of a process that was
// killed.
package originstest

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/origins"
)

// A Harness is one family under test, with an empty store.
type Harness struct {
	Store origins.Store
	// Now reads the family's clock, Advance moves it.
	Now     func() time.Time
	Advance func(time.Duration)
}

const site = "https://example.com:443"

// Run tests the stores that open returns, a fresh one for each test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	tests := []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"an origin that is not there has no answer", testUnknown},
		{"an answer comes back as it was put", testRoundTrip},
		{"an answer replaces the one before", testReplace},
		{"an expired answer is returned all the same", testExpired},
		{"bodies belong to their owners", testCopies},
		{"a lease is one asker's until it ends", testLease},
		{"an answer gives the lease back", testPutGivesBack},
		{"a lease leaves the old answer to be read", testLeaseKeepsAnswer},
		{"InterleavingV: of many askers one has the lease", testAtOnce},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func (h Harness) put(t *testing.T, origin string, row origins.Row) {
	t.Helper()
	if err := h.Store.Put(t.Context(), origin, row); err != nil {
		t.Fatalf("put %s: %v", origin, err)
	}
}

// want fails unless the answer of an origin is the one wanted; nil for none.
func (h Harness) want(t *testing.T, origin string, want *origins.Row) {
	t.Helper()
	row, answered, err := h.Store.Get(t.Context(), origin)
	if err != nil || answered != (want != nil) {
		t.Fatalf("get %s: answered %t (%v), want %t", origin, answered, err, want != nil)
	}
	if want == nil {
		return
	}
	if diff := cmp.Diff(*want, row, cmp.Comparer(bytes.Equal)); diff != "" {
		t.Errorf("mismatch (-want, +got):\n%s", diff)
	}
}

func (h Harness) lease(t *testing.T, origin string, d time.Duration, want bool) {
	t.Helper()
	got, err := h.Store.Lease(t.Context(), origin, h.Now().Add(d))
	if err != nil || got != want {
		t.Errorf("lease %s for %s: %t (%v), want %t", origin, d, got, err, want)
	}
}

// answer is a robots.txt of the largest size.
func (h Harness) answer() origins.Row {
	return origins.Row{
		Status: 200, Body: bytes.Repeat([]byte("Disallow: /x\xff\n"), 500<<10/14),
		Expires: h.Now().Add(24 * time.Hour).UTC().Round(0),
	}
}

func testUnknown(t *testing.T, h Harness) {
	h.want(t, site, nil)
	h.put(t, "http://example.com:80", h.answer())
	h.want(t, site, nil)
}

func testRoundTrip(t *testing.T, h Harness) {
	want := h.answer()
	h.put(t, site, want)
	h.want(t, site, &want)

	unreachable := origins.Row{Status: -1, Expires: want.Expires, Since: want.Expires.Add(-time.Hour)}
	h.put(t, "http://down.example:80", unreachable)
	h.want(t, "http://down.example:80", &unreachable)
}

func testReplace(t *testing.T, h Harness) {
	h.put(t, site, h.answer())
	want := origins.Row{Status: 404, Expires: h.answer().Expires}
	h.put(t, site, want)
	h.want(t, site, &want)
}

func testExpired(t *testing.T, h Harness) {
	want := h.answer()
	h.put(t, site, want)
	h.Advance(48 * time.Hour)
	h.want(t, site, &want)
}

func testCopies(t *testing.T, h Harness) {
	row, want := h.answer(), h.answer()
	h.put(t, site, row)
	row.Body[0] = 'X'
	h.want(t, site, &want)
	got, _, err := h.Store.Get(t.Context(), site)
	if err != nil {
		t.Fatal(err)
	}
	got.Body[0] = 'X'
	h.want(t, site, &want)
}

func testLease(t *testing.T, h Harness) {
	h.lease(t, site, time.Minute, true)
	h.lease(t, site, time.Minute, false)
	h.lease(t, "https://other.example:443", time.Minute, true)
	h.want(t, site, nil) // a lease is no answer
	h.Advance(59 * time.Second)
	h.lease(t, site, time.Minute, false)
	h.Advance(time.Second)
	h.lease(t, site, 10*time.Second, true)
	h.Advance(10 * time.Second)
	h.lease(t, site, time.Minute, true)
}

func testPutGivesBack(t *testing.T, h Harness) {
	h.lease(t, site, time.Hour, true)
	h.put(t, site, h.answer())
	h.lease(t, site, time.Hour, true)
	h.lease(t, site, time.Hour, false)
}

func testLeaseKeepsAnswer(t *testing.T, h Harness) {
	want := h.answer()
	h.put(t, site, want)
	h.lease(t, site, time.Hour, true)
	h.want(t, site, &want)
}

func testAtOnce(t *testing.T, h Harness) {
	const askers = 8
	for round := range 3 {
		until := h.Now().Add(time.Minute)
		got := make([]bool, askers)
		var wg sync.WaitGroup
		for i := range askers {
			wg.Go(func() {
				var err error
				if got[i], err = h.Store.Lease(t.Context(), site, until); err != nil {
					t.Errorf("lease: %v", err)
				}
			})
		}
		wg.Wait()
		holders := 0
		for _, has := range got {
			if has {
				holders++
			}
		}
		if holders != 1 {
			t.Errorf("round %d: %d of %d askers have the lease, want 1", round, holders, askers)
		}
		h.Advance(time.Minute)
	}
}
