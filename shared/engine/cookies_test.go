package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/jars"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/site"
	"github.com/skitterhq/skitter/shared/spider"
)

// cookieSizes are those of a cookie that travels in its request, and of one that
// lies apart.
var cookieSizes = []int{10, 1000}

// follow gives a page's title as an item, and its links as requests.
func follow(_ context.Context, page *spider.Page, out *spider.Output) error {
	out.Item(map[string]string{"name": page.CSS("title::text").Get()})
	for _, link := range page.CSS("a::attr(href)").All() {
		out.Request(&crawl.Request{URL: page.Join(link)})
	}
	return nil
}

func titled(w http.ResponseWriter, status int, title string, links ...string) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<title>%s</title>", title)
	for _, link := range links {
		fmt.Fprintf(w, `<a href="%s">%[1]s</a>`, link)
	}
}

func wantNames(t *testing.T, got worldtest.Crawl, want ...string) {
	t.Helper()
	var items []string
	for _, name := range want {
		items = append(items, fmt.Sprintf(`{"name":%q}`, name))
	}
	slices.Sort(items)
	if diff := cmp.Diff(items, got.Items); diff != "" {
		t.Errorf("items (-want, +got):\n%s\n%s", diff, got.Log)
	}
}

// N: a redirect A → B → A, where B's answer sets the cookie that A wants. The
// stages are in processes of their own, through the project's own middlewares.
func TestInterleavingNWithItsCookie(t *testing.T) {
	for _, size := range cookieSizes {
		value := strings.Repeat("x", size)
		server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			cookie, err := r.Cookie("seen")
			switch {
			case r.URL.Path == "/b":
				http.SetCookie(w, &http.Cookie{Name: "seen", Value: value, Path: "/"})
				http.Redirect(w, r, "/a", http.StatusFound)
			case r.URL.Path == "/robots.txt":
				http.NotFound(w, r)
			case err != nil || cookie.Value != value:
				http.Redirect(w, r, "/b", http.StatusFound)
			case r.URL.Path == "/a":
				titled(w, 200, "a", "/deeper")
			default:
				titled(w, 200, "deeper")
			}
		})
		got := worldtest.CrawlSite(t, spider.Spider{StartURLs: []string{worldtest.Host + "/a"}, Parse: follow}, server,
			worldtest.CrawlOptions{Apart: true})
		wantNames(t, got, "a", "deeper")
		if diff := cmp.Diff(map[string]int{"/a": 2, "/b": 1, "/deeper": 1}, got.Fetched); diff != "" {
			t.Errorf("%d bytes: fetched (-want, +got):\n%s", size, diff)
		}
		if strings.Contains(got.Log, value) {
			t.Errorf("%d bytes: the log shows the cookie:\n%s", size, got.Log)
		}
	}
}

// The built-in site leads to itself until its cookie comes back.
func TestTheBuiltInSitesRedirectWithACookieIsFollowed(t *testing.T) {
	shop, err := site.New(site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := worldtest.CrawlSite(t, spider.Spider{StartURLs: []string{worldtest.Host + "/redirect/cookie"}, Parse: follow}, shop,
		worldtest.CrawlOptions{Apart: true})
	wantNames(t, got, "Welcome back")
	if n := got.Fetched["/redirect/cookie"]; n != 2 {
		t.Errorf("asked for %d times, want 2\n%s", n, got.Log)
	}
}

// The cookies of an answer that is tried again count, be it in another process.
func TestARetryBringsTheCookiesOfTheFailedAnswer(t *testing.T) {
	for _, size := range cookieSizes {
		value := strings.Repeat("x", size)
		server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			cookie, err := r.Cookie("ok")
			switch {
			case r.URL.Path != "/":
				http.NotFound(w, r)
			case err != nil || cookie.Value != value:
				http.SetCookie(w, &http.Cookie{Name: "ok", Value: value})
				titled(w, http.StatusServiceUnavailable, "busy")
			default:
				titled(w, 200, "in")
			}
		})
		got := worldtest.CrawlSite(t, spider.Spider{StartURLs: []string{worldtest.Host + "/"}, Parse: follow}, server,
			worldtest.CrawlOptions{Apart: true})
		wantNames(t, got, "in")
		if n := got.Fetched["/"]; n != 2 {
			t.Errorf("%d bytes: asked for %d times, want 2", size, n)
		}
	}
}

// The page of an errback has the cookies of the last answer, and hands them on.
func TestAnErrbackHasTheCookiesOfTheFailedAnswer(t *testing.T) {
	for _, size := range cookieSizes {
		cookie := strings.Repeat("x", size)
		synctest.Test(t, func(t *testing.T) {
			seen := ""
			w := worldtest.New(t, worldtest.Options{
				Apart: true, Site: worldtest.Site{"/member": "needs " + cookie + "\nitem member"},
				Fetch: func(ctx context.Context, req *crawl.Request, site downloader.Handler) (*crawl.Response, error) {
					if req.URL == worldtest.Host+"/" {
						req.Jars = cookie
						return nil, &crawl.Failure{Reason: "reset", Message: "the connection was reset"}
					}
					return site.Fetch(ctx, req)
				},
				Spider: func(s *spider.Spider) {
					start := &crawl.Request{URL: worldtest.Host + "/", Errback: "failed"}
					s.StartURLs, s.Start = nil, func(context.Context, spider.Start) spider.Results {
						return func(yield func(crawl.Result, error) bool) { yield(crawl.Result{Request: start}, nil) }
					}
					s.Errbacks = map[string]spider.Errback{"failed": func(_ context.Context, page *spider.Page, out *spider.Output) error {
						seen = page.Request.Jars
						out.Request(&crawl.Request{URL: worldtest.Host + "/member"})
						return nil
					}}
				},
			})
			w.Run()
			wantItems(t, w, "member")
			if seen != cookie {
				t.Errorf("the errback's request has %d bytes of cookies, want %d", len(seen), size)
			}
		})
	}
}

// A request that comes back without its turn has the cookies it came with.
func TestARequestThatWaitsForItsTurnKeepsItsCookies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited sync.Map
		w := worldtest.New(t, worldtest.Options{
			Apart: true, Site: worldtest.CrashSite,
			Fetch: func(ctx context.Context, req *crawl.Request, site downloader.Handler) (*crawl.Response, error) {
				if _, came := waited.LoadOrStore(fmt.Sprint(req.URL, req.RetryTimes), true); !came {
					return nil, &crawl.Later{At: time.Now().Add(time.Minute), Queued: true, Why: "slot"}
				}
				return site.Fetch(ctx, req)
			},
		})
		w.Run()
		wantItems(t, w, worldtest.CrashItems...)
	})
}

// A request whose cookies are gone fails, for what it is, and the others go on.
func TestARequestWhoseCookiesAreGoneFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{
			Apart: true,
			Site: worldtest.Site{
				"/": "item start\nlink /a\nlink /b", "/a": "cookie " + strings.Repeat("a", 400) + "\nitem a\nlink /c",
				"/b": "cookie " + strings.Repeat("b", 400) + "\nitem b\nlink /d", "/c": "item c", "/d": "item d",
			},
			Wrap: func(p worldtest.Ports) worldtest.Ports {
				p.Jars = lostJars{p.Jars, jars.HashOf(strings.Repeat("a", 400))}
				return p
			},
		})
		if job := w.Run(); job.State != crawl.JobFinished {
			t.Errorf("the job is %s: %s", job.State, job.Problem)
		}
		wantItems(t, w, "start", "a", "b", "d")
		if row := w.Row("/c"); row.State != frontier.Failed || !strings.HasPrefix(row.Why, "dead: ") {
			t.Errorf("the page is %s, %q; want it failed as a message that cannot be worked", row.State, row.Why)
		}
	})
}

// lostJars has lost a text.
type lostJars struct {
	jars.Store
	lost jars.Hash
}

func (s lostJars) Get(ctx context.Context, job crawl.JobUID, hash jars.Hash) (string, error) {
	if hash == s.lost {
		return "", jars.ErrNotFound
	}
	return s.Store.Get(ctx, job, hash)
}

// A redrive takes a unit's cookies along, into the new job's own rows.
func TestARedriveTakesTheCookiesAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cookie := strings.Repeat("x", 400)
		site := worldtest.Site{"/": "cookie " + cookie + "\nlink /a", "/a": "needs " + cookie + "\nerror"}
		w := worldtest.New(t, worldtest.Options{Site: site})
		w.Run()
		site["/a"] = "needs " + cookie + "\nitem a"
		next, n, err := w.Redrive(t.Context(), w.Job)
		if err != nil || n != 1 {
			t.Fatalf("redrive: %d units, %v", n, err)
		}
		w.Job = next
		for w.Row("/a").State == "" {
			w.Pump()
		}
		w.Restart() // another process, which remembers nothing
		w.Finish()
		wantItems(t, w, "a")
		if _, err := w.Jars.Get(t.Context(), next.UID, jars.HashOf(cookie)); err != nil {
			t.Errorf("the new job's cookies: %v", err)
		}
	})
}

// Long cookies lie once, whoever inherits them; the message of a page has them
// only where the answer changed them.
func TestLongCookiesLieOnceAndPagesBringThemWhereTheyChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("x", 400)
		var puts, requests, pages int
		faults := &worldtest.Faults{At: func(name string, _ int) worldtest.Fault {
			if name == "jars.Put" {
				puts++
			}
			return worldtest.NoFault
		}}
		w := worldtest.New(t, worldtest.Options{
			Apart: true,
			Site: worldtest.Site{
				"/": "cookie " + long + "\nlink /a\nlink /b", "/a": "item a\nlink /c", "/b": "item b\nlink /d", "/c": "item c", "/d": "item d",
			},
			Wrap: func(p worldtest.Ports) worldtest.Ports {
				p = faults.Around(p)
				p.Queue = watched{p.Queue, func(to queue.Name, m queue.Message) {
					switch has := strings.Contains(string(m.Body), long); {
					case has && to == queue.Page:
						pages++
					case has:
						requests++
					}
				}}
				return p
			},
		})
		w.Run()
		wantItems(t, w, "a", "b", "c", "d")
		if puts != 1 || requests != 0 || pages != 1 {
			t.Errorf("the cookies were put %d times, and stood in %d requests and %d pages; want 1, 0 and 1", puts, requests, pages)
		}
	})
}

// watched shows what is sent.
type watched struct {
	worldtest.Queue
	sent func(to queue.Name, m queue.Message)
}

func (q watched) Send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	for _, m := range msgs {
		q.sent(to, m)
	}
	return q.Queue.Send(ctx, to, msgs)
}
