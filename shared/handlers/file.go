package handlers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers/bounded"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/weburl"
)

// File answers file: URLs with files of this machine. The Content-Type is what
// the name's ending says, else what the first bytes look like, always without a
// charset; the status is 200. What is not there, is a folder or a device, or
// may not be read fails as "no-file"; DOWNLOAD_MAXSIZE holds.
//
// Who may name a URL reads what this process may read. So it is for one
// machine, and [Scope] keeps pages of the web from naming files.
func File(s settings.Settings) downloader.Handler {
	var buffers bounded.Pool
	return downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		u, err := weburl.Parse(req.URL)
		if err != nil {
			return nil, failure(req, ReasonBadURL, err)
		}
		name, err := filePath(u)
		if err != nil {
			return nil, failure(req, ReasonBadURL, err)
		}
		limit := Maxsize(req, s.DownloadMaxsize)
		body, err := readFile(name, &buffers, limit)
		if errors.Is(err, bounded.ErrTooLarge) {
			return nil, failure(req, ReasonTooLarge, fmt.Errorf("more than the limit of %d bytes", limit))
		}
		if err != nil {
			return nil, failure(req, ReasonNoFile, err)
		}
		return &crawl.Response{
			URL: u.WithoutFragment().String(), Status: http.StatusOK, Body: body,
			Headers: http.Header{"Content-Type": {fileType(name, body)}}, Request: req,
		}, nil
	})
}

// filePath is the path that a file: URL names on this machine.
func filePath(u weburl.URL) (string, error) {
	if host := u.Hostname(); host != "" {
		return "", fmt.Errorf("a file of the machine %q: write file:/// with three slashes for one of this machine", host)
	}
	path := string(percentDecoded(u.Path()))
	if strings.ContainsRune(path, 0) {
		return "", errors.New("a file's name has no zero byte")
	}
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // of /C:/folder
	}
	return filepath.FromSlash(path), nil
}

func readFile(name string, buffers *bounded.Pool, limit int64) ([]byte, error) {
	// Asked before it is opened, as opening a pipe waits for who writes it.
	info, err := os.Stat(name)
	if err != nil {
		return nil, plainly(name, err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%q is a folder", name)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no ordinary file", name)
	}
	if limit > 0 && info.Size() > limit {
		return nil, bounded.ErrTooLarge
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, plainly(name, err)
	}
	defer f.Close()
	return buffers.ReadAll(f, limit)
}

// plainly says what an error of a file means.
func plainly(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %q", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%q may not be read", name)
	}
	return err
}

// endings are those of what crawls read, so that they mean the same on every
// machine.
var endings = map[string]string{
	".atom": "application/atom+xml", ".csv": "text/csv", ".htm": "text/html", ".html": "text/html",
	".json": "application/json", ".jsonl": "application/jsonl", ".rss": "application/rss+xml", ".txt": "text/plain",
	".xhtml": "application/xhtml+xml", ".xml": "application/xml",
}

// fileType is the media type of a file without its charset, which the file
// tells by itself.
func fileType(name string, body []byte) string {
	ending := strings.ToLower(filepath.Ext(name))
	found := endings[ending]
	if found == "" {
		found = mime.TypeByExtension(ending)
	}
	if found == "" {
		found = http.DetectContentType(body)
	}
	found, _, _ = strings.Cut(found, ";")
	return found
}
