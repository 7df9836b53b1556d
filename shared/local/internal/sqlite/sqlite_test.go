package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

func open(t *testing.T) *sqlite.Conn {
	t.Helper()
	c, err := sqlite.Open(filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if err := c.Exec(`CREATE TABLE t (i INTEGER, s TEXT, b BLOB)`); err != nil {
		t.Fatal(err)
	}
	return c
}

func insert(t *testing.T, c *sqlite.Conn, i int64, s string, b []byte) {
	t.Helper()
	if err := c.Stmt(`INSERT INTO t (i, s, b) VALUES (?, ?, ?)`).Int(i).Text(s).Blob(b).Run(); err != nil {
		t.Fatal(err)
	}
	if n := c.Changes(); n != 1 {
		t.Fatalf("%d rows were inserted, want 1", n)
	}
}

func TestValuesComeBack(t *testing.T) {
	c := open(t)
	// Parameters that outgrow the stage while earlier ones lie on it.
	long := strings.Repeat("größer\x00", 100_000)
	values := []struct {
		i int64
		s string
		b []byte
	}{
		{-1 << 63, "", nil},
		{1<<63 - 1, "größer\x00x", []byte{0, 0xff}},
		{0, strings.Repeat("s", 200), []byte(long)},
		{0, long, []byte(long + long)},
		{7, "short again", []byte("x")},
	}
	for _, v := range values {
		insert(t, c, v.i, v.s, v.b)
	}
	q := c.Stmt(`SELECT i, s, b, typeof(b) FROM t ORDER BY rowid`)
	for n, v := range values {
		if !q.Next() {
			t.Fatalf("%d rows, want %d: %v", n, len(values), q.End())
		}
		if q.ColInt(0) != v.i || q.ColText(1) != v.s || string(q.ColBlob(2)) != string(v.b) || q.ColText(3) != "blob" {
			t.Errorf("row %d comes back as %d, %.20q, %.20q (%s)", n, q.ColInt(0), q.ColText(1), q.ColBlob(2), q.ColText(3))
		}
	}
	if q.Next() || q.End() != nil {
		t.Errorf("more rows than were inserted, or %v", q.End())
	}
}

func TestStatementsAreUsedAgain(t *testing.T) {
	c := open(t)
	for i := range int64(5) {
		insert(t, c, i, "", nil)
	}
	const query = `SELECT i FROM t WHERE i >= ? ORDER BY i`
	for from := range int64(5) { // ended before the last row
		q := c.Stmt(query).Int(from)
		if !q.Next() || q.ColInt(0) != from {
			t.Errorf("the first row from %d on is %d", from, q.ColInt(0))
		}
		if err := q.End(); err != nil {
			t.Error(err)
		}
	}
}

func TestErrorsAreTold(t *testing.T) {
	c := open(t)
	for range 2 { // a text that is wrong is not kept
		if err := c.Stmt(`SELECT nothing FROM t WHERE i = ?`).Int(1).Text("x").Run(); err == nil || !strings.Contains(err.Error(), "nothing") {
			t.Errorf("a column that is not there: %v", err)
		}
	}
	if err := c.Stmt(`SELECT i FROM t`).Int(1).Run(); err == nil {
		t.Error("a parameter too many: no error")
	}
	if err := c.Exec(`CREATE UNIQUE INDEX u ON t (i)`); err != nil {
		t.Fatal(err)
	}
	insert(t, c, 1, "", nil)
	again := func() error {
		return c.Stmt(`INSERT INTO t (i, s, b) VALUES (?, ?, ?)`).Int(1).Text("").Blob(nil).Run()
	}
	if err := again(); err == nil || sqlite.Busy(err) || sqlite.Unreadable(err) {
		t.Errorf("a value that must be unique, twice: %v", err)
	}
	insert(t, c, 2, "", nil) // the statement works on
}

func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	a, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := a.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	if err := b.Stmt(`BEGIN IMMEDIATE`).Run(); !sqlite.Busy(err) {
		t.Errorf("a second transaction that writes: %v, want busy", err)
	}
	if err := a.Exec(`COMMIT`); err != nil {
		t.Fatal(err)
	}
	if err := b.Stmt(`BEGIN IMMEDIATE`).Run(); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}
