package feeds_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/feeds"
	"github.com/skitterhq/skitter/shared/stats"
)

var errBroken = errors.New("broken")

// numbered gives n items {"job":…,"n":…}, and then an error if err is one.
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

// lines is what numbered gives as JSON Lines.
func lines(job string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"job\":%q,\"n\":%d}\n", job, i)
	}
	return b.String()
}

// A place is a directory with a target in it.
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

// noParts fails if a part was left behind.
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

func TestJobsAppendOneAfterTheOther(t *testing.T) {
	p := newPlace(t, "out.jsonl")
	for _, job := range []string{"a", "b", "c"} {
		if _, err := p.deliver(false, crawl.JobUID(job), numbered(job, 2, nil)); err != nil {
			t.Fatal(err)
		}
	}
	all := lines("a", 2) + lines("b", 2) + lines("c", 2)
	p.expect(all)
	// A job whose delivery is repeated long after others is there already.
	if n, err := p.deliver(false, "a", numbered("a", 2, nil)); n != 2 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	p.expect(all)
}

func TestJobsAppendAtOneTime(t *testing.T) {
	p := newPlace(t, "out.jsonl")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			job := string(rune('a' + i))
			if _, err := p.deliver(false, crawl.JobUID(job), numbered(job, 200, nil)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if !strings.Contains(string(got), lines(string(rune('a'+i)), 200)) {
			t.Errorf("the items of job %c are not there in one piece", 'a'+i)
		}
	}
	if n := bytes.Count(got, []byte("\n")); n != 1600 {
		t.Errorf("there are %d lines, want 1600", n)
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

func TestADiskThatIsFullIsCutBack(t *testing.T) {
	for _, exists := range []bool{true, false} {
		p := newPlace(t, "out.jsonl")
		if exists {
			p.write("old\n")
		}
		through := func(w io.Writer) io.Writer { return &limited{w: w, left: 1000, err: errBroken} }
		_, err := feeds.DeliverWith(context.Background(), p.feed(false), "a", feeds.Options{}, numbered("a", 500, nil), nil, through)
		if !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}
		old := ""
		if exists {
			old = "old\n"
			p.expect(old)
		} else if _, err := os.Stat(p.file); err == nil {
			t.Error("there is a file")
		}
		p.noParts()
		if n, err := p.deliver(false, "a", numbered("a", 500, nil)); n != 500 || err != nil {
			t.Errorf("the next time: got %d, %v", n, err)
		}
		p.expect(old + lines("a", 500))
	}
}

// limited is a disk with some bytes left.
type limited struct {
	w     io.Writer
	left  int
	err   error // if nil, the process dies
	wrote int
}

func (l *limited) Write(b []byte) (int, error) {
	n, err := l.w.Write(b[:min(len(b), l.left)])
	l.left -= n
	l.wrote += n
	if err != nil || n == len(b) {
		return n, err
	}
	if l.err == nil {
		panic(killed{})
	}
	return n, l.err
}

// killed is the panic that stands for a process that dies: nothing is cleaned
// up behind it, but its locks are free.
type killed struct{}

// dying calls f and reports whether it was killed.
func dying(f func()) (dead bool) {
	defer func() {
		if v := recover(); v != nil {
			if _, dead = v.(killed); !dead {
				panic(v)
			}
		}
	}()
	f()
	return false
}

// dieBefore delivers and dies before a step, the first time that it comes.
func (p place) dieBefore(dieAt string, overwrite bool, uid crawl.JobUID, n int) {
	p.t.Helper()
	step := func(next string) {
		if next == dieAt {
			panic(killed{})
		}
	}
	if !dying(func() {
		_, _ = feeds.DeliverWith(context.Background(), p.feed(overwrite), uid, feeds.Options{}, numbered(string(uid), n, nil), step, nil)
	}) {
		p.t.Fatalf("there is no step %q", dieAt)
	}
}

// Whatever step a process dies before, the file is whole or untouched, and the
// next delivery, of the same job or of another, makes it right.
func TestADeathAtAnyStep(t *testing.T) {
	const n, old = 700, "old\n"
	for _, overwrite := range []bool{true, false} {
		var steps []string
		note := func(next string) {
			if len(steps) == 0 || steps[len(steps)-1] != next {
				steps = append(steps, next)
			}
		}
		p := newPlace(t, "out.jsonl")
		if _, err := feeds.DeliverWith(context.Background(), p.feed(overwrite), "a", feeds.Options{}, numbered("a", n, nil), note, nil); err != nil {
			t.Fatal(err)
		}
		if len(steps) < 4 {
			t.Errorf("overwrite %v has the steps %q alone", overwrite, steps)
		}
		for _, step := range steps {
			t.Run(fmt.Sprintf("overwrite %v, before %q", overwrite, step), func(t *testing.T) {
				p := newPlace(t, "out.jsonl")
				p.write(old)
				p.dieBefore(step, overwrite, "a", n)
				afterDeath(t, p, overwrite, old, n)
			})
			t.Run(fmt.Sprintf("overwrite %v, the same job again, before %q", overwrite, step), func(t *testing.T) {
				p := newPlace(t, "out.jsonl")
				p.write(old)
				p.dieBefore(step, overwrite, "a", n)
				want := lines("a", n)
				if !overwrite {
					want = old + want
				}
				if given, err := p.deliver(overwrite, "a", numbered("a", n, nil)); given != n || err != nil {
					t.Errorf("the second delivery: %d, %v", given, err)
				}
				p.expect(want)
				p.noParts()
			})
		}
	}
}

func TestADeathInTheMidstOfTheCopy(t *testing.T) {
	const n = 4000
	for _, bytes := range []int{0, 1, 1000, 32 << 10, 70_000, len(lines("a", n))} {
		p := newPlace(t, "out.jsonl")
		p.write("old\n")
		through := func(w io.Writer) io.Writer { return &limited{w: w, left: bytes} }
		dying(func() {
			_, _ = feeds.DeliverWith(context.Background(), p.feed(false), "a", feeds.Options{}, numbered("a", n, nil), nil, through)
		})
		p.expect("old\n" + lines("a", n)[:bytes])
		afterDeath(t, p, false, "old\n", n)
	}
}

func afterDeath(t *testing.T, p place, overwrite bool, old string, n int) {
	if overwrite {
		got, err := os.ReadFile(p.file)
		if err != nil || string(got) != old && string(got) != lines("a", n) {
			t.Errorf("the file is neither untouched nor whole (%v): %.100s", err, got)
		}
		if given, err := p.deliver(true, "a", numbered("a", n, nil)); given != n || err != nil {
			t.Errorf("the second delivery: %d, %v", given, err)
		}
		p.expect(lines("a", n))
		p.noParts()
		return
	}
	// Another job comes first. What was begun is then completed, or was not.
	if given, err := p.deliver(false, "b", numbered("b", 2, nil)); given != 2 || err != nil {
		t.Errorf("another job: %d, %v", given, err)
	}
	got, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	a, b := lines("a", n), lines("b", 2)
	switch string(got) {
	case old + b:
		b += a
	case old + a + b:
		b = a + b
	default:
		t.Errorf("after another job the file has %.300s", got)
	}
	if given, err := p.deliver(false, "a", numbered("a", n, nil)); given != n || err != nil {
		t.Errorf("the second delivery: %d, %v", given, err)
	}
	p.expect(old + b)
	p.noParts()
}

// What somebody else wrote in the meantime is never cut.
func TestAnAppendThatSomebodyElseWroteInto(t *testing.T) {
	const n = 500
	p := newPlace(t, "out.jsonl")
	p.write("old\n")
	begun := func() {
		through := func(w io.Writer) io.Writer { return &limited{w: w, left: 100} }
		if !dying(func() {
			_, _ = feeds.DeliverWith(context.Background(), p.feed(false), "a", feeds.Options{}, numbered("a", n, nil), nil, through)
		}) {
			t.Fatal("it did not die")
		}
	}
	begun()
	theirs := "old\n" + lines("a", n)[:100] + "a line of somebody's\n"
	p.write(theirs)
	for range 2 {
		if _, err := p.deliver(false, "a", numbered("a", n, nil)); err == nil || !strings.Contains(err.Error(), "from byte 4 on") {
			t.Errorf("got %v", err)
		}
		p.expect(theirs)
	}
	// Another job goes on behind it, and says so.
	var log bytes.Buffer
	o := feeds.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}
	if _, err := feeds.Deliver(context.Background(), p.feed(false), "b", o, numbered("b", 2, nil)); err != nil {
		t.Fatal(err)
	}
	p.expect(theirs + lines("b", 2))
	if !strings.Contains(log.String(), "job=a") {
		t.Errorf("got log %s", &log)
	}
	p.noParts()
}

func TestAnAppendThatWasWholeAndThenWrittenTo(t *testing.T) {
	p := newPlace(t, "out.jsonl")
	p.dieBefore("note that it is done", false, "a", 5)
	p.write(lines("a", 5) + "a line of somebody's\n")
	if _, err := p.deliver(false, "a", numbered("a", 5, nil)); err == nil || !strings.Contains(err.Error(), "somebody else") {
		t.Errorf("got %v", err)
	}
	p.expect(lines("a", 5) + "a line of somebody's\n")
}

// A part is no more when somebody tidies up.
func TestAPartThatWasRemovedAfterADeath(t *testing.T) {
	tests := []struct {
		name, dieBefore, there string
		fails                  bool
	}{
		{"nothing was copied", "copy", "old\n", false},
		{"something was copied", "note that it is done", "old\n" + lines("a", 5), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, "out.jsonl")
			p.write("old\n")
			p.dieBefore(test.dieBefore, false, "a", 5)
			p.expect(test.there)
			if err := os.Remove(filepath.Join(p.dir(), ".out.jsonl.a.part")); err != nil {
				t.Fatal(err)
			}
			if _, err := p.deliver(false, "a", numbered("a", 5, nil)); (err != nil) != test.fails {
				t.Errorf("got %v", err)
			}
			if _, err := p.deliver(false, "b", numbered("b", 1, nil)); err != nil {
				t.Errorf("another job: %v", err)
			}
			p.expect("old\n" + lines("a", 5) + lines("b", 1))
		})
	}
}

func TestATargetThatWasRemovedAfterADeath(t *testing.T) {
	p := newPlace(t, "out.jsonl")
	p.write("old\n")
	through := func(w io.Writer) io.Writer { return &limited{w: w, left: 10} }
	dying(func() {
		_, _ = feeds.DeliverWith(context.Background(), p.feed(false), "a", feeds.Options{}, numbered("a", 5, nil), nil, through)
	})
	if err := os.Remove(p.file); err != nil {
		t.Fatal(err)
	}
	if _, err := p.deliver(false, "a", numbered("a", 5, nil)); err != nil {
		t.Fatal(err)
	}
	p.expect(lines("a", 5))
	p.noParts()
}

func TestAJournalWhoseLastLineIsTorn(t *testing.T) {
	p := newPlace(t, "out.jsonl")
	journal := filepath.Join(p.dir(), ".out.jsonl.appends")
	if _, err := p.deliver(false, "a", numbered("a", 2, nil)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, append(data, `{"job":"b","fr`...), 0o644); err != nil {
		t.Fatal(err)
	}
	p.dieBefore("copy", false, "b", 2) // it has noted what is to be copied
	for _, job := range []string{"c", "a", "b"} {
		if _, err := p.deliver(false, crawl.JobUID(job), numbered(job, 2, nil)); err != nil {
			t.Fatal(err)
		}
	}
	p.expect(lines("a", 2) + lines("b", 2) + lines("c", 2))
}

func TestAppendingToCSV(t *testing.T) {
	rows := func(job string) iter.Seq2[crawl.Item, error] { return numbered(job, 1, nil) }
	tests := []struct {
		name, existing string
		fields         []string
		want           string
		fails          string
	}{
		{name: "the header stands there once", existing: "job,n\r\nx,0\r\n", want: "job,n\r\nx,0\r\na,0\r\n"},
		{name: "the columns are those of the file", existing: "\ufeffn,other\nx,0", want: "\ufeffn,other\nx,0\n0,\r\n"},
		{name: "an empty file gets a header", existing: "", want: "job,n\r\na,0\r\n"},
		{name: "fields that are the file's", existing: "n,job\r\n", fields: []string{"n", "job"}, want: "n,job\r\n0,a\r\n"},
		{name: "fields that are others", existing: "n,job\r\n", fields: []string{"job"}, fails: "the file has the columns n,job"},
		{name: "a file that is no CSV", existing: "\"", fails: "no columns to go on with"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, "out.csv")
			p.write(test.existing)
			_, err := feeds.Deliver(context.Background(), p.feed(false), "a", feeds.Options{Fields: test.fields}, rows("a"))
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("got %v", err)
				}
				p.expect(test.existing)
				p.noParts()
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			p.expect(test.want)
		})
	}
}

func TestAppendingToJSONIsRefusedAndRepeatingIsNot(t *testing.T) {
	p := newPlace(t, "out.json")
	for range 2 {
		if _, err := p.deliver(false, "a", numbered("a", 1, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.deliver(false, "b", numbered("b", 1, nil)); err == nil || !strings.Contains(err.Error(), "-O") {
		t.Errorf("got %v", err)
	}
	p.expect("[\n{\"job\":\"a\",\"n\":0}\n]")
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
	const n = 100_000
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
