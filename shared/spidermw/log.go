package spidermw

import "github.com/skitterhq/skitter/shared/weburl"

// shownLength is how much of a URL a log line has at most, in bytes.
const shownLength = 200

// shown is a URL for logs: without password, on one line, and not too long.
func shown(url string) string {
	cut := len(url) > shownLength
	if cut {
		url = url[:shownLength]
	}
	u, err := weburl.Parse(url)
	if err != nil {
		return err.Error()
	}
	if cut {
		return u.Redacted() + "…"
	}
	return u.Redacted()
}
