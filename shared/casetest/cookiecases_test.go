package casetest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// A cookieStep is one request of a session: a page that sets cookies, or one
// whose Cookie header is looked at.
type cookieStep struct {
	URL       string
	SetCookie []string `json:"set_cookie"`

	Request  string
	Headers  map[string]string
	Response *scripted
}

// cookies goes through the steps of a session, each found on the page of the
// last or, where that redirects, what it leads to.
func cookies(t *testing.T, c reported) {
	var in struct{ Steps []cookieStep }
	var want struct{ Cookie []*string }
	decode(t, c, &in, &want)
	var site []http.Handler
	var requests []*crawl.Request
	for _, step := range in.Steps {
		answer := scripted{Body: "page"}
		if step.Response != nil {
			answer = *step.Response
		}
		for _, cookie := range step.SetCookie {
			answer.HeadersList = append(answer.HeadersList, [2]string{"Set-Cookie", cookie})
		}
		site = append(site, answer)
		req := ofURL("GET", step.URL+step.Request, step.Headers)
		req.DontFilter = true
		requests = append(requests, req)
	}
	n := &network{site: inTurn(site...)}
	done := 0
	s := scene{network: n, requests: requests[:1], parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
		if done = len(n.urls()); done < len(requests) {
			out.Request(requests[done])
		}
		return nil
	}}
	s.crawl(t)
	if len(n.asked) != len(in.Steps) {
		t.Fatalf("asked for %q, want %d requests", n.urls(), len(in.Steps))
	}
	var got []*string
	for i, step := range in.Steps {
		if a := n.asked[i]; a.URL != step.URL+step.Request {
			t.Errorf("request %d is %s, want %s", i, a.URL, step.URL+step.Request)
		}
		if step.Request == "" || step.Response != nil {
			continue // it is here to get cookies
		}
		lines := n.asked[i].Header["Cookie"]
		switch len(lines) {
		case 0:
			got = append(got, nil)
		case 1:
			got = append(got, &lines[0])
		default:
			t.Errorf("request %d has %d lines of cookies: %q", i, len(lines), lines)
		}
	}
	if diff := cmp.Diff(want.Cookie, got); diff != "" {
		t.Errorf("Cookie (-want +got):\n%s", diff)
	}
}

// TestCOOK08 has sessions at one host, each in a jar of its own, whose requests
// alternate. The server gives each the number of its jar, and another cookie
// with every page.
func TestCOOK08(t *testing.T) {
	var in struct {
		Jars   []int
		Server string
	}
	var want struct {
		Isolated bool
		Lost     int `json:"lost_updates"`
	}
	caseOf(t, "COOK-08", &in, &want)
	if in.Server != "sid=jar" {
		t.Fatalf("no server sets %s", in.Server)
	}
	const pages = 4
	n := &network{site: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		jar, step, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if step == "0" {
			w.Header().Add("Set-Cookie", "sid="+jar)
		}
		w.Header().Add("Set-Cookie", fmt.Sprintf("step%s=%s", step, jar))
		scripted{Body: "page"}.ServeHTTP(w, r)
	})}
	s := scene{network: n}
	for _, jar := range in.Jars {
		s.requests = append(s.requests, &crawl.Request{
			URL: fmt.Sprintf("http://example.com/%d/0", jar), Options: crawl.Options{CookieJar: fmt.Sprint(jar)},
		})
	}
	s.parse = func(_ context.Context, page *spider.Page, out *spider.Output) error {
		var jar, step int
		if _, err := fmt.Sscanf(mustPath(t, page.Response.URL), "/%d/%d", &jar, &step); err != nil {
			return err
		}
		if step+1 < pages {
			out.Follow(fmt.Sprintf("/%d/%d", jar, step+1), "", func(r *crawl.Request) { r.CookieJar = fmt.Sprint(jar) })
		}
		return nil
	}
	s.crawl(t)
	if len(n.asked) != pages*len(in.Jars) {
		t.Fatalf("asked for %q", n.urls())
	}
	isolated, lost := true, 0
	for _, a := range n.asked {
		var jar, step int
		if _, err := fmt.Sscanf(mustPath(t, a.URL), "/%d/%d", &jar, &step); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, c := range (&http.Request{Header: a.Header}).Cookies() {
			isolated = isolated && c.Value == fmt.Sprint(jar)
			got[c.Name] = c.Value
		}
		for before := range step {
			if got[fmt.Sprintf("step%d", before)] == "" {
				lost++
			}
		}
		isolated = isolated && (step == 0 || got["sid"] == fmt.Sprint(jar))
	}
	if isolated != want.Isolated || lost != want.Lost {
		t.Errorf("isolated: %v, %d cookies lost; want %v and %d: %+v", isolated, lost, want.Isolated, want.Lost, n.asked)
	}
}

func mustPath(t *testing.T, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		t.Error(err)
		return ""
	}
	return u.Path
}

// metaRefresh asks for pages that may lead elsewhere by what stands in them.
func metaRefresh(t *testing.T, c reported) {
	var in struct {
		URL   string
		Cases []string
	}
	var want struct{ URLs []*string }
	decode(t, c, &in, &want)
	var got []*string
	for _, body := range in.Cases {
		answer := scripted{Headers: map[string]string{"Content-Type": "text/html"}, Body: body}
		n := &network{site: inTurn(answer, scripted{Body: "end"})}
		heard := scene{network: n, requests: []*crawl.Request{{URL: in.URL}}}.crawl(t).only(t)
		got = append(got, nil)
		if len(n.asked) == 2 {
			got[len(got)-1] = &n.asked[1].URL
		}
		if whole := len(n.asked) == 1; len(n.asked) > 2 || whole != (heard.Body == body) {
			t.Errorf("%s: asked for %q and told %+v", body, n.urls(), heard)
		}
	}
	if diff := cmp.Diff(want.URLs, got); diff != "" {
		t.Errorf("URLs (-want +got):\n%s", diff)
	}
}
