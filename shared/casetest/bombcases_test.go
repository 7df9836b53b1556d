package casetest

import (
	"bytes"
	"io"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
)

// bomb has a server send a few kilobytes that unpack to a gibibyte, under each
// coding and as a file, and looks how far the heap grows.
func bomb(t *testing.T, c reported) {
	var in struct {
		Gen struct {
			Zeros   int64
			Codings []string
		}
		Settings struct {
			Maxsize int64 `json:"DOWNLOAD_MAXSIZE"`
		}
	}
	var want struct {
		MaxOut  int64 `json:"max_out"`
		Retries int64
		MaxRSS  int `json:"max_rss_mib"`
	}
	decode(t, c, &in, &want)
	if testing.Short() {
		in.Gen.Zeros /= 16 // as large as to be one, yet
	}
	settings := map[string]string{"DOWNLOAD_MAXSIZE": strconv.FormatInt(in.Settings.Maxsize, 10)}
	for _, coding := range in.Gen.Codings {
		t.Run(coding, func(t *testing.T) {
			packed := packZeros(t, in.Gen.Zeros, coding)
			var got crawled
			grown := heapGrowth(func() { got = fetchPacked(t, settings, coding, packed) })
			t.Logf("%d bytes packed, the heap grew by %d KiB", len(packed), grown>>10)
			if grown>>20 >= want.MaxRSS {
				t.Errorf("the heap grew by %d MiB, want less than %d", grown>>20, want.MaxRSS)
			}
			if n := got.Stats["retry/count"]; n != want.Retries {
				t.Errorf("%d retries, want %d", n, want.Retries)
			}
			if n := strings.Count(got.Log, "level=WARN"); n != 1 {
				t.Errorf("%d warnings, want one:\n%s", n, got.Log)
			}
			if isFile(coding) {
				if len(got.told) != 0 || got.Stats["leg/sitemap/invalid_count"] != 1 {
					t.Errorf("told %+v; counted %v", got.told, got.Stats)
				}
				return
			}
			if heard := got.only(t); heard.outcome() != "too-large" {
				t.Errorf("%.100q, want too-large", heard.outcome())
			}
			// What is as large as is allowed comes whole, and nothing comes of
			// what is larger.
			whole := fetchPacked(t, settings, coding, packZeros(t, in.Settings.Maxsize, coding)).only(t)
			if !whole.callback || int64(len(whole.Body)) != in.Settings.Maxsize {
				t.Errorf("at the limit: %d bytes, %v", len(whole.Body), whole.failure)
			}
			if heard := fetchPacked(t, settings, coding, packZeros(t, want.MaxOut+1, coding)).only(t); heard.outcome() != "too-large" {
				t.Errorf("above the limit: %d bytes", len(heard.Body))
			}
		})
	}
}

// isFile reports whether a coding of a case is the name of a file, whose
// headers say nothing of it.
func isFile(coding string) bool { return path.Ext(coding) != "" }

// fetchPacked crawls a server whose body is packed.
func fetchPacked(t *testing.T, settings map[string]string, coding string, packed []byte) crawled {
	answer := scripted{Headers: map[string]string{"Content-Encoding": coding, "Content-Type": "text/html"}, BodyB64: packed}
	s := scene{network: &network{site: answer}, settings: settings, requests: []*crawl.Request{{URL: page}}}
	if isFile(coding) {
		answer.Headers = map[string]string{"Content-Type": "application/octet-stream"}
		s.network.site, s.requests = answer, nil
		s.legs = []spider.Leg{legs.Sitemap{SitemapURLs: []string{page + coding}}.Leg()}
	}
	return s.crawl(t)
}

// packZeros packs so many zeros in codings with commas between, the first one
// first, or in a file of a name.
func packZeros(t *testing.T, zeros int64, coding string) []byte {
	t.Helper()
	if isFile(coding) {
		coding = "gzip"
	}
	var body io.Reader = io.LimitReader(endless{}, zeros)
	var out bytes.Buffer
	for name := range strings.SplitSeq(coding, ",") {
		out = bytes.Buffer{}
		w := packer(t, name, &out)
		if _, err := io.Copy(w, body); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(bytes.Clone(out.Bytes()))
	}
	return out.Bytes()
}

func packer(t *testing.T, coding string, out io.Writer) io.WriteCloser {
	t.Helper()
	switch coding {
	case "gzip":
		return gzip.NewWriter(out)
	case "deflate":
		return zlib.NewWriter(out)
	case "br":
		return brotli.NewWriterLevel(out, 2)
	case "zstd":
		w, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	t.Fatalf("no writer of %s", coding)
	return nil
}

// endless gives zeros without end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
