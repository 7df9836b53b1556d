package feeds_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/feeds"
)

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

type killed struct{}

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

// Z: an append is killed half-way and repeated; an overwrite dies before it is
// whole.
func TestInterleavingZ(t *testing.T) {
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
