package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

// marker is what every secret of these tests has in it.
const marker = "mArKeR7secret"

// leaky serves pages that set a cookie, fail, redirect to addresses with a
// password in them, hang up, and link on with one.
func leaky() http.Handler {
	mux := http.NewServeMux()
	page := func(path string, serve func(w http.ResponseWriter, r *http.Request)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: marker, Path: "/"})
			w.Header().Set("X-Auth-Token", marker)
			serve(w, r)
		})
	}
	page("/good", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<a href="http://user:%[1]s@%[2]s/linked">x</a> <a href="http://user:%[1]s@offsite.example/">y</a>
			<a href="ftp://user:%[1]s@%[2]s/">z</a> <a href="file:///etc/passwd">f</a>
			<a href="http://user:%[1]s@%[2]s/%[3]s">long</a>`, marker, r.Host, strings.Repeat("l", 3000))
	})
	page("/linked", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "linked") })
	page("/private", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "private") })
	page("/panics", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "x") })
	page("/fails", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	page("/missing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	page("/hangs-up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	page("/moved", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", fmt.Sprintf("http://user:%s@%s/fails?moved", marker, r.Host))
		w.WriteHeader(http.StatusFound)
	})
	page("/round", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", fmt.Sprintf("http://user:%s@%s/round", marker, r.Host))
		w.WriteHeader(http.StatusFound)
	})
	page("/coded", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, "\x1f\x8b\x08 and no gzip behind it")
	})
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
	})
	return mux
}

// secretive asks for the pages of a leaky site with a secret in each place that
// a request has for one.
func secretive(host string) spider.Spider {
	return spider.Spider{
		Name: "secretive", AllowedDomains: []string{"127.0.0.1"},
		Start: func(context.Context, spider.Start) spider.Results {
			return func(yield func(crawl.Result, error) bool) {
				for _, path := range []string{"good", "private", "panics", "fails", "missing", "hangs-up", "moved", "round", "coded"} {
					if !yield(crawl.Result{Request: secretRequest("http://user:" + marker + "@" + host + "/" + path)}, nil) {
						return
					}
				}
				for _, where := range []string{"127.0.0.1:1/refused", host + "/bad header", host + "/proxied"} {
					req := secretRequest("http://user:" + marker + "@" + where)
					if strings.Contains(where, "proxied") {
						req.Proxy = "http://user:" + marker + "@127.0.0.1:1"
					}
					if strings.Contains(where, "bad") {
						req.Headers["X-Api-Key"] = []string{marker + "\r\nX: y"}
					}
					if !yield(crawl.Result{Request: req}, nil) {
						return
					}
				}
			}
		},
		Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			if strings.Contains(page.URL, "panics") {
				panic("at the callback")
			}
			for _, ref := range page.CSS("a::attr(href)").All() {
				out.Follow(ref, "")
			}
			page.Log.Info("a callback's own line")
			out.Item(map[string]int{"status": page.Status})
			return nil
		},
	}
}

func secretRequest(address string) *crawl.Request {
	req := crawl.NewFormRequest(address, url.Values{"login": {"me"}, "password": {marker}})
	req.SetHeader("Authorization", "Bearer "+marker)
	req.SetHeader("Cookie", "own="+marker)
	req.SetHeader("X-Api-Key", marker)
	req.SetHeader("Referer", "http://user:"+marker+"@127.0.0.1/from")
	req.Cookies = []crawl.Cookie{{Name: "given", Value: marker}}
	req.HTTPUser, req.HTTPPass = "user", marker
	return req
}

// secretly runs a command with the secretive spider and returns all that it
// says.
func secretly(t *testing.T, host string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	p := spiders.Project()
	p.Spiders = append(p.Spiders, secretive(host))
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, project: p}
	code := a.run(t.Context(), args)
	text := out.String()
	if code == exitUsage {
		t.Fatalf("%v: exit code %d\n%s", args, code, text)
	}
	for _, line := range leaks(text) {
		t.Errorf("skitter %s shows a secret:\n%s", args[0], line)
	}
	return text
}

var coded = regexp.MustCompile(`[A-Za-z0-9+/_-]{12,}=*`)

// leaks returns the lines with a marker, also in base64.
func leaks(text string) (found []string) {
	for line := range strings.Lines(text) {
		leaking := strings.Contains(line, marker)
		for _, token := range coded.FindAllString(line, -1) {
			for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				plain, _ := enc.DecodeString(strings.TrimRight(token, "="))
				leaking = leaking || bytes.Contains(plain, []byte(marker))
			}
		}
		if leaking {
			found = append(found, line)
		}
	}
	return found
}

// TestI8NothingSecretIsShown crawls with a secret in every place that has one,
// through answers, failures, retries and redirects, with all that can be logged,
// and looks for it in all that any command says.
func TestI8NothingSecretIsShown(t *testing.T) {
	srv := httptest.NewServer(leaky())
	defer srv.Close()
	srv.Config.ErrorLog = nil
	host := strings.TrimPrefix(srv.URL, "http://")
	dir := t.TempDir()
	stats, data := filepath.Join(dir, "stats.json"), filepath.Join(dir, "data")
	fast := []string{"-s", "DOWNLOAD_DELAY=0", "-s", "RETRY_DELAY=1ms", "-s", "RETRY_TIMES=1", "-L", "DEBUG"}

	log := secretly(t, host, append([]string{"crawl", "secretive", "--job", "j", "--data", data, "--stats", stats,
		"-s", "REDIRECT_MAX_TIMES=3", "-s", "COOKIES_DEBUG=True"}, fast...)...)
	for _, want := range []string{ // else what is looked for is not there
		"forbidden by robots.txt", "retrying", "gave up retrying", "redirecting", "max redirections", "ignoring response",
		"ignoring link", "offsite", "unsupported-scheme", "forbidden-scheme", "at the callback", "a callback's own line",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %q", want)
		}
	}
	if text, err := os.ReadFile(stats); err != nil || len(leaks(string(text))) > 0 {
		t.Errorf("the stats: %v\n%s", err, text)
	}

	list := secretly(t, host, "dead", "list", "j", "--data", data)
	for _, want := range []string{"connect", "reset", "status-500", "bad-encoding", "bad-request"} {
		if !strings.Contains(list, want) {
			t.Errorf("dead list has no %s:\n%s", want, list)
		}
	}
	secretly(t, host, "dead", "list", "j", "--data", data, "--json")
	for line := range strings.Lines(list) {
		unit, _, _ := strings.Cut(line, "\t")
		shown := secretly(t, host, "dead", "show", "j", unit, "--data", data)
		if !strings.Contains(shown, "given") && !strings.Contains(shown, "own=…") {
			t.Errorf("dead show hides the names, too:\n%s", shown)
		}
	}
	secretly(t, host, "items", "j", "--data", data)

	address := "http://user:" + marker + "@" + host
	for _, path := range []string{"/good", "/moved", "/hangs-up", "/private", "/missing"} {
		for _, how := range []string{"--headers", "-v", "--json"} {
			if how == "-v" && path == "/good" {
				continue // the page itself has it
			}
			secretly(t, host, append([]string{"fetch", how, address + path}, fast...)...)
		}
	}
	secretly(t, host, append([]string{"parse", address + "/good", "--spider", "secretive"}, fast...)...)
	secretly(t, host, append([]string{"parse", address + "/good", "--spider", "secretive", "--json", "-d", "2"}, fast...)...)
	secretly(t, host, append([]string{"shell", address + "/good", "-c", "request", "-c", "headers", "-c", "links", "-c", "fetch /fails"}, fast...)...)
}

// TestALogLineIsOneLine logs addresses that would forge a line of their own, or
// that a formatter would choke on.
func TestALogLineIsOneLine(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	for _, path := range []string{"/%0aINFO%20fake", "/100%", "/a\nINFO fake", "/\u2028INFO fake\x1b[31m"} {
		text := secretly(t, host, "fetch", "--headers", "-s", "DOWNLOAD_DELAY=0", "-L", "DEBUG", srv.URL+path)
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "INFO") || strings.ContainsAny(line, "\x1b\u2028") {
				t.Errorf("%q forges the line %q", path, line)
			}
		}
	}
}
