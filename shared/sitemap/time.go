package sitemap

import (
	"strings"
	"time"
)

// Time is when the page changed, and false if LastMod is no date: the formats of
// W3C (2006, 2006-01, 2006-01-02, and with a time), and those of RSS. A time
// without a zone is UTC.
func (e Entry) Time() (time.Time, bool) {
	text := strings.TrimSpace(e.LastMod)
	for _, layout := range []string{
		time.DateOnly, time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04",
		"2006-01-02T15:04:05Z0700", "2006-01", "2006", time.RFC1123Z, time.RFC1123, "Mon, 2 Jan 2006 15:04:05 -0700",
		"Mon, 2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 MST", time.RFC822Z, time.RFC822,
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
