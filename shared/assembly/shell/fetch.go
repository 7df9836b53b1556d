package shell

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
)

// Fetch makes the page at a URL the shell's.
func (s *Shell) Fetch(ctx context.Context, address string) error {
	u, err := assembly.AnyURL(address)
	if err != nil {
		return err
	}
	return s.send(ctx, &crawl.Request{URL: u})
}

func (s *Shell) send(ctx context.Context, req *crawl.Request) error {
	if s.DontRedirect {
		req.DontRedirect = true
	}
	if s.page != nil && req.Jars == "" {
		req.Jars = s.page.Request.Jars
	}
	resp, err := s.single.Fetch(ctx, req)
	if err != nil {
		return err
	}
	s.take(resp)
	return nil
}

// ReadFile makes a file of this machine the shell's page. It is read as what
// its name's ending says, as the page of an address, or of its own if that is
// empty.
func (s *Shell) ReadFile(name, address string) error {
	body, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if address == "" {
		path, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		address = (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	}
	s.take(&crawl.Response{
		URL: address, Status: http.StatusOK, Body: body,
		Headers: http.Header{"Content-Type": {contentType(name)}},
		Request: &crawl.Request{URL: address},
	})
	return nil
}

// contentType is what a server would say of a file, without the encoding, which
// the page tells.
func contentType(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".xml", ".rss", ".atom":
		return "application/xml"
	case ".json":
		return "application/json"
	case ".txt", ".csv":
		return "text/plain"
	}
	return "text/html"
}

// runFetch fetches a link by its number, an address as it would stand on the
// page, or the page again.
func (s *Shell) runFetch(ctx context.Context, ref string) error {
	switch n, err := strconv.Atoi(ref); {
	case ref == "" && s.page == nil:
		return errors.New("fetch what? there is no page yet that could be fetched again")
	case ref == "":
		return s.again(ctx)
	case err == nil && len(s.links) == 0:
		return errors.New("no links are shown: links numbers them")
	case err == nil && (n < 1 || n > len(s.links)):
		return fmt.Errorf("there is no link %d: links numbered them from 1 to %d", n, len(s.links))
	case err == nil:
		ref = s.links[n-1].URL
	case s.page != nil:
		if full := s.page.Join(ref); full != "" {
			ref = full
		}
	}
	return s.open(ctx, ref)
}

// again asks for the page once more.
func (s *Shell) again(ctx context.Context) error {
	if strings.HasPrefix(s.page.Request.URL, "file:") {
		return s.open(ctx, s.page.Request.URL)
	}
	req := s.page.Request.Clone()
	req.Progress, req.DontFilter = crawl.Progress{}, true
	return s.send(ctx, req)
}

// open gets what an absolute address names: a page of the web, or where the
// shell's own page is a file, another file beside it.
func (s *Shell) open(ctx context.Context, address string) error {
	if s.page != nil && strings.HasPrefix(s.page.Response.URL, "file:") {
		if u, err := url.Parse(address); err == nil && u.Scheme == "file" {
			return s.ReadFile(filepath.FromSlash(u.Path), "")
		}
	}
	return s.Fetch(ctx, address)
}
