package feeds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a lock is asked for that another process holds.
const lockPoll = 100 * time.Millisecond

// append adds the feed to the end of a file, so that it is there whole, and
// once, whatever happens on the way.
//
// Under a lock it writes the feed to a part, a file of its own, notes in the
// journal where in the target that is to stand, copies it there, and notes that
// it is done. A copy that fails is cut off again. Who finds one that was begun
// and is not done, be it the same job or another, completes it first.
func (d *delivery) append(file string) (n int, err error) {
	lock := flock.New(journalOf(file), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))
	if _, err := lock.TryLockContext(d.ctx, lockPoll); err != nil {
		return 0, fmt.Errorf("lock %s: %w", file, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()

	j, err := openJournal(file)
	if err != nil {
		return 0, err
	}
	if err := d.finishCopy(j); err != nil {
		return 0, err
	}
	size, existed, err := sizeOf(file)
	if err != nil {
		return 0, err
	}
	if e, found := j.last(d.uid); found && e.State == stateDone && (existed || !d.restore) {
		return e.Items, j.removePart(e)
	}
	if d.feed.Format == JSON && size > 0 {
		return 0, jsonExists(file)
	}
	options, before, err := d.continuing(file, size)
	if err != nil {
		return 0, err
	}
	d.at("write the part")
	e := entry{Job: d.uid, From: size}
	if e.Items, err = d.writePart(j.part(e), file, options, before); err != nil {
		return 0, err
	}
	d.at("note the copy")
	if err := j.add(e); err != nil {
		return 0, errors.Join(err, os.Remove(j.part(e)))
	}
	if err := d.copyPart(j, e); err != nil {
		return 0, errors.Join(err, takeBack(file, size, existed, err), j.close(e, stateUndone))
	}
	return e.Items, d.done(j, e)
}

// takeBack makes the target what it was before a copy that failed.
func takeBack(file string, size int64, existed bool, why error) error {
	switch {
	case errors.Is(why, errForeign):
		return nil // nothing was written, and what is there is somebody's
	case existed:
		return os.Truncate(file, size)
	}
	err := os.Remove(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// continuing returns how the feed goes on from what stands in the file: with a
// line break if the last line has none, and in CSV with the same columns.
func (d *delivery) continuing(file string, size int64) (Options, []byte, error) {
	o := d.options
	if size == 0 {
		return o, nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return o, nil, err
	}
	defer f.Close()
	var before []byte
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, size-1); err != nil {
		return o, nil, err
	}
	if last[0] != '\n' {
		before = []byte("\n")
	}
	if d.feed.Format != CSV {
		return o, before, nil
	}
	o.header, err = columnsOf(f)
	return o, before, err
}

func sizeOf(file string) (size int64, exists bool, err error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return info.Size(), true, nil
}

// copyPart copies an entry's part to its place in the target, or what is missing
// of it there.
func (d *delivery) copyPart(j *journal, e entry) error {
	part, err := os.Open(j.part(e))
	if err != nil {
		return err
	}
	defer part.Close()
	target, err := os.OpenFile(j.file, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	defer target.Close()
	d.at("copy")
	if err := begins(target, e.From, part); err != nil {
		return fmt.Errorf("%s, from byte %d on: %w", j.file, e.From, err)
	}
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := target.Seek(e.From, io.SeekStart); err != nil {
		return err
	}
	var w io.Writer = target
	if d.through != nil {
		w = d.through(target)
	}
	if _, err := io.Copy(w, part); err != nil {
		return err
	}
	return target.Sync()
}

// done notes that a copy is complete.
func (d *delivery) done(j *journal, e entry) error {
	d.at("note that it is done")
	e.State = stateDone
	if err := j.add(e); err != nil {
		return err
	}
	d.at("remove the part")
	return j.removePart(e)
}

// finishCopy completes a copy that was begun by a process that died, be it of
// this job or of another. A copy whose target was removed or replaced in the
// meantime is forgotten.
//
// If somebody else has written to the end of the target, what is whose cannot
// be told. Then nothing is cut: the job that began the copy gets an error, and
// others append after it.
func (d *delivery) finishCopy(j *journal) error {
	e, begun := j.pending()
	if !begun {
		return nil
	}
	size, _, err := sizeOf(j.file)
	if err != nil {
		return err
	}
	_, err = os.Stat(j.part(e))
	lost := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !lost:
		return err
	case size < e.From || lost && size == e.From:
		return j.close(e, stateUndone)
	case lost:
		err = errForeign
	default:
		err = d.copyPart(j, e)
	}
	switch {
	case err == nil:
		return d.done(j, e)
	case errors.Is(err, errForeign) && e.Job != d.uid:
		d.options.warn("an unfinished append of another job was left as it is", "feed", j.file, "job", e.Job, "from", e.From)
		return j.close(e, stateForeign)
	}
	return err
}

// errForeign says that the end of the target is not what was being written.
var errForeign = errors.New("it was changed by somebody else while this job was writing to it; take out what is not wanted, and append to another file")

// begins returns errForeign unless what stands in target from an offset on is
// the beginning of part.
func begins(target *os.File, from int64, part io.Reader) error {
	if _, err := target.Seek(from, io.SeekStart); err != nil {
		return err
	}
	there, whole := make([]byte, 32<<10), make([]byte, 32<<10)
	for {
		n, err := io.ReadFull(target, there)
		if _, short := io.ReadFull(part, whole[:n]); short != nil || !bytes.Equal(there[:n], whole[:n]) {
			return errForeign
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}
