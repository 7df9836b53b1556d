package blobtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/blob"
)

// goodKeys are sorted by their bytes. Among them are neighbours that a folder
// confuses: a file and a folder of one name, letters that differ in case, and
// names that are longer than a file's may be.
func goodKeys() []string {
	long := strings.Repeat("x", blob.MaxKey)
	keys := []string{
		"-", "=", "A", "A/b", "B.json", "_", "a", "a-b", "a..b/c...", "a.b", "a/b", "a/b.",
		"a/b/c", "a/bc", "a0", "ab", ".hidden/x", "con/nul",
		"jobs/0123456789abcdef01234567/spec",
		long, long[:blob.MaxKey-1], long[:200], long[:199] + "X", long[:200] + "/x", long[:255] + "/" + long[:300],
		strings.ToUpper(long),
		strings.Repeat("d/", blob.MaxKey/2-1) + "dd",
	}
	slices.Sort(keys)
	return keys
}

func testGoodKeys(t *testing.T, h Harness) {
	for i, key := range goodKeys() {
		h.put(t, key, string(rune('A'+i)))
	}
	for i, key := range goodKeys() {
		h.want(t, key, string(rune('A'+i)))
	}
}

func testBadKeys(t *testing.T, h Harness) {
	h.put(t, "a", "x")
	bad := []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/../b", "./a", "a/./b",
		"a b", "a\\b", "a\x00b", "a\nb", "ä", "a~", "a+b", "a%2f", "a:b", "a*", "a,b",
		strings.Repeat("x", blob.MaxKey+1),
	}
	for _, key := range bad {
		if err := h.Store.Put(t.Context(), key, []byte("x")); err == nil {
			t.Errorf("put took the key %.80q", key)
		}
		if err := h.Store.PutReader(t.Context(), key, strings.NewReader("x")); err == nil {
			t.Errorf("put of a reader took the key %.80q", key)
		}
		if _, err := h.Store.Get(t.Context(), key, 0, -1); err == nil {
			t.Errorf("get took the key %.80q", key)
		}
		if err := h.Store.Delete(t.Context(), key); err == nil {
			t.Errorf("delete took the key %.80q", key)
		}
	}
	h.wantKeys(t, "", "", 0, []string{"a"})
}

func (h Harness) wantKeys(t *testing.T, prefix, after string, limit int, want []string) {
	t.Helper()
	got, err := h.Store.List(t.Context(), prefix, after, limit)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("list %q after %q, at most %d: %.500q (%v), want %.500q", prefix, after, limit, got, err, want)
	}
}

func testListSorted(t *testing.T, h Harness) {
	h.wantKeys(t, "", "", 0, nil)
	keys := goodKeys()
	for _, i := range []int{3, 0, 5, 1, 4, 2} { // in no order
		for k := i; k < len(keys); k += 6 {
			h.put(t, keys[k], "x")
		}
	}
	h.wantKeys(t, "", "", 0, keys)
	var paged []string
	for after := ""; ; after = paged[len(paged)-1] {
		page, err := h.Store.List(t.Context(), "", after, 4)
		if err != nil {
			t.Fatalf("list after %.80q: %v", after, err)
		}
		if len(page) == 0 {
			break
		}
		paged = append(paged, page...)
	}
	if !slices.Equal(paged, keys) {
		t.Errorf("in pages of 4: %.1000q, want %.1000q", paged, keys)
	}
}

func testListPages(t *testing.T, h Harness) {
	for _, key := range []string{"a", "a/1", "a/2", "a/2/x", "a/3", "ab", "b/1"} {
		h.put(t, key, "x")
	}
	tests := []struct {
		prefix, after string
		limit         int
		want          []string
	}{
		{"a/", "", 0, []string{"a/1", "a/2", "a/2/x", "a/3"}},
		{"a", "", 0, []string{"a", "a/1", "a/2", "a/2/x", "a/3", "ab"}},
		{"a/2", "", 0, []string{"a/2", "a/2/x"}},
		{"a/", "", 2, []string{"a/1", "a/2"}},
		{"a/", "a/2", 0, []string{"a/2/x", "a/3"}},
		{"a/", "a/2/x", 1, []string{"a/3"}},
		{"a/", "a/3", 0, nil},
		{"a/", "a/15", 1, []string{"a/2"}}, // after a key that is not there
		{"", "ab", 0, []string{"b/1"}},
		{"c", "", 0, nil},
		{"a/9/", "", 0, nil},
	}
	for _, test := range tests {
		h.wantKeys(t, test.prefix, test.after, test.limit, test.want)
	}
}

func testDeletePrefix(t *testing.T, h Harness) {
	keys := goodKeys()
	prefixes := []string{
		"a", "a/", "a/b", "a/b/", "A", "A/", "jobs/0123456789abcdef01234567/", "nothing", "nothing/", ".hidden/",
		"x", strings.Repeat("x", 150), strings.Repeat("x", 200) + "/", strings.Repeat("x", 255) + "/", strings.Repeat("d/", 99), "",
	}
	gone := keys
	for _, prefix := range prefixes {
		for _, key := range gone {
			h.put(t, key, key)
		}
		gone = nil
		for range 2 { // what is gone is passed over
			if err := h.Store.DeletePrefix(t.Context(), prefix); err != nil {
				t.Fatalf("delete prefix %.80q: %v", prefix, err)
			}
		}
		var left []string
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				h.wantNone(t, key)
				gone = append(gone, key)
			} else {
				h.want(t, key, key)
				left = append(left, key)
			}
		}
		h.wantKeys(t, "", "", 0, left)
		h.wantKeys(t, prefix, "", 0, nil)
	}
}

func testDeletePrefixOfNone(t *testing.T, h Harness) {
	h.put(t, "a/b", "x")
	for _, prefix := range []string{"/", "a//", "../", "a/../", "./", "a/./", "a/b/../../", "~", "a~", "a\x00/", "ä/", strings.Repeat("x", 2*blob.MaxKey) + "/"} {
		if err := h.Store.DeletePrefix(t.Context(), prefix); err != nil {
			t.Errorf("delete prefix %.80q: %v", prefix, err)
		}
		h.wantKeys(t, prefix, "", 0, nil)
	}
	h.want(t, "a/b", "x")
	h.wantKeys(t, "", "", 0, []string{"a/b"})
}
