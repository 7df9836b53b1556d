package feeds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/skitterhq/skitter/shared/crawl"
)

// Check tells what would make the delivery of a feed fail, in time for somebody
// to mend it: a path that is no file of this machine or lies in no directory,
// what may not be written, a name too long, and a JSON array that is to be
// appended to. It leaves no trace. A feed that passes may still fail when it is
// delivered.
func Check(feed crawl.Feed) error {
	if err := checkPlace(feed); err != nil {
		return err
	}
	info, err := os.Stat(feed.URI)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkBeside(feed.URI)
	case err != nil:
		return reasonOf(feed.URI, err)
	case !info.Mode().IsRegular():
		return nil // a pipe or a terminal
	case !feed.Overwrite && feed.Format == JSON && info.Size() > 0:
		return jsonExists(feed.URI)
	}
	if !feed.Overwrite {
		if err := checkAppend(feed, info.Size()); err != nil {
			return err
		}
	}
	return checkBeside(feed.URI)
}

// checkAppend reports whether a file can be added to as it is.
func checkAppend(feed crawl.Feed, size int64) error {
	if err := checkFile(feed.URI, os.O_WRONLY); err != nil {
		return err
	}
	if feed.Format != CSV || size == 0 {
		return nil
	}
	f, err := os.Open(feed.URI)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = columnsOf(f)
	return err
}

// CheckFile tells what would make it fail to write a file of this machine that
// is no feed. It leaves no trace.
func CheckFile(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkNew(file, "")
	case err != nil:
		return reasonOf(file, err)
	case info.IsDir():
		return isDirectory(file)
	case !info.Mode().IsRegular():
		return nil
	}
	return checkFile(file, os.O_WRONLY)
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
		return isDirectory(feed.URI)
	}
	return nil
}

// checkBeside reports whether a file can be made beside the feed, under the
// longest of the names that delivering needs.
func checkBeside(uri string) error {
	return checkNew(uri, string(crawl.NewJobUID())+".part")
}

// checkNew makes and removes a file: the one that is named, or, with an ending,
// the hidden one beside it.
func checkNew(name, ending string) error {
	file, err := throughLinks(name)
	if err != nil {
		return reasonOf(name, err)
	}
	dir := filepath.Dir(file)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: the directory %s does not exist", name, dir)
	case err != nil:
		return reasonOf(name, err)
	case !info.IsDir():
		return fmt.Errorf("%s: %s is no directory", name, dir)
	}
	if ending != "" {
		file = beside(file, ending)
	}
	if err := checkFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY); err != nil {
		if errors.Is(err, syscall.ENAMETOOLONG) {
			return reasonOf(name, err)
		}
		return fmt.Errorf("%s: nothing can be written in %s: %w", name, dir, err)
	}
	return os.Remove(file)
}

// checkFile opens a file for writing and changes nothing in it.
func checkFile(file string, flag int) error {
	f, err := os.OpenFile(file, flag, 0o666)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", file, err)
	}
	return f.Close()
}

// reasonOf words the errors of paths that people run into.
func reasonOf(file string, err error) error {
	if errors.Is(err, syscall.ENAMETOOLONG) {
		base := filepath.Base(file)
		return fmt.Errorf("the file name %s, of %d bytes, is too long, or leaves no room for the names of the hidden files that a feed has beside it",
			shortened(base), len(base))
	}
	return err
}

// shortened keeps a message readable.
func shortened(name string) string {
	const limit = 40
	if len(name) <= limit {
		return name
	}
	return strings.ToValidUTF8(name[:limit], "") + "…"
}

func isDirectory(file string) error {
	return fmt.Errorf("%s is a directory; name a file in it", file)
}

func jsonExists(file string) error {
	return fmt.Errorf("%s exists, and a JSON array cannot be appended to; overwrite it (-O), or append to a .jsonl file", file)
}
