package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/spiders"
)

// What a page says cannot steer the terminal that shows it: controls are shown
// as JSON escapes them. Where no terminal is, nothing is changed.
func TestATerminalIsShownControlsEscaped(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	text := "a\x1b[31mred\x1b]0;title\x07\u009b2J\x7fé\tz"
	if err := os.WriteFile(page, []byte("<meta charset=utf-8><h1>"+text+"</h1>"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(a *app, commands ...string) {
		t.Helper()
		args := []string{"shell", page}
		for _, c := range commands {
			args = append(args, "-c", c)
		}
		if code := a.run(t.Context(), args); code != exitFinished {
			t.Errorf("exit code %d", code)
		}
	}
	var piped, told bytes.Buffer
	run(&app{stdout: &piped, stderr: &told, project: spiders.Project()}, "css h1::text")
	if piped.String() != text+"\n" {
		t.Errorf("into a pipe: %q, want %q", piped.String(), text+"\n")
	}

	ty, tty := newTypist(t)
	run(&app{stdout: tty, stderr: &told, project: spiders.Project()}, "css h1::text", "text", "css no | css end")
	if _, err := tty.WriteString("THE END"); err != nil {
		t.Fatal(err)
	}
	want := `a\u001b[31mred\u001b]0;title\u0007\u009b2J\u007fé`
	seen := ty.await("THE END")
	if strings.Count(seen, want) != 2 || strings.ContainsAny(seen, "\x1b\x07\x7f\u009b") {
		t.Errorf("the terminal was sent %q, want twice %q", seen, want)
	}
}

func TestAScreenTakesTextInPieces(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\r":     "a\r\nb" + `\u000d`,
		"caf\xe9":      `caf\xe9`,
		"a\rb\n":       `a\u000db` + "\n",
		"\xc2\x9b\x9b": `\u009b\x9b`,
		"é€\x00\t":     "é€" + `\u0000` + "\t",
	} {
		var out bytes.Buffer
		s := &screen{under: &out}
		for i := range len(in) {
			if n, err := s.Write([]byte{in[i]}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		s.flush()
		if out.String() != want {
			t.Errorf("%q is shown as %q, want %q", in, out.String(), want)
		}
	}
}
