package assembly_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

// What a Single asks with after a redirect is what a job asks with: headers that
// middlewares put on are put on anew, and a Referer follows one only.
func TestASingleFollowsRedirectsAsAJobDoes(t *testing.T) {
	var mu sync.Mutex
	told := make(map[string]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		told[r.URL.Path] = r.Header.Get("Referer")
		if to, ok := map[string]string{"/a": "/b", "/from": "/to"}[r.URL.Path]; ok {
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	defer server.Close()
	settings := map[string]string{"DOWNLOAD_DELAY": "0", "ROBOTSTXT_OBEY": "false"}
	fetch := func(path string, headers http.Header, settings map[string]string) {
		single, err := assembly.NewSingle(spiders.Project(), nil, crawl.JobSpec{Settings: settings}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := single.Fetch(t.Context(), &crawl.Request{URL: server.URL + path, Headers: headers}); err != nil {
			t.Error(err)
		}
	}
	fetch("/a", nil, settings)
	fetch("/from", http.Header{"Referer": {server.URL + "/index"}}, settings)
	want := map[string]string{"/a": "", "/b": "", "/from": server.URL + "/index", "/to": server.URL + "/from"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("Referers (-want +got):\n%s", diff)
	}

	always := map[string]string{"DOWNLOAD_DELAY": "0", "ROBOTSTXT_OBEY": "false", "DEFAULT_REQUEST_HEADERS": `{"Referer": "http://door.example/"}`}
	fetch("/a", nil, always)
	if told["/a"] != "http://door.example/" || told["/b"] != "http://door.example/" {
		t.Errorf("with a Referer among the default headers: %v", told)
	}
}

// A retry, a redirect and the pages that follow have the cookies of the answers
// before, as in a job.
func TestASingleCarriesCookiesOn(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		step := "0"
		if cookie, err := r.Cookie("step"); err == nil {
			step = cookie.Value
		}
		next := func(value string) { http.SetCookie(w, &http.Cookie{Name: "step", Value: value, Path: "/"}) }
		switch r.URL.Path + step {
		case "/0":
			next("1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/1":
			next("2")
			http.Redirect(w, r, "/second", http.StatusFound)
		case "/second2":
			next("3")
		case "/third3":
		default:
			http.Error(w, "not with step "+step, http.StatusForbidden)
		}
	}))
	defer server.Close()
	p := spiders.Project()
	p.Definitions, p.Spiders = nil, []spider.Spider{{
		Name: "steps", StartURLs: []string{server.URL + "/"},
		Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			if req, ok := page.NewRequest("/third", ""); ok {
				out.Request(req)
			}
			return nil
		},
	}}
	single, err := assembly.NewSingle(p, nil, crawl.JobSpec{Spider: "steps", Settings: map[string]string{
		"DOWNLOAD_DELAY": "0", "ROBOTSTXT_OBEY": "false", "RETRY_DELAY": "1ms",
	}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for v := range single.Walk(t.Context(), &crawl.Request{URL: server.URL + "/"}, 2) {
		if v.Err != nil || v.Response == nil {
			t.Fatalf("level %d: %v", v.Level, v.Err)
		}
		got = append(got, fmt.Sprintf("%s %d", strings.TrimPrefix(v.Response.URL, server.URL), v.Response.Status))
	}
	if diff := cmp.Diff([]string{"/second 200", "/third 200"}, got); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
}
