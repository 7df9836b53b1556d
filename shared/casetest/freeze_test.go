package casetest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/topology"
)

// TestSQS11 crawls with real processes that are frozen when they answer, at a
// bucket whose every upload takes a while: pages, items and the feed are
// uploaded by goroutines of the functions. When an invocation returns, none of
// its calls is under way, and what it has acknowledged is stored.
func TestSQS11(t *testing.T) {
	var in struct {
		Upload int `json:"upload_ms"`
	}
	var want struct {
		Done bool `json:"uploads_done_before_return"`
	}
	caseOf(t, "SQS-11", &in, &want)
	if !want.Done {
		t.Fatal("the case wants uploads that are lost")
	}
	const pages = 3
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := "item " + incompressible(100_000)
		if r.URL.Path == "/" {
			for _, path := range []string{"/1", "/2"} {
				text += "\nlink http://" + r.Host + path
			}
		}
		_, _ = w.Write([]byte(text)) // a client that went away wants no answer
	}))
	t.Cleanup(site.Close)

	b := newBinaries(t, 4)
	calls := &underWay{upload: time.Duration(in.Upload) * time.Millisecond, calls: map[string]int{}}
	b.backend.SetHook(calls.note)
	items, feeds := 0, 0
	b.returned = func(function string, event, _ []byte, err error) {
		if err != nil {
			t.Errorf("%s: %v", function, err)
		}
		if n := calls.of(function); n > 0 {
			t.Errorf("%s has returned with %d calls under way", function, n)
		}
		stored := b.backend.Objects(b.BucketName())
		if function == topology.Pipeline {
			items += len(bodies(t, event))
			if n := under(stored, "items/"); n < items {
				t.Errorf("%d items are acknowledged, %d stored", items, n)
			}
		}
		if job, err := b.store.Jobs().Find(t.Context(), "cases", "job"); err == nil && job.State.Ended() {
			feeds = under(stored, "feeds/")
			if feeds == 0 {
				t.Error("the job has ended without its feed")
			}
		}
	}
	job := b.crawl(t, site.URL+"/", 0, func() bool { return false })
	if job.State != crawl.JobFinished || job.Problem != "" || items < pages {
		t.Errorf("the job is %s %s with %d items, want finished with %d", job.State, job.Problem, items, pages)
	}
	if calls.uploads < pages+1 {
		t.Errorf("%d uploads, want pages, items and a feed", calls.uploads)
	}
}

func under(keys []string, folder string) (n int) {
	for _, key := range keys {
		if strings.HasPrefix(key, folder) {
			n++
		}
	}
	return n
}

// underWay counts the calls of each function that are under way, and makes
// uploads slow.
type underWay struct {
	upload  time.Duration
	mu      sync.Mutex
	calls   map[string]int
	uploads int
}

func (u *underWay) note(c *awstest.Call) awstest.Fault {
	who := caller(c)
	u.mu.Lock()
	u.calls[who]++
	slow := strings.HasPrefix(c.Op, "s3.Put") || strings.HasPrefix(c.Op, "s3.Upload")
	if slow {
		u.uploads++
	}
	u.mu.Unlock()
	if slow {
		time.Sleep(u.upload) // the function's processes live by the real clock
	}
	return awstest.Fault{After: func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.calls[who]--
	}}
}

func (u *underWay) of(function string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.calls[function]
}

// overHTTP is the configuration of clients that reach a stack as its processes
// do.
func overHTTP(b *binaries) awssdk.Config {
	cfg := b.backend.Config()
	cfg.HTTPClient, cfg.BaseEndpoint = http.DefaultClient, &b.url
	return cfg
}
