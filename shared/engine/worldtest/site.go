package worldtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/spider"
)

// Host is the origin of every page of a world.
const Host = "http://world.example"

// CrashSite is small and has everything: links that meet, requests that are not
// filtered, an error after output, a missing page, a page without items, a retry,
// a redirect, and all but the first for members only, whose cookie is too long to travel.
var CrashSite = Site{
	"/":      "cookie " + LongCookie + "\nitem start\nlink /a\nlink /b\nlink /gone\nlink /moved",
	"/a":     member + "cookie second\nitem a1\nitem a2\nlink /b\nlink /c\nagain /d",
	"/b":     member + "item b\nlink /a\nagain /d\nlink /error",
	"/c":     member + "needs second\nbusy third\nitem c\nlink /",
	"/d":     member + "item d",
	"/error": member + "item before\nlink /late\nerror",
	"/late":  member + "item late",
	"/moved": member + "cookie fourth\nredirect /new",
	"/new":   member + "needs fourth\nitem new",
}

// LongCookie is one that does not travel in its request.
var LongCookie = strings.Repeat("member", 60)

var member = "needs " + LongCookie + "\n"

// CrashItems are the items of [CrashSite], sorted.
var CrashItems = []string{"a1", "a2", "b", "before", "c", "d", "d", "late", "new", "start"}

// fetch answers from the site.
func (w *World) fetch(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
	site := downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		path := strings.TrimPrefix(req.URL, Host)
		w.mu.Lock()
		w.Fetched[path]++
		w.mu.Unlock()
		text, ok := w.opts.Site[path]
		if !ok {
			return nil, &crawl.Failure{Reason: "not-found", Message: path}
		}
		body, err := serve(req, text)
		if err != nil {
			return nil, err
		}
		return &crawl.Response{URL: req.URL, Status: 200, Body: []byte(body), Request: req}, nil
	})
	if w.opts.Fetch != nil {
		return w.opts.Fetch(ctx, req, site)
	}
	return site(ctx, req)
}

// serve is the site and the downloader middleware Cookies in one: it looks at the
// cookies of a request, and adds those that the answer sets. It returns what is
// left of the page.
func serve(req *crawl.Request, text string) (body string, err error) {
	for line := range strings.Lines(text) {
		word, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
		has := slices.Contains(strings.Fields(req.Jars), arg)
		switch {
		case word == "needs" && !has:
			return "", &crawl.Failure{Reason: "members-only", Message: "the request brings no such cookie"}
		case word == "cookie" && !has:
			req.Jars = strings.TrimSpace(req.Jars + " " + arg)
		case word == "busy" && req.RetryTimes == 0:
			req.Jars = strings.TrimSpace(req.Jars + " " + arg)
			return "", &crawl.Retry{Reason: "503"}
		case word == "busy" && !has:
			return "", &crawl.Failure{Reason: "busy", Message: "the retry brings no such cookie"}
		case word == "redirect":
			next := req.Clone()
			next.URL = Host + arg
			return "", &crawl.Instead{Request: next, Reason: "302"}
		case !slices.Contains([]string{"needs", "cookie", "busy"}, word):
			body += line
		}
	}
	return body, nil
}

// parse does what a page says.
func parse(_ context.Context, page *spider.Page, out *spider.Output) error {
	for line := range strings.Lines(string(page.Body)) {
		word, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "":
		case "link":
			out.Request(&crawl.Request{URL: Host + arg})
		case "again":
			out.Request(&crawl.Request{URL: Host + arg, DontFilter: true})
		case "item":
			out.Item(map[string]string{"name": arg})
		case "first": // a link that only the first attempt finds
			if page.Request.RetryTimes == 0 {
				out.Request(&crawl.Request{URL: Host + arg})
			}
		case "attempt": // an item that tells the attempt
			out.Item(map[string]string{"name": fmt.Sprintf("%s-%d", arg, page.Request.RetryTimes)})
		case "retry": // until so many attempts have failed
			if n, reason, _ := strings.Cut(arg, " "); fmt.Sprint(page.Request.RetryTimes) < n {
				return fmt.Errorf("a leg: %w", page.Retry(reason))
			}
		case "error":
			return errors.New("the page says so")
		case "panic":
			panic("the page says so")
		case "close":
			return &crawl.CloseSpider{Reason: arg}
		default:
			return fmt.Errorf("unknown word %q", word)
		}
	}
	return nil
}

// deliver is the feed: it keeps the names of the items.
func (w *World) deliver(_ context.Context, _ *engine.Runtime, _ crawl.Job, _ crawl.Feed, output iter.Seq2[crawl.Item, error]) (int, error) {
	var names []string
	var all []crawl.Item
	for item, err := range output {
		if err != nil {
			return 0, err
		}
		name, _ := item.Get("name")
		names = append(names, fmt.Sprint(name))
		all = append(all, item)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Delivered, w.Output = names, all
	w.Deliveries++
	return len(names), nil
}
