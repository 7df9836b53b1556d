package downloadermw

import (
	"encoding/base64"
	"errors"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// basicAuth is the value of an Authorization or Proxy-Authorization header. The
// error tells neither user nor password. Source: RFC 7617.
func basicAuth(user, password string, inUTF8 bool) (string, error) {
	if strings.Contains(user, ":") {
		return "", errors.New("the user has a colon, which basic authentication has no room for")
	}
	text := user + ":" + password
	if !inUTF8 {
		latin, err := charmap.ISO8859_1.NewEncoder().String(text)
		if err != nil {
			return "", errors.New("user or password has a character that ISO-8859-1 has not")
		}
		text = latin
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)), nil
}
