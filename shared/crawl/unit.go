package crawl

import (
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// A UnitID names one unit of a job's work: a request, or the job's start. The
// same work, done twice, has the same ID. For a filtered request it is the
// request's fingerprint (see weburl.RequestFingerprint).
type UnitID [sha1.Size]byte

// StartUnit is the unit of a job's start. No request has its ID but by a
// collision of SHA-1.
var StartUnit = UnitID(sha1.Sum([]byte("skitter: the start of a job")))

// RepeatUnit is the ID of a request that is not filtered: the n-th (from 0) of
// its fingerprint among the output of its parent.
func RepeatUnit(parent UnitID, fingerprint [sha1.Size]byte, n int) UnitID {
	h := sha1.New()
	h.Write(parent[:])
	h.Write(fingerprint[:])
	_ = binary.Write(h, binary.BigEndian, int64(n)) // a hash never fails
	return UnitID(h.Sum(nil))
}

// ParseUnitID reads the 40 hexadecimal digits that String writes.
func ParseUnitID(s string) (UnitID, error) {
	var u UnitID
	if err := u.UnmarshalText([]byte(s)); err != nil {
		return UnitID{}, err
	}
	return u, nil
}

// Shard is the shard of a unit where a job has n shards, 1 to 256.
func (u UnitID) Shard(n int) int { return int(u[0]) * n / 256 }

// IsZero reports whether no unit is named.
func (u UnitID) IsZero() bool { return u == UnitID{} }

func (u UnitID) String() string { return hex.EncodeToString(u[:]) }

// MarshalText writes 40 hexadecimal digits.
func (u UnitID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, u[:]), nil }

// UnmarshalText reads 40 hexadecimal digits.
func (u *UnitID) UnmarshalText(text []byte) error {
	if len(text) != 2*len(u) {
		return fmt.Errorf("unit ID %q has %d characters, not %d hexadecimal digits", text, len(text), 2*len(u))
	}
	if _, err := hex.Decode(u[:], text); err != nil {
		return fmt.Errorf("unit ID %q: %w", text, err)
	}
	return nil
}

// A RunID names one execution of a callback. Runs of one unit that disagree
// never mix, because each run's items carry its own ID.
type RunID string

// NewRunID returns a random run ID: 16 hexadecimal digits, 64 bits.
func NewRunID() RunID {
	var b [8]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return RunID(hex.EncodeToString(b[:]))
}
