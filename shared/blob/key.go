package blob

import (
	"fmt"
	"strings"
)

// CheckKey says what is wrong with a key, if anything is. Every Store applies
// it in each method that takes a whole key; a prefix, and the start of a List,
// may be anything.
func CheckKey(key string) error {
	if len(key) == 0 || len(key) > MaxKey {
		return fmt.Errorf("blob key of %d bytes: it must have 1 to %d", len(key), MaxKey)
	}
	for i := range len(key) {
		if !keyByte(key[i]) {
			return fmt.Errorf("blob key %q: byte %q is none of the letters, digits and - _ . = /", key, key[i])
		}
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return fmt.Errorf("blob key %q: a segment is %q", key, segment)
		}
	}
	return nil
}

func keyByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' ||
		b == '-' || b == '_' || b == '.' || b == '=' || b == '/'
}
