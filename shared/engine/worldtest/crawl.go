package worldtest

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/slots"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

// A Crawl is what came of a crawl.
type Crawl struct {
	Job crawl.Job

	// Items are those of the feed as JSON, one a line, sorted.
	Items []string

	// Fetched counts how often each page was asked for, by its path with the
	// query; other hosts than [Host] by the whole URL. Nobody counts
	// robots.txt.
	Fetched map[string]int

	// Stats are the job's counters (Scrapy's keys), and Final what is kept of
	// it at its end.
	Stats map[string]int64
	Final engine.Stats

	// Letters are the job's dead letters.
	Letters []dead.Letter

	// Log has a line for each record from INFO up.
	Log string
}

// Paths are the pages that were fetched, sorted.
func (c Crawl) Paths() []string {
	paths := make([]string, 0, len(c.Fetched))
	for p := range c.Fetched {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// CrawlOptions say how [CrawlSite] and [CrawlProject] crawl. The zero value is
// a job without arguments and settings of its own.
type CrawlOptions struct {
	// Args are the spider's arguments, as of -a.
	Args map[string]string
	// Settings are the job's, as of -s.
	Settings map[string]string
	// StartURLs take the place of the spider's own; nil leaves those.
	StartURLs []string
	// MayFail says that the job need not finish.
	MayFail bool
	// Web changes what the handler of http and https is made of, such as its
	// Dial, which must stay inside the bubble of testing/synctest that t is of. The
	// site is not asked then, and nobody counts what is fetched. Nil asks the
	// site.
	Web func(t *testing.T, o *handlers.Options)
	// Apart is that of [Options].
	Apart bool
}

// CrawlSite is [CrawlProject] with the lists of a new project round a spider. A
// spider without a name is called world.
func CrawlSite(t *testing.T, s spider.Spider, site http.Handler, o CrawlOptions) Crawl {
	t.Helper()
	if s.Name == "" {
		s.Name = "world"
	}
	p := spiders.Project()
	p.Spiders, p.Definitions = []spider.Spider{s}, nil
	return CrawlProject(t, p, s.Name, site, o)
}

// CrawlProject runs a job of a project's spider as the programs do, in memory
// and in virtual time. Without a network, the site answers whatever address of
// http or https is asked for; the spider may start at [Host]. The test fails if
// the job does not finish.
func CrawlProject(t *testing.T, p project.Project, name string, site http.Handler, o CrawlOptions) Crawl {
	t.Helper()
	return CrawlJobs(t, p, []string{name}, site, o)[0]
}

// CrawlJobs is [CrawlProject] for a job of each spider named, one after the
// other in one process.
func CrawlJobs(t *testing.T, p project.Project, names []string, site http.Handler, o CrawlOptions) []Crawl {
	t.Helper()
	registry, err := p.Registry()
	if err != nil {
		t.Fatal(err)
	}
	var crawls []Crawl
	synctest.Test(t, func(t *testing.T) {
		var log lines
		web := &siteTransport{site: site}
		made := handlers.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
		if o.Web != nil {
			o.Web(t, &made)
		} else {
			made.RoundTripper = web
		}
		handler, err := handlers.HTTP(made)
		if err != nil {
			t.Fatal(err)
		}
		defer handler.Close()
		builder := newBuilder(p, registry, handler, made.Logger)
		var name string
		w := New(t, Options{
			Settings: o.Settings, Apart: o.Apart,
			Spec:   func(s *crawl.JobSpec) { s.Spider, s.Args, s.StartURLs = name, o.Args, o.StartURLs },
			Engine: func(c *engine.Config) { c.Build = builder.Build },
		})
		for n := range names {
			name, web.fetched = names[n], make(map[string]int)
			if w.Job, _, err = w.Create(t.Context(), w.Order("job"+strings.Repeat("-again", n))); err != nil {
				t.Fatal(err)
			}
			w.Output = nil
			got := w.crawled(o)
			got.Fetched, got.Log = web.fetched, log.String()
			crawls = append(crawls, got)
		}
	})
	return crawls
}

// crawled runs the world's job to its end and says what came of it.
func (w *World) crawled(o CrawlOptions) Crawl {
	w.t.Helper()
	got := Crawl{Job: w.Finish()}
	if got.Job.State != crawl.JobFinished && !o.MayFail {
		w.t.Errorf("the job is %s, reason %s", got.Job.State, got.Job.Reason)
	}
	for _, item := range w.Output {
		text, err := json.Marshal(item)
		if err != nil {
			w.t.Fatal(err)
		}
		got.Items = append(got.Items, string(text))
	}
	slices.Sort(got.Items)
	var err error
	if got.Stats, err = w.base.Jobs.Totals(w.t.Context(), got.Job.UID); err != nil {
		w.t.Fatal(err)
	}
	if got.Final, err = w.ReadStats(w.t.Context(), got.Job.UID); err != nil {
		w.t.Fatal(err)
	}
	if got.Letters, err = w.base.Dead.List(w.t.Context(), got.Job.UID, 0); err != nil {
		w.t.Fatal(err)
	}
	return got
}

// newBuilder makes what the programs make, over a web of its own.
func newBuilder(p project.Project, registry *spider.Registry, web *handlers.HTTPHandler, log *slog.Logger) *assembly.Builder {
	return assembly.NewBuilder(assembly.Parts{
		Project: p, Registry: registry, Web: web, Now: time.Now, Log: log, Blobs: memory.NewBlobs(),
		Robots: downloadermw.NewRobots(memory.NewOrigins(time.Now), time.Now),
		Slots: slots.New(memory.NewSlotRows(), slots.Config{
			Slack: time.Second, Now: time.Now, Sleep: assembly.Sleep, Draw: func() float64 { return 0.5 }, Wait: time.Minute,
		}),
	})
}

// A siteTransport asks a site without a network, and keeps count.
type siteTransport struct {
	site    http.Handler
	mu      sync.Mutex
	fetched map[string]int
}

func (s *siteTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path != "/robots.txt" {
		s.mu.Lock()
		s.fetched[strings.TrimPrefix(req.URL.String(), Host)]++
		s.mu.Unlock()
	}
	ask := req.Clone(req.Context())
	ask.RequestURI = ask.URL.RequestURI()
	if ask.Body == nil {
		ask.Body = http.NoBody
	}
	if ask.Host == "" {
		ask.Host = ask.URL.Host
	}
	recorder := httptest.NewRecorder()
	s.site.ServeHTTP(recorder, ask)
	answer := recorder.Result()
	answer.Request = req
	return answer, nil
}

// lines is a log that many write to.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
