package feeds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks is how many links are followed one after the other, as in Linux.
const maxLinks = 40

// throughLinks returns the file that a name leads to, so that a link is written
// through and never replaced, also one whose target is not there yet.
func throughLinks(name string) (string, error) {
	file := name
	for range maxLinks {
		there, err := filepath.EvalSymlinks(file)
		if !errors.Is(err, fs.ErrNotExist) {
			return there, err
		}
		target, err := os.Readlink(file)
		if err != nil {
			return file, nil // no link, and not there
		}
		if !filepath.IsAbs(target) {
			// From where the link itself stands, not from a link to that.
			dir, err := filepath.EvalSymlinks(filepath.Dir(file))
			if err != nil {
				return "", err
			}
			target = filepath.Join(dir, target)
		}
		file = target
	}
	return "", fmt.Errorf("%s: too many links", name)
}
