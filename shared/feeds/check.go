package feeds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
)

// Check tells what would make the delivery of a feed fail, in time for somebody
// to mend it: a path that is no file of this machine or lies in no directory,
// what may not be written, and a JSON array that is to be appended to. It
// leaves no trace. A feed that passes may still fail when it is delivered.
func Check(feed crawl.Feed) error {
	if err := checkPlace(feed); err != nil {
		return err
	}
	info, err := os.Stat(feed.URI)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkDirectory(feed.URI)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return nil // a pipe or a terminal
	case !feed.Overwrite && feed.Format == JSON && info.Size() > 0:
		return jsonExists(feed.URI)
	}
	if !feed.Overwrite {
		f, err := os.OpenFile(feed.URI, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("%s cannot be written: %w", feed.URI, err)
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return checkDirectory(feed.URI)
}

// checkPlace refuses what is no path of a file.
func checkPlace(feed crawl.Feed) error {
	switch feed.Format {
	case JSONLines, JSON, CSV:
	default:
		return fmt.Errorf("%s: no feed has the format %q; there are %s, %s and %s", feed.URI, feed.Format, JSONLines, JSON, CSV)
	}
	if scheme, _, found := strings.Cut(feed.URI, "://"); found {
		return fmt.Errorf("%s: feeds here are files of this machine; %s:// is not there yet", feed.URI, scheme)
	}
	if feed.URI == "" {
		return errors.New("a feed has no file name")
	}
	if info, err := os.Stat(feed.URI); err == nil && info.IsDir() || strings.HasSuffix(feed.URI, string(filepath.Separator)) {
		return fmt.Errorf("%s is a directory; name a file in it", feed.URI)
	}
	return nil
}

// checkDirectory reports whether files can be made beside the feed, as both
// ways of delivering do.
func checkDirectory(file string) error {
	dir := filepath.Dir(file)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: the directory %s does not exist", file, dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: %s is no directory", file, dir)
	}
	f, err := os.CreateTemp(dir, ".skitter-check-*")
	if err != nil {
		return fmt.Errorf("%s: nothing can be written in %s: %w", file, dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func jsonExists(file string) error {
	return fmt.Errorf("%s exists, and a JSON array cannot be appended to; overwrite it (-O), or append to a .jsonl file", file)
}
