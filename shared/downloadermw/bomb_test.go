package downloadermw_test

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
)

// Bombs are stopped soon after the limit, whatever follows, so 12 MiB instead of
// the gibibyte that the case asks for are enough to be one.
func TestBombCases(t *testing.T) {
	zeros := strings.Repeat("\x00", 12<<20)
	eachCase(t, "bomb", func(t *testing.T, input, expect json.RawMessage) {
		var in struct {
			Gen      struct{ Codings []string }
			Settings map[string]any
		}
		var want struct {
			MaxRSS uint64 `json:"max_rss_mib"`
		}
		read(t, input, &in)
		read(t, expect, &want)
		for _, coding := range in.Gen.Codings {
			if strings.Contains(coding, ".") {
				continue // a file, for the sitemap reader
			}
			t.Run(coding, func(t *testing.T) {
				bomb := pack(t, zeros, slices.Collect(strings.SplitSeq(coding, ","))...)
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				got := outcome(unpack(t, in.Settings, crawl.Request{}, coding, bomb))
				runtime.ReadMemStats(&after)
				if got != "failure too-large" {
					t.Errorf("got %.100s", got)
				}
				// All that was allocated is more than what was held at once.
				allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
				t.Logf("%d bytes packed, %d MiB allocated", len(bomb), allocated)
				if allocated > want.MaxRSS {
					t.Errorf("%d MiB were allocated, want %d at most", allocated, want.MaxRSS)
				}
			})
		}
	})
}
