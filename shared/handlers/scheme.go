package handlers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
)

// ByScheme hands each request to the handler that it names, else to that of its
// URL's scheme. Schemes are in small letters. A URL with another scheme is a
// failure with the reason "unsupported-scheme", an unknown name one with
// "unknown-handler"; both say what there is.
//
// Request option: DownloadHandler.
func ByScheme(handlers map[string]downloader.Handler) downloader.Handler {
	return downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
		name, reason := req.DownloadHandler, ReasonUnknownHandler
		if name == "" {
			name, reason = schemeOf(req.URL), ReasonUnsupportedScheme
		}
		if h := handlers[name]; h != nil {
			return h.Fetch(ctx, req)
		}
		return nil, failure(req, reason, fmt.Errorf("no handler for %q%s; there are: %s",
			cut(name, 40), hint(name), Names(handlers)))
	})
}

// Names lists handlers for people.
func Names(handlers map[string]downloader.Handler) string {
	return strings.Join(slices.Sorted(maps.Keys(handlers)), ", ")
}

// schemeOf is the scheme of a URL that was parsed, in small letters.
func schemeOf(url string) string {
	scheme, _, _ := strings.Cut(url, ":")
	return strings.ToLower(scheme)
}

// hint says more of what people may expect to be there.
func hint(scheme string) string {
	switch scheme {
	case "ftp", "ftps", "sftp":
		return " (FTP is not built in; a project can bring a handler of its own)"
	case "file":
		return " (files are for one machine, and DOWNLOAD_HANDLERS can switch them off)"
	}
	return ""
}
