package downloadermw_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A sample is a file of Scrapy's tests, and what comes of it.
type sample struct {
	encoding string
	outcome  string // "" is a response
	flags    []string
	// like is the file that has the body, a file of the same folder; size is
	// the least size of a body that has none.
	like string
	size int
	left bool // the body is as it came, and its coding is told
}

var samples = map[string]sample{
	"html-gzip.bin":                           {encoding: "gzip", size: 74_837},
	"html-br.bin":                             {encoding: "br", like: "html-gzip.bin"},
	"html-zlibdeflate.bin":                    {encoding: "deflate", like: "html-rawdeflate.bin"},
	"html-rawdeflate.bin":                     {encoding: "deflate", size: 74_840},
	"html-gzip-deflate.bin":                   {encoding: "gzip, deflate", like: "html-gzip.bin"},
	"html-gzip-deflate-gzip.bin":              {encoding: "gzip, deflate, gzip", like: "html-gzip.bin"},
	"html-zstd-static-content-size.bin":       {encoding: "zstd", like: "html-gzip.bin"},
	"html-zstd-static-no-content-size.bin":    {encoding: "zstd", like: "html-gzip.bin"},
	"html-zstd-streaming-no-content-size.bin": {encoding: "zstd", like: "html-gzip.bin"},
	"feed-sample1.xml":                        {encoding: "identity", size: 9_000, left: true},
	"feed-sample1.xml.gz":                     {encoding: "gzip", like: "feed-sample1.xml"},
	"feed-sample1.xml.bz2":                    {encoding: "bzip2", size: 1_000, left: true},
	"feed-sample1.tar":                        {encoding: "x-tar", size: 9_000, left: true},
	"feed-sample1.zip":                        {encoding: "zip", size: 1_000, left: true},
	"truncated-crc-error.gz":                  {encoding: "gzip", flags: []string{crawl.FlagPartial}, size: 25_541},
	"truncated-crc-error-short.gz":            {encoding: "gzip", flags: []string{crawl.FlagPartial}, size: 3_741},
	"unexpected-eof.gz":                       {encoding: "gzip", flags: []string{crawl.FlagPartial}, like: "unexpected-eof-output.txt"},
	"unexpected-eof-output.txt":               {encoding: "identity", size: 16_000, left: true},
	"bomb-br.bin":                             {encoding: "br", outcome: "failure too-large"},
	"bomb-deflate.bin":                        {encoding: "deflate", outcome: "failure too-large"},
	"bomb-gzip.bin":                           {encoding: "gzip", outcome: "failure too-large"},
	"bomb-zstd.bin":                           {encoding: "zstd", outcome: "failure too-large"},
}

// TestScrapysSamples unpacks every file of the corpus. One that the table does
// not have fails, and so does one that is not there.
func TestScrapysSamples(t *testing.T) {
	const folder = "../../../shared/corpora/compressed"
	files, err := os.ReadDir(folder)
	if os.IsNotExist(err) {
		t.Skip("the corpora are not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string][]byte{}
	for _, file := range files {
		name := file.Name()
		want, listed := samples[name]
		if !listed {
			t.Errorf("%s is in no table: say what comes of it", name)
			continue
		}
		packed, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := unpack(t, map[string]any{"DOWNLOAD_MAXSIZE": "1MiB"}, crawl.Request{}, want.encoding, string(packed))
		if want.outcome != "" {
			if got := outcome(resp, err); got != want.outcome {
				t.Errorf("%s: %.100s, want %s", name, got, want.outcome)
			}
			continue
		}
		if err != nil || !slices.Equal(resp.Flags, want.flags) || len(resp.Body) < want.size {
			t.Errorf("%s: %.100v, %v; want the flags %v and %d bytes at least", name, resp, err, want.flags, want.size)
			continue
		}
		if want.left && (!bytes.Equal(resp.Body, packed) || resp.Headers.Get("Content-Encoding") != want.encoding) {
			t.Errorf("%s: %d bytes in %q, want the file as it is", name, len(resp.Body), resp.Headers.Get("Content-Encoding"))
		}
		bodies[name] = resp.Body
	}
	for name, want := range samples {
		body, like := bodies[name], bodies[want.like]
		if name == "unexpected-eof.gz" {
			// What it unpacks to is kept as UTF-8.
			if body, err = charmap.Windows1252.NewDecoder().Bytes(body); err != nil {
				t.Fatal(err)
			}
		}
		if want.like != "" && !bytes.Equal(body, like) {
			t.Errorf("%s: %d bytes that differ from the %d of %s", name, len(body), len(like), want.like)
		}
		if bodies[name] == nil && want.outcome == "" {
			t.Errorf("%s is not there, or nothing came of it", name)
		}
	}
	if len(files) != len(samples) {
		t.Errorf("%d files, and %d in the table", len(files), len(samples))
	}
}
