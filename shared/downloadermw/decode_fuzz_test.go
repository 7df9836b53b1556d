package downloadermw_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
)

// FuzzUnpack unpacks what may be packed: whatever comes is bounded and the same
// each time, ends in one of the ways that are told, and what was packed here
// comes back.
func FuzzUnpack(f *testing.F) {
	for _, seed := range [][2]string{
		{"gzip", "PGh0bWw+NDAzPC9odG1sPg=="}, {"deflate", "eJzLSM3JyQcABiwCFQ=="}, {"deflate", "y0jNyckHAA=="}, {"deflate", "eJzLSM3JyQcABiwCFXRyYWlsaW5n"},
		{"x-gzip", "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA=="}, {"gzip, deflate", "eJyT7+ZgAAEm5tMeZ0+eZGdoWyZgxgoUAABIAQWo"},
	} {
		body, err := base64.StdEncoding.DecodeString(seed[1])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed[0], string(body))
	}
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		packed := pack(f, page[:2000], coding)
		f.Add(coding, packed)
		f.Add(coding, packed[:len(packed)/2])
		f.Add(coding+","+coding, pack(f, packed, coding))
		f.Add(coding, pack(f, strings.Repeat("\x00", 100_000), coding))
	}
	f.Add("zstd", zstdWindow(24))
	f.Add("identity, lzma", "text")
	const limit = 64 << 10
	settings := map[string]any{"DOWNLOAD_MAXSIZE": limit}
	f.Fuzz(func(t *testing.T, encoding, body string) {
		resp, err := unpack(t, settings, crawl.Request{}, encoding, body)
		got := outcome(resp, err)
		if again := outcome(unpack(t, settings, crawl.Request{}, encoding, body)); again != got {
			t.Errorf("%.100s the first time, %.100s the second", got, again)
		}
		if err != nil {
			if got != "failure too-large" && got != "failure bad-encoding" {
				t.Errorf("it ends as %s", got)
			}
			return
		}
		if len(resp.Body) > max(limit, len(body)) {
			t.Errorf("%d bytes unpack to %d, more than the limit of %d", len(body), len(resp.Body), limit)
		}
		if resp.HasFlag(downloadermw.FlagNotEncoded) && resp.HasFlag(crawl.FlagPartial) && !strings.Contains(encoding, ",") {
			t.Errorf("a body that is not packed is a part: %v", resp.Flags)
		}
		if coding := strings.ToLower(strings.TrimSpace(encoding)); slices.Contains([]string{"gzip", "deflate", "br", "zstd"}, coding) && len(body) <= limit {
			if back, err := unpack(t, settings, crawl.Request{}, coding, pack(t, body, coding)); err != nil || string(back.Body) != body || back.Flags != nil {
				t.Errorf("what was packed as %s does not come back: %v", coding, err)
			}
		}
	})
}
