package spidermw

import "github.com/skitterhq/skitter/shared/weburl"

// shown is a URL for logs: without password, on one line, and not too long.
func shown(url string) string { return weburl.Shown(url) }
