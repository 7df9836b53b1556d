package lambdahost_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

// cookiePages is how many pages the site of the test has.
const cookiePages = 300

// TestWhatCookiesCost crawls one site three times through the four functions:
// without cookies, with 20 that the first page sets, and with one of the 20
// that every answer renews. It prints what a page is billed, and holds what the
// cookies add against bounds.
func TestWhatCookiesCost(t *testing.T) {
	type units struct{ writes, reads, sqs float64 }
	crawlWith := func(set func(http.ResponseWriter, *http.Request)) units {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			set(w, r)
			w.Header().Set("Content-Type", "text/html")
			n, _ := strconv.Atoi(r.URL.Path[1:]) // robots.txt is a page too, without a rule
			for child := 10*n + 1; child <= 10*n+10 && child < cookiePages; child++ {
				fmt.Fprintf(w, `<a href="/%d">%[1]d</a>`, child)
			}
		}))
		defer server.Close()
		p := spiders.Project()
		p.Definitions, p.Spiders = nil, []spider.Spider{{
			Name: "all", StartURLs: []string{"http://127.0.0.1:1/"},
			Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
				for _, link := range page.CSS("a::attr(href)").All() {
					if req, ok := page.NewRequest(link, ""); ok {
						out.Request(req)
					}
				}
				return nil
			},
		}}
		s := newMemoryStack(t, p, func(c awssdk.HTTPClient) awssdk.HTTPClient { return c })
		job, _, err := s.cloud.Create(t.Context(), engine.Order{Project: "default", Spec: crawl.JobSpec{
			Spider: "all", StartURLs: []string{server.URL + "/0"},
			Settings: map[string]string{"DOWNLOAD_DELAY": "0", "CONCURRENT_REQUESTS_PER_DOMAIN": "16", "ROBOTSTXT_OBEY": "false", "LOG_LEVEL": "ERROR"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for !s.ended(t, job.UID) {
			s.step(t)
		}
		stats, err := s.cloud.ReadStats(t.Context(), job.UID)
		if err != nil || stats["response_received_count"] != float64(cookiePages) {
			t.Fatalf("%v pages (%v), want %d", stats["response_received_count"], err, cookiePages)
		}
		sum := meter.Totals(s.meter.Snapshot())
		return units{sum[meter.WriteUnit] / cookiePages, sum[meter.ReadUnit] / cookiePages, sum[meter.SQSRequest] / cookiePages}
	}
	all := func(w http.ResponseWriter, r *http.Request) {
		for n := range 20 {
			http.SetCookie(w, &http.Cookie{Name: fmt.Sprintf("cookie_%d", n), Value: unlike(r.URL.Path, n), Path: "/"})
		}
	}
	missing := 0
	none := crawlWith(func(http.ResponseWriter, *http.Request) {})
	login := crawlWith(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/0" {
			all(w, r)
		} else if len(r.Cookies()) != 20 {
			missing++
		}
	})
	renewed := crawlWith(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/0" {
			all(w, r)
		}
		http.SetCookie(w, &http.Cookie{Name: "cookie_7", Value: unlike(r.URL.Path, 7), Path: "/"})
	})
	if missing > 0 {
		t.Errorf("%d requests came without the 20 cookies", missing)
	}
	for _, test := range []struct {
		name          string
		got           units
		writes, reads float64 // at most so many more than without cookies
	}{
		{"no cookies", none, 0, 0}, {"20 cookies, set once", login, 0.05, 0.2}, {"20 cookies, one renewed by every answer", renewed, 0.3, 0.3},
	} {
		more := units{test.got.writes - none.writes, test.got.reads - none.reads, test.got.sqs - none.sqs}
		t.Logf("%-40s a page: %.2f write units (%+.3f), %.2f read units (%+.3f), %.2f SQS requests (%+.3f)",
			test.name, test.got.writes, more.writes, test.got.reads, more.reads, test.got.sqs, more.sqs)
		if more.writes > test.writes || more.reads > test.reads {
			t.Errorf("%s: %+.3f write and %+.3f read units a page, want at most %.2f and %.2f", test.name, more.writes, more.reads, test.writes, test.reads)
		}
	}
}

// unlike is a value of 60 characters that is hard to pack, as tokens are.
func unlike(path string, n int) string {
	var b strings.Builder
	x := uint32(7919*n + 1)
	for _, c := range path {
		x = x*31 + uint32(c)
	}
	for b.Len() < 60 {
		x = x*1664525 + 1013904223
		b.WriteByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[x>>26])
	}
	return b.String()
}
