package feeds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A journal notes what jobs appended to a file, in the file beside it that is
// also its lock. It has a line of JSON for each change of state, some 80 bytes,
// and is kept: a job that is delivered again long after others finds there that
// it was delivered.
type journal struct {
	file    string // the target
	entries []entry
	torn    bool // the last line has no end
}

// An entry is one job's append.
type entry struct {
	Job   crawl.JobUID `json:"job"`
	From  int64        `json:"from"` // the target's length before it
	Items int          `json:"items"`
	State state        `json:"state"`
}

// A state says how far an append has come.
type state string

const (
	stateBegun   state = ""        // the part is whole; of the copy any part may be there
	stateDone    state = "done"    // the copy is there
	stateUndone  state = "undone"  // nothing of it is there
	stateForeign state = "foreign" // somebody else wrote into it
)

func journalOf(file string) string { return beside(file, "appends") }

// part is the name of an entry's part.
func (j *journal) part(e entry) string { return beside(j.file, string(e.Job)+".part") }

func openJournal(file string) (*journal, error) {
	data, err := os.ReadFile(journalOf(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	j := &journal{file: file, torn: len(data) > 0 && data[len(data)-1] != '\n'}
	for line := range bytes.Lines(data) {
		var e entry
		// A line that a crash cut short is that of a step which was not taken.
		if err := json.Unmarshal(line, &e); err == nil {
			j.entries = append(j.entries, e)
		}
	}
	return j, nil
}

// add appends a line, which is on the disk when add returns.
func (j *journal) add(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if j.torn {
		line = append([]byte{'\n'}, line...)
	}
	f, err := os.OpenFile(journalOf(j.file), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("note in %s: %w", journalOf(j.file), err)
	}
	j.torn = false
	j.entries = append(j.entries, e)
	return syncDirectory(filepath.Dir(j.file))
}

// close notes how an append ended, and removes its part.
func (j *journal) close(e entry, s state) error {
	e.State = s
	if err := j.add(e); err != nil {
		return err
	}
	return j.removePart(e)
}

func (j *journal) removePart(e entry) error {
	if err := os.Remove(j.part(e)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// pending returns the append that was begun and did not end. There is one at
// most, the last.
func (j *journal) pending() (entry, bool) {
	if len(j.entries) == 0 {
		return entry{}, false
	}
	e := j.entries[len(j.entries)-1]
	return e, e.State == stateBegun
}

// last returns a job's last entry.
func (j *journal) last(uid crawl.JobUID) (entry, bool) {
	for i := len(j.entries) - 1; i >= 0; i-- {
		if j.entries[i].Job == uid {
			return j.entries[i], true
		}
	}
	return entry{}, false
}
