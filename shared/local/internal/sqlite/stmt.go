package sqlite

import (
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// A Stmt is one statement of a connection, prepared once and used again and
// again: its parameters are given in their order, then it is run, or stepped
// through. An error on the way is kept and told at the end.
//
//	q := c.Stmt(`SELECT name FROM t WHERE id > ?`).Int(5)
//	for q.Next() {
//		use(q.ColText(0))
//	}
//	return q.End()
type Stmt struct {
	c     *Conn
	p     uintptr
	bound int32 // parameters given so far
	err   error
	done  bool

	// stage is where the bytes of the parameters lie while the statement
	// runs; SQLite reads them there.
	stage       uintptr
	room, taken int
	outgrown    []uintptr // stages of this run that were too small
}

// Stmt returns the statement of a text, ready for its parameters. The text
// should be a constant: a connection keeps each statement until it is closed.
func (c *Conn) Stmt(sql string) *Stmt {
	s, ok := c.stmts[sql]
	if !ok {
		s = &Stmt{c: c}
		if s.err = s.prepare(sql); s.err != nil {
			return s // not kept: the next try may do better
		}
		c.stmts[sql] = s
	}
	s.bound, s.err, s.done, s.taken = 0, nil, false, 0
	return s
}

func (s *Stmt) prepare(sql string) error {
	text, err := libc.CString(sql)
	if err != nil {
		return err
	}
	defer libc.Xfree(s.c.tls, text)
	out, err := s.c.malloc(8)
	if err != nil {
		return err
	}
	defer libc.Xfree(s.c.tls, out)
	if rc := lib.Xsqlite3_prepare_v3(s.c.tls, s.c.db, text, -1, lib.SQLITE_PREPARE_PERSISTENT, out, 0); rc != lib.SQLITE_OK {
		return s.c.failure(rc)
	}
	s.p = pointerAt(out)
	return nil
}

// Int gives the next parameter.
func (s *Stmt) Int(v int64) *Stmt {
	s.bound++
	if s.err == nil {
		s.check(lib.Xsqlite3_bind_int64(s.c.tls, s.p, s.bound, v))
	}
	return s
}

// Text gives the next parameter.
func (s *Stmt) Text(v string) *Stmt {
	s.bound++
	if p, ok := s.place(len(v)); ok {
		copy(bytesAt(p, len(v)), v)
		s.check(lib.Xsqlite3_bind_text(s.c.tls, s.p, s.bound, p, int32(len(v)), 0))
	}
	return s
}

// Blob gives the next parameter; nil is an empty blob, not NULL.
func (s *Stmt) Blob(v []byte) *Stmt {
	s.bound++
	if p, ok := s.place(len(v)); ok {
		copy(bytesAt(p, len(v)), v)
		s.check(lib.Xsqlite3_bind_blob(s.c.tls, s.p, s.bound, p, int32(len(v)), 0))
	}
	return s
}

// Null gives the next parameter.
func (s *Stmt) Null() *Stmt {
	s.bound++
	if s.err == nil {
		s.check(lib.Xsqlite3_bind_null(s.c.tls, s.p, s.bound))
	}
	return s
}

func (s *Stmt) check(rc int32) {
	if s.err == nil && rc != lib.SQLITE_OK {
		s.err = s.c.failure(rc)
	}
}

// place finds n bytes on the stage, and reports whether there are.
func (s *Stmt) place(n int) (uintptr, bool) {
	if s.err != nil {
		return 0, false
	}
	if s.stage == 0 || s.taken+n > s.room {
		room := max(2*s.room, n, 256)
		p, err := s.c.malloc(room)
		if err != nil {
			s.err = err
			return 0, false
		}
		if s.stage != 0 {
			s.outgrown = append(s.outgrown, s.stage)
		}
		s.stage, s.room, s.taken = p, room, 0
	}
	p := s.stage + uintptr(s.taken)
	s.taken += n
	return p, true
}

// Next steps to the next row, and reports whether there is one.
func (s *Stmt) Next() bool {
	if s.err != nil || s.done {
		return false
	}
	switch rc := lib.Xsqlite3_step(s.c.tls, s.p); rc {
	case lib.SQLITE_ROW:
		return true
	case lib.SQLITE_DONE:
	default:
		s.err = s.c.failure(rc)
	}
	s.done = true
	return false
}

// End makes the statement ready for its next use and tells its error. It must
// be called for each use, and may be before the last row.
func (s *Stmt) End() error {
	if s.p != 0 {
		lib.Xsqlite3_reset(s.c.tls, s.p) // repeats the error of the last step
	}
	for _, p := range s.outgrown {
		libc.Xfree(s.c.tls, p)
	}
	s.outgrown = s.outgrown[:0]
	return s.err
}

// Run runs a statement to its end.
func (s *Stmt) Run() error {
	for s.Next() {
	}
	return s.End()
}

// ColInt is a column of the row, counted from 0.
func (s *Stmt) ColInt(i int) int64 { return lib.Xsqlite3_column_int64(s.c.tls, s.p, int32(i)) }

// ColText is a column of the row, counted from 0.
func (s *Stmt) ColText(i int) string { return string(s.column(i)) }

// ColBlob is a copy of a column of the row, counted from 0; nil if it is empty.
func (s *Stmt) ColBlob(i int) []byte { return append([]byte(nil), s.column(i)...) }

// CopyCol copies a column of the row into b, as much as there is room for.
func (s *Stmt) CopyCol(i int, b []byte) { copy(b, s.column(i)) }

// column is a column's bytes, which are SQLite's until the next step.
func (s *Stmt) column(i int) []byte {
	// For a blob and a text alike: the text is kept in UTF-8.
	p := lib.Xsqlite3_column_blob(s.c.tls, s.p, int32(i))
	n := lib.Xsqlite3_column_bytes(s.c.tls, s.p, int32(i))
	if p == 0 || n == 0 {
		return nil
	}
	return bytesAt(p, int(n))
}

func (s *Stmt) finalize() {
	lib.Xsqlite3_finalize(s.c.tls, s.p)
	libc.Xfree(s.c.tls, s.stage)
}
