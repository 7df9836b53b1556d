package local

import (
	"encoding/binary"
	"errors"
)

// Lists that are read and written at every turn are packed: JSON would cost
// more than the row's place in the database. A string is its length and its
// bytes, a number a varint of package binary.

func packString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func packInt(b []byte, n int64) []byte { return binary.AppendVarint(b, n) }

var errPacked = errors.New("a packed list ends too early")

// An unpacker reads what was packed, in the same order. After an error it
// gives zero values.
type unpacker struct {
	rest []byte
	err  error
}

// more reports whether anything is left.
func (u *unpacker) more() bool { return len(u.rest) > 0 && u.err == nil }

func (u *unpacker) string() string {
	n, width := binary.Uvarint(u.rest)
	if width <= 0 || n > uint64(len(u.rest)-width) {
		u.err, u.rest = errPacked, nil
		return ""
	}
	s := string(u.rest[width : width+int(n)])
	u.rest = u.rest[width+int(n):]
	return s
}

func (u *unpacker) int() int64 {
	n, width := binary.Varint(u.rest)
	if width <= 0 {
		u.err, u.rest = errPacked, nil
		return 0
	}
	u.rest = u.rest[width:]
	return n
}
