// Package blobtest holds the tests that every family's blob store must pass:
// the contract of package blob, sentence by sentence.
package blobtest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/skitterhq/skitter/shared/blob"
)

// A Harness is one family under test, with an empty store.
type Harness struct {
	Store blob.Store
}

// Run tests the stores that open returns, a fresh one for each test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	tests := []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"bytes come back as they were put", testRoundTrip},
		{"a key that holds nothing is not found", testNotFound},
		{"a put replaces what was there", testOverwrite},
		{"bytes belong to their owners", testCopies},
		{"a part can be read", testRange},
		{"a reader is stored whole", testReader},
		{"a reader that fails leaves what was there", testReaderFails},
		{"a deleted key is gone", testDelete},
		{"good keys are taken, and stay apart", testGoodKeys},
		{"bad keys are refused", testBadKeys},
		{"a list is sorted by bytes", testListSorted},
		{"a list has a prefix, a start and a limit", testListPages},
		{"keys are forgotten by their prefix", testDeletePrefix},
		{"what has no key has nothing to forget", testDeletePrefixOfNone},
		{"puts at once leave one of them whole", testAtOnce},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func (h Harness) put(t *testing.T, key, data string) {
	t.Helper()
	if err := h.Store.Put(t.Context(), key, []byte(data)); err != nil {
		t.Fatalf("put %.80s: %v", key, err)
	}
}

func (h Harness) want(t *testing.T, key, want string) {
	t.Helper()
	h.wantPart(t, key, 0, -1, want)
}

func (h Harness) wantPart(t *testing.T, key string, offset, length int64, want string) {
	t.Helper()
	got, err := h.Store.Get(t.Context(), key, offset, length)
	if err != nil || string(got) != want {
		t.Errorf("get %.80s from %d, %d bytes: %.80q (%v), want %.80q", key, offset, length, got, err, want)
	}
}

func (h Harness) wantNone(t *testing.T, key string) {
	t.Helper()
	got, err := h.Store.Get(t.Context(), key, 0, -1)
	if !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("get %.80s: %.80q (%v), want ErrNotFound", key, got, err)
	}
}

func testRoundTrip(t *testing.T, h Harness) {
	big := strings.Repeat("\x00\xff binary \r\n", 100_000)
	h.put(t, "bodies/big", big)
	h.put(t, "bodies/empty", "")
	h.want(t, "bodies/big", big)
	h.want(t, "bodies/empty", "")
}

func testNotFound(t *testing.T, h Harness) {
	h.wantNone(t, "nothing")
	h.put(t, "a/b/c", "x")
	for _, key := range []string{"a", "a/b", "a/b/c/d", "a/b/cc", "A/b/c"} {
		h.wantNone(t, key)
	}
	if _, err := h.Store.Get(t.Context(), "nothing", 5, 5); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("get a part of an unknown key: %v, want ErrNotFound", err)
	}
}

func testOverwrite(t *testing.T, h Harness) {
	h.put(t, "k", "a long first value")
	h.put(t, "k", "short")
	h.want(t, "k", "short")
}

func testCopies(t *testing.T, h Harness) {
	data := []byte("before")
	if err := h.Store.Put(t.Context(), "k", data); err != nil {
		t.Fatal(err)
	}
	copy(data, "AFTER!")
	got, err := h.Store.Get(t.Context(), "k", 0, -1)
	if err != nil || string(got) != "before" {
		t.Fatalf("got %q (%v) after the writer reused its slice, want %q", got, err, "before")
	}
	copy(got, "AFTER!")
	h.want(t, "k", "before")
}

func testRange(t *testing.T, h Harness) {
	h.put(t, "k", "0123456789")
	tests := []struct {
		offset, length int64
		want           string
	}{
		{0, 4, "0123"},
		{3, 4, "3456"},
		{8, 10, "89"},
		{4, -1, "456789"},
		{4, 0, ""},
		{10, 1, ""},
		{10, -1, ""},
		{1000, 5, ""},
		{1000, -1, ""},
	}
	for _, test := range tests {
		h.wantPart(t, "k", test.offset, test.length, test.want)
	}
}

func testReader(t *testing.T, h Harness) {
	data := strings.Repeat("0123456789abcdef", 50_000)
	for _, key := range []string{"feed.jsonl", "feed.jsonl", "empty"} {
		if key == "empty" {
			data = ""
		}
		r := iotest.HalfReader(strings.NewReader(data))
		if err := h.Store.PutReader(t.Context(), key, r); err != nil {
			t.Fatalf("put %s: %v", key, err)
		}
		h.want(t, key, data)
	}
}

func testReaderFails(t *testing.T, h Harness) {
	h.put(t, "k", "before")
	wantErr := errors.New("the source is gone")
	for _, key := range []string{"k", "fresh"} {
		r := iotest.DataErrReader(&failing{data: bytes.NewReader(make([]byte, 300_000)), err: wantErr})
		if err := h.Store.PutReader(t.Context(), key, r); !errors.Is(err, wantErr) {
			t.Errorf("put %s: %v, want the reader's error", key, err)
		}
	}
	h.want(t, "k", "before")
	h.wantNone(t, "fresh")
	if keys, err := h.Store.List(t.Context(), "", "", 0); err != nil || !slices.Equal(keys, []string{"k"}) {
		t.Errorf("keys %q (%v) after failed puts, want only k", keys, err)
	}
}

// failing gives its data and then an error.
type failing struct {
	data *bytes.Reader
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.data.Len() == 0 {
		return 0, f.err
	}
	return f.data.Read(p)
}

func testDelete(t *testing.T, h Harness) {
	h.put(t, "a/b", "1")
	h.put(t, "a/c", "2")
	for _, key := range []string{"a/b", "a/b", "a", "never"} {
		if err := h.Store.Delete(t.Context(), key); err != nil {
			t.Errorf("delete %s: %v", key, err)
		}
	}
	h.wantNone(t, "a/b")
	h.want(t, "a/c", "2")
	h.put(t, "a/b", "again")
	h.want(t, "a/b", "again")
}

func testAtOnce(t *testing.T, h Harness) {
	const writers = 8
	value := func(w int) string { return strings.Repeat(fmt.Sprint(w), 100_000) }
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range 3 {
				if err := h.Store.Put(t.Context(), "shared/k", []byte(value(w))); err != nil {
					t.Errorf("put: %v", err)
				}
				got, err := h.Store.Get(t.Context(), "shared/k", 0, -1)
				if err != nil || len(got) == 0 || string(got) != value(int(got[0]-'0')) {
					t.Errorf("got %d mixed bytes (%v)", len(got), err)
				}
			}
		})
	}
	wg.Wait()
}
