package assembly

import (
	"fmt"

	"github.com/skitterhq/skitter/shared/weburl"
)

// PageURL reads the address of a page of the web as somebody typed it. The error
// says what is right.
func PageURL(raw string) (string, error) {
	u, err := weburl.Parse(raw)
	if err != nil {
		return "", err
	}
	if s := u.Scheme(); s != "http" && s != "https" {
		// The rest is not shown: it may hold a password.
		return "", fmt.Errorf("url %q: want a page of the web; give one of http or https", s+":…")
	}
	return u.String(), nil
}

// AnyURL reads the address of something to fetch, as somebody typed it. Whether
// there is a handler for its scheme is found when a job, or a Single, is made
// that starts with it.
func AnyURL(raw string) (string, error) {
	u, err := weburl.Parse(raw)
	return u.String(), err
}
