package casetest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/origins"
	"github.com/skitterhq/skitter/shared/robots"
	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/slots"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

// perfConn ends many requests early, each in one way, and looks for what stays
// open. A goroutine that stays, too, fails the bubble of the crawl.
func perfConn(t *testing.T, c reported) {
	var in struct {
		Paths []string
		N     int
	}
	var want struct{ Leak int }
	decode(t, c, &in, &want)
	if testing.Short() {
		in.N /= 5
	}
	for _, path := range in.Paths {
		t.Run(path, func(t *testing.T) {
			n := &network{raw: func(_ int, req *http.Request, conn net.Conn) bool {
				var err error
				switch {
				case strings.HasSuffix(req.URL.Path, "/end"):
					_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine")
				case path == "redirect":
					_, err = fmt.Fprintf(conn, "HTTP/1.1 302 Found\r\nLocation: %s/end\r\nContent-Length: 5\r\n\r\nmoved", req.URL.Path)
				case path == "maxsize":
					_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n"+strings.Repeat("x", 100))
				case path == "httperror":
					_, err = io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno")
				case path == "timeout":
					_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx")
				case path == "decode_error":
					_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 13\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff")
				default:
					t.Errorf("no request ends early by %s", path)
				}
				return err == nil
			}}
			s := scene{network: n, perHost: 8, settings: map[string]string{
				"DOWNLOAD_MAXSIZE": "1000000", "DOWNLOAD_TIMEOUT": "2", "RETRY_ENABLED": "false", "DOWNLOAD_DELAY": "0", "CONCURRENT_REQUESTS_PER_DOMAIN": "100",
			}}
			for k := range in.N {
				s.requests = append(s.requests, &crawl.Request{URL: fmt.Sprintf("http://example.com/%d", k)})
			}
			got := s.crawl(t)
			outcomes := map[string]int{}
			for _, heard := range got.told {
				outcomes[heard.outcome()]++
			}
			ends := map[string]string{"redirect": "fine", "maxsize": "too-large", "httperror": "httperror", "timeout": "timeout", "decode_error": "bad-encoding"}
			if outcomes[ends[path]] != in.N || len(outcomes) != 1 {
				t.Errorf("the requests ended as %v, want all as %s", outcomes, ends[path])
			}
			if n.leaked != want.Leak {
				t.Errorf("%d ends of connections are open, want %d", n.leaked, want.Leak)
			}
			t.Logf("%d connections", len(n.dials))
		})
	}
}

// perfCPU matches a hostile pattern of robots.txt, and reads a hostile XML. The
// times are the best of a few, so that what else runs here counts for little.
func perfCPU(t *testing.T, c reported) {
	var in struct {
		Pattern string `json:"robots_pattern"`
		Path    string
		XML     struct{ Repeat []any } `json:"xml_gen"`
	}
	var want struct {
		Millis float64 `json:"max_ms"`
	}
	decode(t, c, &in, &want)
	rules := robots.Parse([]byte("User-agent: *\nDisallow: " + in.Pattern + "\n"))
	if took := best(func() {
		if !rules.Allowed("mybot", "http://example.com"+in.Path) {
			t.Error("the path does not end as the pattern does, and is not allowed")
		}
	}); took > time.Duration(want.Millis*float64(time.Millisecond)) {
		t.Errorf("matching takes %s, want %v ms at most", took, want.Millis)
	}
	xml := []byte(strings.Repeat(in.XML.Repeat[0].(string), int(in.XML.Repeat[1].(float64))))
	const limit = time.Second // as the case says of the XML
	if took := best(func() {
		for range extract.NewDocument(xml, "text/xml", page).XMLNodes("item", nil) {
			t.Error("there is no item")
		}
	}); took > limit {
		t.Errorf("reading %d bytes of XML takes %s, want %s at most", len(xml), took, limit)
	}
}

// best is the shortest time that f takes.
func best(f func()) time.Duration {
	shortest := time.Duration(math.MaxInt64)
	for range 3 {
		begin := time.Now()
		f()
		shortest = min(shortest, time.Since(begin))
	}
	return shortest
}

// perfMem fetches a page of very many hosts through the chain of one job, and
// looks at the heap. What is kept in databases is not kept here.
func perfMem(t *testing.T, c reported) {
	var in struct{ Hosts int }
	var want struct {
		MiB uint64 `json:"max_mib"`
	}
	decode(t, c, &in, &want)
	if testing.Short() {
		in.Hosts /= 50
	}
	p := spiders.Project()
	p.Definitions = nil
	p.Spiders = []spider.Spider{{Name: "cases", Parse: func(context.Context, *spider.Page, *spider.Output) error { return nil }}}
	registry, err := p.Registry()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		n := &network{site: scripted{Headers: map[string]string{"Set-Cookie": "sid=1"}, Body: "page"}, robots: scripted{Body: "User-agent: *\nDisallow: /private\n"}, forgets: true}
		made := handlers.Options{Logger: slog.New(slog.DiscardHandler)}
		n.connect(t, &made)
		web, err := handlers.HTTP(made)
		if err != nil {
			t.Fatal(err)
		}
		defer web.Close()
		builder := assembly.NewBuilder(assembly.Parts{
			Project: p, Registry: registry, Web: web, Now: time.Now, Log: made.Logger,
			Robots: downloadermw.NewRobots(forgetful{}, time.Now),
			Slots: slots.New(forgetfulRows{}, slots.Config{
				Slack: time.Second, Now: time.Now, Sleep: assembly.Sleep, Draw: func() float64 { return 0.5 }, Wait: time.Minute,
			}),
		})
		rt, err := builder.Build(crawl.Job{UID: jobA, Spider: "cases"}, crawl.JobSpec{Spider: "cases"})
		if err != nil {
			t.Fatal(err)
		}
		before := heapNow()
		fetchHosts(t, rt.Download, in.Hosts/2)
		half := heapNow()
		fetchHosts(t, rt.Download, in.Hosts)
		whole := heapNow()
		runtime.KeepAlive(rt)
		t.Logf("the heap grew by %d KiB for %d hosts, and by %d KiB for %d", (half-before)>>10, in.Hosts/2, (whole-before)>>10, in.Hosts)
		if grown := (whole - before) >> 20; int64(whole) > int64(before) && grown > want.MiB {
			t.Errorf("the heap grew by %d MiB, want %d at most", grown, want.MiB)
		}
		const still = 8 << 20 // what the lids do not hold, and chance
		if more := int64(whole) - int64(half); more > still {
			t.Errorf("the heap grew by %d KiB with the second half of the hosts: something has no lid", more>>10)
		}
	})
}

// heapNow is what the heap holds that is in use.
func heapNow() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools are emptied by the second
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// fetchHosts fetches a page of each of so many hosts that were not asked before.
func fetchHosts(t *testing.T, h downloader.Handler, hosts int) {
	t.Helper()
	numbers := make(chan int)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for k := range numbers {
				resp, err := h.Fetch(t.Context(), &crawl.Request{URL: fmt.Sprintf("http://host-%d-of-%d.example/", k, hosts)})
				if err != nil || string(resp.Body) != "page" {
					t.Errorf("host %d: %+v, %v", k, resp, err)
				}
			}
		})
	}
	for k := range hosts {
		numbers <- k
	}
	close(numbers)
	all.Wait()
}

// A forgetful store keeps nothing, as if it were elsewhere.
type forgetful struct{}

func (forgetful) Get(context.Context, string) (origins.Row, bool, error) {
	return origins.Row{}, false, nil
}
func (forgetful) Lease(context.Context, string, time.Time) (bool, error) { return true, nil }
func (forgetful) Put(context.Context, string, origins.Row) error         { return nil }

type forgetfulRows struct{}

func (forgetfulRows) Get(context.Context, string) (slotrows.Row, error) { return slotrows.Row{}, nil }
func (forgetfulRows) Swap(context.Context, string, slotrows.Row) (bool, error) {
	return true, nil
}

// TestPERF05 starts with very many seeds in invocations of a few seconds, two
// of which are killed. Each call that keeps rows takes a while.
func TestPERF05(t *testing.T) {
	var in struct {
		Seeds int
		Limit float64 `json:"leg_limit_s"`
		Kills int
	}
	var want struct{ Fetched, Duplicates int }
	caseOf(t, "PERF-05", &in, &want)
	if testing.Short() {
		in.Seeds, want.Fetched = in.Seeds/20, want.Fetched/20
	}
	every := max(in.Seeds/12_500, 1) // calls between two kills
	synctest.Test(t, func(t *testing.T) {
		faults := &worldtest.Faults{At: func(name string, nth int) worldtest.Fault {
			if name == "rows.Put" && nth > 0 && nth%every == 0 && nth/every <= in.Kills {
				return worldtest.CrashAfter
			}
			return worldtest.NoFault
		}}
		var mu sync.Mutex
		fetched := map[string]int{}
		w := worldtest.New(t, worldtest.Options{
			Timeout: time.Duration(in.Limit * float64(time.Second)), NoCensus: true,
			Fetch: func(_ context.Context, req *crawl.Request, _ downloader.Handler) (*crawl.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				fetched[req.URL]++
				return &crawl.Response{URL: req.URL, Status: 200, Request: req}, nil
			},
			Spider: func(s *spider.Spider) {
				s.Parse = func(context.Context, *spider.Page, *spider.Output) error { return nil }
				s.Start = func(context.Context, spider.Start) spider.Results {
					return func(yield func(crawl.Result, error) bool) {
						for k := range in.Seeds {
							if !yield(crawl.Result{Request: &crawl.Request{URL: fmt.Sprintf("%s/%d", worldtest.Host, k)}}, nil) {
								return
							}
						}
					}
				}
			},
			Wrap: func(p worldtest.Ports) worldtest.Ports {
				p.Rows = slowRows{p.Rows}
				return faults.Around(p)
			},
		})
		job := w.Run()
		duplicates := 0
		for _, times := range fetched {
			duplicates += times - 1
		}
		if job.Reason != crawl.ReasonFinished || len(fetched) != want.Fetched || duplicates != want.Duplicates {
			t.Errorf("the job ended %s, %d seeds fetched, %d of them twice; want %d and %d", job.Reason, len(fetched), duplicates, want.Fetched, want.Duplicates)
		}
		if kills := len(faults.Log()); kills != in.Kills {
			t.Errorf("%d invocations were killed, want %d", kills, in.Kills)
		}
	})
}

// slowRows takes a while to keep rows.
type slowRows struct{ frontier.Store }

func (s slowRows) Put(ctx context.Context, job crawl.JobUID, rows []frontier.Row) ([]*frontier.Row, error) {
	time.Sleep(50 * time.Millisecond)
	return s.Store.Put(ctx, job, rows)
}
