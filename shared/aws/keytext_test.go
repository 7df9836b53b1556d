package aws

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNoTextHasTheKeyOfAnother(t *testing.T) {
	long := strings.Repeat("日", 1000)
	seen := map[string]string{}
	for _, s := range []string{"", "a", long, long + "a", "\xff", "\xfe", keyText(""), keyText(long), keyText("\xff")} {
		key := keyText(s)
		if other, ok := seen[key]; ok {
			t.Errorf("%.40q and %.40q have one key", s, other)
		}
		seen[key] = s
		if key == "" || len(key) > 1000 || !utf8.ValidString(key) {
			t.Errorf("the key of %.40q has %d bytes, valid %t", s, len(key), utf8.ValidString(key))
		}
	}
}
