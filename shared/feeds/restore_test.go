package feeds_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/feeds"
)

func TestRestoreWritesWhatIsGone(t *testing.T) {
	for _, overwrite := range []bool{true, false} {
		p := newPlace(t, "out.jsonl")
		restore := func(uid string) {
			t.Helper()
			n, err := feeds.Restore(context.Background(), p.feed(overwrite), crawl.JobUID(uid), feeds.Options{}, numbered(uid, 2, nil))
			if n != 2 || err != nil {
				t.Errorf("got %d, %v", n, err)
			}
		}
		if _, err := p.deliver(overwrite, "a", numbered("a", 2, nil)); err != nil {
			t.Fatal(err)
		}
		restore("a") // it is there
		p.expect(lines("a", 2))
		if err := os.Remove(p.file); err != nil {
			t.Fatal(err)
		}
		restore("a")
		restore("a")
		p.expect(lines("a", 2))
		p.noParts()
		if overwrite {
			continue
		}
		restore("b")
		p.expect(lines("a", 2) + lines("b", 2))
	}
}

// A close that a crash has cut short is made again, and must not write what
// somebody has taken away in the meantime.
func TestDeliverAppendsOnceAlsoIfTheFileIsGone(t *testing.T) {
	p := newPlace(t, "out.jsonl")
	for range 2 {
		if _, err := p.deliver(false, "a", numbered("a", 2, nil)); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(p.file) // the second time it is not there
	}
	if _, err := os.Stat(p.file); err == nil {
		t.Error("it was written twice")
	}
}

func TestALinkIsWrittenThrough(t *testing.T) {
	for _, overwrite := range []bool{true, false} {
		for _, there := range []bool{true, false} {
			dir := t.TempDir()
			real := filepath.Join(dir, "real")
			if err := os.Mkdir(real, 0o755); err != nil {
				t.Fatal(err)
			}
			target := place{t, filepath.Join(real, "target.jsonl")}
			// A link to a link, the second as seen from its own directory.
			p := place{t, filepath.Join(dir, "link.jsonl")}
			for link, to := range map[string]string{
				p.file: "real/second.jsonl", filepath.Join(real, "second.jsonl"): "target.jsonl",
			} {
				if err := os.Symlink(to, link); err != nil {
					t.Fatal(err)
				}
			}
			if there {
				target.write("")
			}
			if _, err := p.deliver(overwrite, "a", numbered("a", 2, nil)); err != nil {
				t.Fatal(err)
			}
			target.expect(lines("a", 2))
			if info, err := os.Lstat(p.file); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("overwrite %v, target there %v: the link was replaced (%v)", overwrite, there, err)
			}
		}
	}
}
