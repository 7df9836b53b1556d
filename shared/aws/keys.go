package aws

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/skitterhq/skitter/shared/blob"
)

// longestKey is the longest text that stands in a key as it is: 900 bytes, so
// that with what is put round it a sort key stays under 1,024 bytes. Source:
// Amazon DynamoDB Developer Guide, "Quotas", partition and sort keys.
const longestKey = 900

// keyText is a text as it stands in a key: itself, or, where DynamoDB takes no
// such key (empty, too long, no UTF-8), its beginning and its hash. Texts keep
// their order as far as their beginnings differ, and no two have one key.
func keyText(s string) string {
	if s != "" && len(s) <= longestKey && utf8.ValidString(s) && !strings.Contains(s, "\x00") {
		return s
	}
	return strings.ToValidUTF8(s[:min(len(s), longestKey)], "") + "\x00" + hash(s)
}

// segment is a text as it stands in a blob's key, between slashes: itself, or
// its hash where that may not be.
func segment(s string) string {
	if len(s) <= 128 && !strings.HasPrefix(s, "sha256-") && !strings.Contains(s, "/") && blob.CheckKey(s) == nil {
		return s
	}
	return "sha256-" + hash(s)
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
