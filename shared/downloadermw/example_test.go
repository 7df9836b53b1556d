package downloadermw_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/origins"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/stats"
)

// The list of a new project, over a web of two pages.
func Example() {
	// What all jobs of a process share.
	web, err := handlers.HTTP(handlers.Options{RoundTripper: twoPages{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	store := &fakeStore{now: time.Now, rows: map[string]origins.Row{}, leases: map[string]time.Time{}}
	robots := downloadermw.NewRobots(store, time.Now)
	decoders := new(downloadermw.Decoders)
	proxies := downloadermw.NewProxies(*httpproxy.FromEnvironment(), time.Now)

	// What belongs to one job.
	s, err := settings.Resolve()
	if err != nil {
		fmt.Println(err)
		return
	}
	st, log := new(stats.Collector), slog.New(slog.DiscardHandler)
	offsite, err := downloadermw.Offsite([]string{"example.com"}, st, log)
	if err != nil {
		fmt.Println(err)
		return
	}
	auth, err := downloadermw.HTTPAuth(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	proxy, err := downloadermw.HTTPProxy(s, downloadermw.HTTPProxyOptions{}, st, log, proxies)
	if err != nil {
		fmt.Println(err)
		return
	}
	h := downloader.Chain(web.ForJob(s),
		offsite,
		downloadermw.Retry(s, st, log, time.Now),
		robots.Middleware(s, st, log),
		auth,
		downloadermw.DownloadTimeout(s),
		downloadermw.DefaultHeaders(s),
		downloadermw.UserAgent(s, "the job"),
		downloadermw.MetaRefresh(s, downloadermw.RedirectOptions{}, log),
		downloadermw.HTTPCompression(s, st, log, decoders),
		downloadermw.Redirect(s, downloadermw.RedirectOptions{}, log),
		downloadermw.Cookies(s, st, log, time.Now),
		proxy,
		downloadermw.DownloaderStats(s, st),
	)

	for _, url := range []string{
		"http://example.com/", "http://example.com/private", "http://example.com/old", "http://example.com/busy", "http://example.org/",
	} {
		resp, err := h.Fetch(context.Background(), &crawl.Request{URL: url})
		if err != nil {
			fmt.Println(url, "-", err)
			continue
		}
		fmt.Println(url, resp.Status, string(resp.Body))
	}
	fmt.Println(st.Take()["downloader/request_count"], "requests")
	// Output:
	// http://example.com/ 200 hello
	// http://example.com/private - dropped: robots
	// http://example.com/old - instead http://example.com/: 301
	// http://example.com/busy - to be tried again after 2m0s: 503 Service Unavailable
	// http://example.org/ - dropped: offsite
	// 4 requests
}

// twoPages is the web of the example.
type twoPages struct{}

func (twoPages) RoundTrip(req *http.Request) (*http.Response, error) {
	status, headers, body := 200, http.Header{}, "hello"
	switch req.URL.Path {
	case "/robots.txt":
		body = "User-agent: *\nDisallow: /private\n"
	case "/old":
		status, body = 301, ""
		headers.Set("Location", "/")
	case "/busy":
		status = 503
		headers.Set("Retry-After", "120")
	}
	return &http.Response{
		StatusCode: status, Header: headers, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}
