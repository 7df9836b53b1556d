package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
)

// members is a spider that logs in at the built-in site and reads what only
// members see.
func members() spider.Spider {
	follow := func(_ context.Context, page *spider.Page, out *spider.Output) error {
		if strings.HasSuffix(page.URL, "/login") {
			return errors.New("the site does not know the member any more")
		}
		for _, order := range page.CSS("p.order::text").All() {
			out.Item(map[string]string{"order": order})
		}
		for _, link := range page.CSS("a::attr(href)").All() {
			if req, ok := page.NewRequest(link, "member"); ok {
				out.Request(req)
			}
		}
		return nil
	}
	return spider.Spider{
		Name: "members", StartURLs: []string{"http://127.0.0.1:1/login"},
		Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			req, err := page.FormRequest(extract.FormOptions{FormData: map[string][]string{"user": {"demo"}, "password": {"demo"}}})
			if err != nil {
				return err
			}
			req.Callback = "member"
			out.Request(req)
			return nil
		},
		Callbacks: map[string]spider.Callback{"member": follow},
	}
}

// TestALoginWorksAcrossFourProcesses logs in at the built-in site, which sends
// the member on with a cookie, and reads the orders that follow from there. Each
// function is a process of its own, so the cookie has nowhere to be but in the
// requests and, where it is long, in their rows.
func TestALoginWorksAcrossFourProcesses(t *testing.T) {
	t.Parallel()
	want := []string{`{"order":"1"}`, `{"order":"2"}`, `{"order":"3"}`, `{"order":"4"}`, `{"order":"5"}`}
	for _, test := range []struct{ name, login string }{
		{"a short cookie", "/login"},
		{"a long cookie", "/login?cookie=1000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			url, out := serveShop(t, 10), filepath.Join(t.TempDir(), "items.jsonl")
			args := []string{"crawl", "members", url + test.login, "-O", out, "--quiet"}
			functions := []string{"--exec", testFunctions(t), "--endpoint", inMemory(t), "--stack", "members", "--time-scale", "10"}
			for where, args := range map[string][]string{
				"four processes": slices.Concat(args, functions, fast),
				"one machine":    slices.Concat(args, []string{"--data", t.TempDir()}, fast),
			} {
				skitter(t, args...)
				var got []string
				for _, line := range sortedLines(t, out) {
					got = append(got, strings.TrimSpace(line))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want, +got):\n%s", where, diff)
				}
			}
		})
	}
}
