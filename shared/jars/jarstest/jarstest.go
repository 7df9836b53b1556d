// Package jarstest holds the tests that every family's store of cookies must
// pass: the contract of package jars, sentence by sentence.
package jarstest

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jars"
)

// A Harness is one family under test, with an empty store.
type Harness struct {
	Store jars.Store
}

const job = crawl.JobUID("job")

// Run tests the stores that open returns, a fresh one for each test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	tests := []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"a text comes back as it was put", testRoundTrip},
		{"what is unknown is not found", testUnknown},
		{"the same text may be put again", testAgain},
		{"InterleavingO: a text that was just put is found", testJustPut},
		{"each job has its own", testJobs},
		{"many are put and read at once", testAtOnce},
		{"errors do not show what is secret", testSecret},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func (h Harness) put(t *testing.T, job crawl.JobUID, text string) {
	t.Helper()
	if err := h.Store.Put(t.Context(), job, text); err != nil {
		t.Fatalf("put %d bytes: %v", len(text), err)
	}
}

func (h Harness) want(t *testing.T, job crawl.JobUID, text string) {
	t.Helper()
	got, err := h.Store.Get(t.Context(), job, jars.HashOf(text))
	if err != nil || got != text {
		t.Errorf("get: %d bytes (%v), want the %d that were put:\n%.100q\n%.100q", len(got), err, len(text), got, text)
	}
}

func (h Harness) wantNone(t *testing.T, job crawl.JobUID, hash jars.Hash) {
	t.Helper()
	if got, err := h.Store.Get(t.Context(), job, hash); !errors.Is(err, jars.ErrNotFound) || got != "" {
		t.Errorf("get %q: %q (%v), want ErrNotFound", hash, got, err)
	}
}

// random is text that does not get shorter by packing.
func random(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	r := rand.New(rand.NewPCG(uint64(n), 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

func testRoundTrip(t *testing.T, h Harness) {
	for _, text := range []string{
		"a", random(301), random(8 << 10), strings.Repeat("the same ", 900),
		"spaces \t and\nlines", "čęłň 字 \U0001f36a", "not UTF-8: \xff\xfe", "\x00",
	} {
		h.put(t, job, text)
		h.want(t, job, text)
	}
}

func testUnknown(t *testing.T, h Harness) {
	h.wantNone(t, job, jars.HashOf("x"))
	h.put(t, job, "y")
	h.wantNone(t, job, jars.HashOf("x"))
	h.wantNone(t, job, "")
	h.wantNone(t, job, "no hash")
	h.wantNone(t, job, jars.Hash(strings.Repeat("long", 1000)))
	h.wantNone(t, "another", jars.HashOf("y"))
}

func testAgain(t *testing.T, h Harness) {
	text := random(2000)
	for range 3 {
		h.put(t, job, text)
		h.want(t, job, text)
	}
}

func testJustPut(t *testing.T, h Harness) {
	for n := range 20 {
		text := random(400 + n)
		h.wantNone(t, job, jars.HashOf(text))
		h.put(t, job, text)
		h.want(t, job, text)
	}
}

func testJobs(t *testing.T, h Harness) {
	h.put(t, "one", "of one")
	h.put(t, "two", "of two")
	h.wantNone(t, "two", jars.HashOf("of one"))
	h.put(t, "two", "of one")
	h.want(t, "one", "of one")
	h.want(t, "two", "of one")
	h.want(t, "two", "of two")
}

func testAtOnce(t *testing.T, h Harness) {
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			text := random(500 + i%4)
			if err := h.Store.Put(t.Context(), job, text); err != nil {
				t.Errorf("put: %v", err)
				return
			}
			h.want(t, job, text)
		})
	}
	wg.Wait()
}

func testSecret(t *testing.T, h Harness) {
	const secret = "session=very-secret"
	h.put(t, job, secret)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := h.Store.Put(ctx, job, secret)
	if err == nil {
		t.Fatal("a put whose context is done returns nil")
	}
	if strings.Contains(err.Error(), "very-secret") {
		t.Errorf("the error shows the cookies: %v", err)
	}
	if _, err := h.Store.Get(ctx, job, jars.HashOf(secret)); err == nil || errors.Is(err, jars.ErrNotFound) {
		t.Errorf("get with a context that is done: %v, want an error that is not ErrNotFound", err)
	}
}
