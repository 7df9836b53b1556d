package spider

import (
	"errors"
	"regexp"
)

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CheckName says what is wrong with the name of a spider, a leg or an
// extension: it is made of letters, digits and . _ - and begins with a letter or
// digit.
func CheckName(name string) error {
	if !validName.MatchString(name) {
		return errors.New("a name is letters, digits and . _ - and begins with a letter or digit")
	}
	return nil
}
