package yamlspider

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Mistake is something wrong in a file.
type Mistake struct {
	// File is the file's name as it was given to [Load].
	File string

	// Line and Column are counted from 1, columns in characters. Line 0 is
	// the file as a whole.
	Line, Column int

	// Problem says what is wrong and what would be right.
	Problem string

	// Excerpt shows the place: some lines of the file with their numbers,
	// and a mark under the column. Empty for the file as a whole.
	Excerpt string
}

// Error is the problem with its place in one line, and the excerpt below.
func (m *Mistake) Error() string {
	text := m.File
	if m.Line > 0 {
		text += fmt.Sprintf(":%d:%d", m.Line, m.Column)
	}
	text += ": " + m.Problem
	if m.Excerpt != "" {
		text += "\n" + m.Excerpt
	}
	return text
}

// Mistakes are all that is wrong in a file, in the order of its lines.
type Mistakes []*Mistake

// Error has every mistake, each with its excerpt.
func (m Mistakes) Error() string {
	texts := make([]string, len(m))
	for i := range m {
		texts[i] = m[i].Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap returns the mistakes one by one.
func (m Mistakes) Unwrap() []error {
	errs := make([]error, len(m))
	for i := range m {
		errs[i] = m[i]
	}
	return errs
}

// maxMistakes bounds how many are told: the first ones tell, and each has an
// excerpt.
const maxMistakes = 20

// maxFound is how many are found before legs are no longer checked: for each
// the callbacks that there are may be listed.
const maxFound = 100

// A report collects what is wrong with one text.
type report struct {
	file  string
	lines []string
	found Mistakes

	unchecked bool // there may be more than found
}

func newReport(file string, text []byte) *report {
	return &report{file: file, lines: strings.Split(string(text), "\n")}
}

func (r *report) add(line, column int, format string, args ...any) {
	problem := strings.Join(strings.Fields(clean(fmt.Sprintf(format, args...))), " ")
	r.found = append(r.found, &Mistake{File: r.file, Line: line, Column: column, Problem: problem})
}

// err is nil if nothing was wrong.
func (r *report) err() error {
	if len(r.found) == 0 {
		return nil
	}
	slices.SortStableFunc(r.found, func(a, b *Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if n := len(r.found); n > maxMistakes {
		more := fmt.Sprintf("and %d more mistakes", n-maxMistakes)
		if r.unchecked {
			more = strings.Replace(more, "and", "and at least", 1)
		}
		r.found = append(r.found[:maxMistakes:maxMistakes], &Mistake{File: r.file, Problem: more})
	}
	for _, m := range r.found {
		if m.Line > 0 {
			m.Excerpt = r.excerpt(m.Line, m.Column)
		}
	}
	return r.found
}

const (
	// linesBefore is how many lines stand before the one that is wrong.
	linesBefore = 2
	// excerptWidth is how much of a line is shown, in characters.
	excerptWidth = 100
)

// excerpt shows a line with a mark under the column, after the lines before it.
func (r *report) excerpt(line, column int) string {
	line = min(line, len(r.lines)) // the end of the file may lie after its last line
	var b strings.Builder
	for n := max(1, line-linesBefore); n <= line; n++ {
		sign := ' '
		shown, mark := window(r.lines[n-1], column)
		if n == line {
			sign = '>'
		}
		fmt.Fprintf(&b, "%c%5d | %s\n", sign, n, shown)
		if n == line {
			fmt.Fprintf(&b, "        %s^", strings.Repeat(" ", mark))
		}
	}
	return b.String()
}

// window cuts a line to what is shown of it, the column within, and says how
// far from its left the column is.
func window(text string, column int) (shown string, mark int) {
	runes := []rune(clean(strings.TrimRight(text, "\r")))
	first := 0
	if column > excerptWidth {
		first = max(0, min(column, len(runes))-excerptWidth/2)
	}
	last := min(len(runes), first+excerptWidth)
	return string(runes[min(first, last):last]), max(0, min(column-1, len(runes))-first) + 1
}

// clean keeps what a file says from acting on a terminal: each control
// character is one sign.
func clean(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\t' || c == '\n':
			return ' '
		case c == utf8.RuneError || unicode.IsControl(c) || unicode.Is(unicode.Cf, c):
			return '�'
		}
		return c
	}, text)
}
