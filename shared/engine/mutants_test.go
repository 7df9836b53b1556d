package engine_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A mutant is the design with one of its rules taken out.
type mutant struct {
	name string
	// finds is the test that must fail.
	finds   string
	patches []patch
}

// A patch changes the only place in a file below shared/ that reads from.
type patch struct{ file, from, to string }

var mutants = []mutant{
	{"send before put", "TestCrashAtEveryPortCall", []patch{
		{"scheduler/admit.go", `
	stood, err := s.put(ctx, job, rows)
`, `
	var early []Order
	for _, row := range rows {
		early = append(early, order(row, false))
	}
	if err := s.SendRequests(ctx, job, early); err != nil {
		return a, err
	}
	stood, err := s.put(ctx, job, rows)
`},
		{"scheduler/admit.go", `
		orders = append(orders, order(row, false))
	}
	if err`, `
	}
	if err`},
	}},
	{"no owner rule and no watchdog", "TestCrashAtEveryPortCall", []patch{
		{"scheduler/admit.go", `if row.By == c.Parent && row.State == frontier.Queued {`, `if false {`},
		{"engine/sweep.go", `v, err := e.Scheduler.Revive(ctx, job.UID, probe)`, `v, err := scheduler.Revival{}, error(nil)`},
	}},
	{"cache filled before the send", "TestCrashAtEveryPortCall", []patch{
		{"scheduler/admit.go", `
	if err := s.SendRequests(ctx, job, orders); err != nil {
`, `
	s.recent.add(job, owners)
	if err := s.SendRequests(ctx, job, orders); err != nil {
`},
	}},
	{"cookies that are not put", "TestCrashAtEveryPortCall", []patch{
		{"scheduler/jars.go", `err := s.Jars.Put(ctx, job, text)`, `err := error(nil)`},
	}},
	{"cookies remembered before they are put", "TestCrashAtEveryPortCall", []patch{
		{"scheduler/jars.go", `
	if err := s.Jars.Put(ctx, job, text)`, `
	s.jars.Add(jarKey{job, hash}, text)
	if err := s.Jars.Put(ctx, job, text)`},
	}},
	{"cookies of a failed answer lost", "TestCrashAtEveryPortCall", []patch{
		{"engine/outcome.go", `o.resend.Jars = &text`, ``},
	}},
	{"cookies of one job taken to be there for another", "TestARedriveTakesTheCookiesAlong", []patch{
		{"scheduler/jars.go", `s.jars.Contains(jarKey{job, hash})`, `s.jars.Contains(jarKey{"", hash})`},
		{"scheduler/jars.go", `
	s.jars.Add(jarKey{job, hash}, text)
	return hash, nil`, `
	s.jars.Add(jarKey{"", hash}, text)
	return hash, nil`},
	}},
	{"one look", "TestInterleavingF", []patch{
		{"scheduler/look.go", `rows, done, err := s.closedRows(ctx, job)`, `rows, done, err := -1, true, error(nil)`},
		{"scheduler/look.go", `rows == second.Rows`, `rows < second.Rows`},
	}},
	{"settle without condition", "TestInterleavingE", []patch{
		{"memory/frontier.go", `
		if row := f.queued(job, s.Unit); row != nil {
			now := row.change()
			now.State, now.Outcome`, `
		if row := f.of(job).rows[s.Unit]; row != nil {
			now := row.change()
			now.State, now.Outcome`},
	}},
	{"items without a run", "TestInterleavingE", []patch{
		{"crawl/unit.go", `return RunID(hex.EncodeToString(b[:]))`, `return ""`},
	}},
}

// TestMutantsAreFound proves the tests of this package: each mutant must fail
// one of them. It compiles the package once for each, so it is not for -short.
func TestMutantsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the package for each mutant")
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			out, err := runTests(t, m)
			if err == nil {
				t.Errorf("%s does not find it:\n%s", m.finds, out)
			} else if !strings.Contains(out, "--- FAIL: "+m.finds) {
				t.Fatalf("the tests did not run: %v\n%s", err, out)
			}
		})
	}
}

// runTests runs this package's tests over a mutant.
func runTests(t *testing.T, m mutant) (string, error) {
	t.Helper()
	dir := t.TempDir()
	texts := make(map[string]string) // by file
	for _, p := range m.patches {
		file, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(p.file)))
		if err != nil {
			t.Fatal(err)
		}
		if texts[file] == "" {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(source)
		}
		if n := strings.Count(texts[file], p.from); n != 1 {
			t.Fatalf("%s has %q %d times, want once", p.file, p.from, n)
		}
		texts[file] = strings.Replace(texts[file], p.from, p.to, 1)
	}
	replace := make(map[string]string)
	for file, text := range texts {
		replace[file] = filepath.Join(dir, filepath.Base(file))
		write(t, replace[file], []byte(text))
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	write(t, overlay, data)
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay,
		"-run", "^"+m.finds+"$", ".")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
