package spider

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// maxName is the longest name in bytes, that of a job's: a spider's gets into the
// keys of the stores and the names of files, too.
const maxName = 200

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CheckName says what is wrong with the name of a spider, a leg or an
// extension: it is made of 1 to 200 letters, digits and . _ - and begins with a letter or
// digit.
func CheckName(name string) error {
	switch {
	case len(name) > maxName:
		return fmt.Errorf("a name has at most %d letters, and this one has %d bytes", maxName, len(name))
	case !validName.MatchString(name):
		return errors.New("a name is letters, digits and . _ - and begins with a letter or digit")
	}
	return nil
}

// shownName is a name as it stands in an error.
func shownName(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:40], "") + "…"
}
