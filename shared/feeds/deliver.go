package feeds

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/skitterhq/skitter/shared/crawl"
)

// Deliver writes the items of a job to the feed's file and returns how many
// there are in it by this job. The file has all of them afterwards, or on an
// error is what it was before. After a crash at any point the same delivery may
// be made again, and what it appends stands there once.
//
// A feed that overwrites is written beside the file, and renamed. One that is
// appended is written beside the file, too, and copied to its end under a lock,
// and a small file beside it notes how long the target was before and whose
// items follow. Pipes and terminals are written as they are.
//
// An item that cannot be written is left out, logged and counted.
func Deliver(ctx context.Context, feed crawl.Feed, uid crawl.JobUID, o Options, items iter.Seq2[crawl.Item, error]) (int, error) {
	d := delivery{ctx: ctx, feed: feed, uid: uid, options: o, items: items}
	return d.deliver()
}

// Restore is Deliver where somebody asks for a file that was delivered before
// and is gone: it writes what was appended to it again, which Deliver takes for
// work that is done.
func Restore(ctx context.Context, feed crawl.Feed, uid crawl.JobUID, o Options, items iter.Seq2[crawl.Item, error]) (int, error) {
	d := delivery{ctx: ctx, feed: feed, uid: uid, options: o, items: items, restore: true}
	return d.deliver()
}

// Write writes the items of a feed to w, which keeps them whole or not at all by
// its own means, and returns how many there are. An item that cannot be written
// is left out, logged and counted.
func Write(ctx context.Context, w io.Writer, feed crawl.Feed, o Options, items iter.Seq2[crawl.Item, error]) (int, error) {
	d := delivery{ctx: ctx, feed: feed, options: o, items: items}
	return d.export(w, o)
}

// A delivery is one call of Deliver.
type delivery struct {
	ctx     context.Context
	feed    crawl.Feed
	uid     crawl.JobUID
	options Options
	items   iter.Seq2[crawl.Item, error]
	// restore appends again to a file that is gone.
	restore bool

	// step is called between any two changes of the disk, with a name for what
	// comes next. Tests crash there; otherwise it is nil.
	step func(next string)

	// through stands between an append and its target, where tests make disks
	// full; otherwise it is nil.
	through func(io.Writer) io.Writer
}

func (d *delivery) at(next string) {
	if d.step != nil {
		d.step(next)
	}
}

func (d *delivery) deliver() (int, error) {
	if err := checkPlace(d.feed); err != nil {
		return 0, err
	}
	file, err := throughLinks(d.feed.URI)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(file)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return d.stream(file)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return 0, err
	case d.feed.Overwrite:
		return d.overwrite(file)
	}
	return d.append(file)
}

// stream writes to what is no regular file: there is nothing to keep whole.
func (d *delivery) stream(file string) (int, error) {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	n, err := d.export(f, d.options)
	return n, errors.Join(err, f.Close())
}

// overwrite writes the file beside the old one, and puts it in its place.
func (d *delivery) overwrite(file string) (int, error) {
	d.at("write the part")
	part := beside(file, string(d.uid)+".part")
	n, err := d.writePart(part, file, d.options, nil)
	if err != nil {
		return 0, err
	}
	d.at("rename")
	if err := os.Rename(part, file); err != nil {
		return 0, errors.Join(err, os.Remove(part))
	}
	d.at("sync the directory")
	return n, syncDirectory(filepath.Dir(file))
}

// writePart writes a feed to a new file, which gets the permissions of like if
// that is there. It is on the disk when writePart returns, and gone if that is
// with an error. What is to stand before the feed is written first.
func (d *delivery) writePart(part, like string, o Options, before []byte) (n int, err error) {
	mode := fs.FileMode(0o666) // cut down by the umask
	if info, err := os.Stat(like); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return 0, err
	}
	_, err = f.Write(before)
	if err == nil {
		n, err = d.export(f, o)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return 0, errors.Join(err, os.Remove(part))
	}
	return n, nil
}

// writeBuffer is how many bytes of a feed are written at once.
const writeBuffer = 64 << 10

// export writes the items in the feed's format.
func (d *delivery) export(w io.Writer, o Options) (n int, err error) {
	buffered := bufio.NewWriterSize(w, writeBuffer)
	e, err := New(d.feed.Format, buffered, o)
	if err != nil {
		return 0, err
	}
	if err := e.Begin(); err != nil {
		return 0, err
	}
	match := columnMatch{columns: o.columns()}
	for item, err := range d.items {
		if err == nil {
			err = d.ctx.Err()
		}
		if err != nil {
			return 0, fmt.Errorf("after %d items: %w", n, err)
		}
		err = e.Item(item)
		var bad *ItemError
		switch {
		case errors.As(err, &bad):
			o.count("feedexport/item_failed_count")
			o.warn("item left out of the feed", "feed", d.feed.URI, "err", bad.Err)
		case err != nil:
			return 0, err
		default:
			n++
			match.see(item)
			d.at("write an item")
		}
	}
	if err := match.check(d.feed.URI, o); err != nil {
		return 0, err
	}
	if err := e.End(); err != nil {
		return 0, err
	}
	return n, buffered.Flush()
}

// beside is the name of a hidden file in the file's directory.
func beside(file, ending string) string {
	dir, base := filepath.Split(file)
	return filepath.Join(dir, "."+base+"."+ending)
}

// syncDirectory makes a rename last.
func syncDirectory(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
