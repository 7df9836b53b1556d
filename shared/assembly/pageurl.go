package assembly

import (
	"fmt"

	"github.com/skitterhq/skitter/shared/weburl"
)

// PageURL reads the address of a page as somebody typed it. The error says what
// is right.
func PageURL(raw string) (string, error) {
	u, err := weburl.Parse(raw)
	if err != nil {
		return "", err
	}
	if s := u.Scheme(); s != "http" && s != "https" {
		// The rest is not shown: it may hold a password.
		return "", fmt.Errorf("url %q: nothing here fetches %s URLs; give one of http or https", s+":…", s)
	}
	return u.String(), nil
}
