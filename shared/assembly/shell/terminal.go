package shell

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A Terminal reads lines from somebody who types: with the usual keys of line
// editing, a history on the arrow keys, and names of commands on the tab.
type Terminal struct {
	in, out *os.File
	editor  *term.Terminal
	history *History
}

// NewTerminal returns a terminal that reads in, which must be one, and shows
// prompts and what is typed on out.
func NewTerminal(in, out *os.File, history *History) *Terminal {
	editor := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{interruptible{in}, out}, "")
	editor.History = history
	editor.AutoCompleteCallback = completeCommand
	return &Terminal{in: in, out: out, editor: editor, history: history}
}

// HistoryErr says why the history is not kept; nil if it is.
func (t *Terminal) HistoryErr() error { return t.history.Err() }

// ReadLine reads a line. Its error is io.EOF for Ctrl-D on an empty line; Ctrl-C
// throws the line away. The terminal is in its usual state between two calls,
// so that other output and signals are as always.
func (t *Terminal) ReadLine(prompt string) (line string, err error) {
	state, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, term.Restore(int(t.in.Fd()), state)) }()
	if width, height, err := term.GetSize(int(t.out.Fd())); err == nil && width > 0 {
		_ = t.editor.SetSize(width, height) // it fails if out does
	}
	t.editor.SetPrompt(prompt)
	line, err = t.editor.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return line, err
}

// interruptible turns Ctrl-C, which would end the input, into keys that empty
// the line: to its end, delete all before, enter.
type interruptible struct{ in io.Reader }

const (
	ctrlC        = 3
	emptyTheLine = "\x05\x15\r"
)

// Read is [io.Reader]'s, with the keys in place of each Ctrl-C.
func (r interruptible) Read(p []byte) (int, error) {
	// The keys that stand in for Ctrl-C need room.
	if room := len(p) / len(emptyTheLine); room > 0 {
		p = p[:room:len(p)]
	}
	n, err := r.in.Read(p)
	text := strings.ReplaceAll(string(p[:n]), string(rune(ctrlC)), emptyTheLine)
	return copy(p[:cap(p)], text), err
}

// completeCommand completes the name of a command at the tab key.
func completeCommand(line string, pos int, key rune) (newLine string, newPos int, ok bool) {
	typed := line[:pos]
	if key != '\t' || strings.Contains(typed, " ") {
		return "", 0, false
	}
	var found []string
	for _, c := range commands() {
		if strings.HasPrefix(c.name, typed) {
			found = append(found, c.name)
		}
	}
	if len(found) == 0 {
		return "", 0, false
	}
	common := found[0]
	for _, name := range found[1:] {
		for !strings.HasPrefix(name, common) {
			common = common[:len(common)-1]
		}
	}
	if len(found) == 1 {
		common += " "
	}
	return common + strings.TrimLeft(line[pos:], " "), len(common), true
}
