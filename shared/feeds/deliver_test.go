package feeds_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/feeds"
	"github.com/skitterhq/skitter/shared/stats"
)

var errBroken = errors.New("broken")

func numbered(job string, n int, err error) iter.Seq2[crawl.Item, error] {
	return func(yield func(crawl.Item, error) bool) {
		for i := range n {
			item, err := crawl.NewItem(struct {
				Job string `json:"job"`
				N   int    `json:"n"`
			}{job, i})
			if !yield(item, err) {
				return
			}
		}
		if err != nil {
			yield(crawl.Item{}, err)
		}
	}
}

func lines(job string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"job\":%q,\"n\":%d}\n", job, i)
	}
	return b.String()
}

type place struct {
	t    *testing.T
	file string
}

func newPlace(t *testing.T, name string) place {
	return place{t, filepath.Join(t.TempDir(), name)}
}

func (p place) dir() string { return filepath.Dir(p.file) }

func (p place) write(content string) {
	p.t.Helper()
	if err := os.WriteFile(p.file, []byte(content), 0o640); err != nil {
		p.t.Fatal(err)
	}
}

func (p place) expect(want string) {
	p.t.Helper()
	got, err := os.ReadFile(p.file)
	if err != nil {
		p.t.Fatal(err)
	}
	if string(got) != want {
		p.t.Errorf("the file has\n%.300s\nwant\n%.300s", got, want)
	}
}

func (p place) noParts() {
	p.t.Helper()
	if names := list(p.t, p.dir()); strings.Contains(names, ".part") {
		p.t.Errorf("left behind: %s", names)
	}
}

func (p place) feed(overwrite bool) crawl.Feed {
	format, err := feeds.FormatOf(p.file)
	if err != nil {
		p.t.Fatal(err)
	}
	return crawl.Feed{URI: p.file, Format: format, Overwrite: overwrite}
}

func (p place) deliver(overwrite bool, uid crawl.JobUID, items iter.Seq2[crawl.Item, error]) (int, error) {
	return feeds.Deliver(context.Background(), p.feed(overwrite), uid, feeds.Options{}, items)
}

func TestDeliver(t *testing.T) {
	for _, overwrite := range []bool{true, false} {
		for _, existing := range []string{"none", "", "old\n", "old without end"} {
			t.Run(fmt.Sprintf("overwrite %v, existing %q", overwrite, existing), func(t *testing.T) {
				p := newPlace(t, "out.jsonl")
				want := lines("a", 3)
				if existing != "none" {
					p.write(existing)
					if !overwrite && existing != "" {
						want = strings.TrimSuffix(existing, "\n") + "\n" + want
					}
				}
				for range 2 { // the second time changes nothing
					n, err := p.deliver(overwrite, "a", numbered("a", 3, nil))
					if n != 3 || err != nil {
						t.Errorf("got %d, %v", n, err)
					}
					p.expect(want)
					p.noParts()
				}
				if info, err := os.Stat(p.file); existing != "none" && (err != nil || info.Mode().Perm() != 0o640) {
					t.Errorf("the permissions became %v", info.Mode())
				}
			})
		}
	}
}

func TestItemsThatFailLeaveTheFileAsItWas(t *testing.T) {
	for _, overwrite := range []bool{true, false} {
		for _, exists := range []bool{true, false} {
			p := newPlace(t, "out.jsonl")
			if exists {
				p.write("old\n")
			}
			if n, err := p.deliver(overwrite, "a", numbered("a", 10_000, errBroken)); n != 0 || !errors.Is(err, errBroken) {
				t.Errorf("got %d, %v", n, err)
			}
			if exists {
				p.expect("old\n")
			} else if _, err := os.Stat(p.file); err == nil {
				t.Error("there is a file")
			}
			p.noParts()
		}
	}
}

func TestACancelledDeliveryLeavesTheFileAsItWas(t *testing.T) {
	for _, overwrite := range []bool{true, false} {
		p := newPlace(t, "out.jsonl")
		p.write("old\n")
		ctx, cancel := context.WithCancel(context.Background())
		_, err := feeds.Deliver(ctx, p.feed(overwrite), "a", feeds.Options{}, func(yield func(crawl.Item, error) bool) {
			for item, err := range numbered("a", 10, nil) {
				if !yield(item, err) {
					return
				}
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		p.expect("old\n")
		p.noParts()
	}
}

func TestDeliverLeavesOutWhatCannotBeWritten(t *testing.T) {
	p := newPlace(t, "out.jsonl")
	var log bytes.Buffer
	var st stats.Collector
	o := feeds.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Stats: &st}
	n, err := feeds.Deliver(context.Background(), p.feed(true), "a", o, func(yield func(crawl.Item, error) bool) {
		var bad crawl.Item
		if err := bad.Set("a", make(chan int)); err != nil {
			t.Error(err)
		}
		for item := range numbered("a", 2, nil) {
			_ = yield(item, nil) && yield(bad, nil)
		}
	})
	if n != 2 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	p.expect(lines("a", 2))
	if c := st.Take()["feedexport/item_failed_count"]; c != 2 || strings.Count(log.String(), "level=WARN") != 2 {
		t.Errorf("%d were counted, log %s", c, &log)
	}
}

func TestDeliverThroughALink(t *testing.T) {
	for _, overwrite := range []bool{true, false} {
		p := newPlace(t, "out.jsonl")
		real := filepath.Join(t.TempDir(), "real.jsonl")
		if err := os.WriteFile(real, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, p.file); err != nil {
			t.Skip(err)
		}
		if _, err := p.deliver(overwrite, "a", numbered("a", 1, nil)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(p.file); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Error("the link is gone")
		}
		place{t, real}.expect(lines("a", 1))
	}
}

func TestDeliverRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, feed := range []crawl.Feed{
		{URI: "s3://bucket/a.csv", Format: "csv"},
		{URI: dir, Format: "csv", Overwrite: true},
		{URI: filepath.Join(dir, "no", "a.csv"), Format: "csv"},
		{URI: filepath.Join(dir, "no", "a.csv"), Format: "csv", Overwrite: true},
		{URI: filepath.Join(dir, "a.xml"), Format: "xml"},
	} {
		if n, err := feeds.Deliver(context.Background(), feed, "a", feeds.Options{}, numbered("a", 1, nil)); n != 0 || err == nil {
			t.Errorf("%s: got %d, %v", feed.URI, n, err)
		}
	}
	if names := list(t, dir); names != "" {
		t.Errorf("left behind: %s", names)
	}
}

func TestDeliverHoldsNoItems(t *testing.T) {
	p := newPlace(t, "out.csv")
	var most uint64
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 100_000
	if testing.Short() {
		n = 20_000
	}
	i := 0
	_, err := p.deliver(false, "a", func(yield func(crawl.Item, error) bool) {
		for item, err := range numbered("a", n, nil) {
			if !yield(item, err) {
				return
			}
			if i++; i%(n/4) == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if grown := int64(most) - int64(before.HeapAlloc); grown > 2<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}
