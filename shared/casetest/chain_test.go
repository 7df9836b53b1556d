package casetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
)

// hopsOfLambda is how many invocations of one function Lambda lets a chain have
// where it breaks loops. Source: AWS Lambda Developer Guide, "Use Lambda
// recursive loop detection to prevent infinite loops", says about 16.
const hopsOfLambda = 16

// TestEMU07 crawls a chain of pages with real processes, whose SDK hands on the
// trace header as it does in Lambda. Where loops are broken, as at a function
// without RecursiveLoop Allow, the chain ends before the invocation that is one
// too many; where they are allowed, all of it is crawled.
func TestEMU07(t *testing.T) {
	var in struct{ Chain int }
	var want struct {
		Terminate string `json:"terminate_mode"` // "fails at hop N"
		Allow     string `json:"allow_mode"`     // "N pages"
	}
	caseOf(t, "EMU-07", &in, &want)
	t.Run("terminate", func(t *testing.T) {
		pages, job, stopped := crawlChain(t, in.Chain, hopsOfLambda)
		if got := fmt.Sprintf("fails at hop %d", pages+1); stopped == 0 || got != want.Terminate {
			t.Errorf("%d pages and %d messages stopped: %s, want %s", pages, stopped, got, want.Terminate)
		}
		if job.State.Ended() {
			t.Errorf("the job is %s although its chain was broken", job.State)
		}
	})
	t.Run("allow", func(t *testing.T) {
		pages, job, stopped := crawlChain(t, in.Chain, 0)
		if got := fmt.Sprintf("%d pages", pages); got != want.Allow || stopped != 0 || job.State != crawl.JobFinished {
			t.Errorf("%s, %d messages stopped, the job %s; want %s and finished", got, stopped, job.State, want.Allow)
		}
	})
}

// crawlChain crawls pages of which each links to the next, until the job has
// ended or a message was stopped. It returns how many pages were fetched.
func crawlChain(t *testing.T, length, hops int) (pages int, job crawl.Job, stopped int64) {
	var mu sync.Mutex
	fetched := map[string]bool{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		fetched[r.URL.Path] = true
		n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if n < length {
			fmt.Fprintf(w, "item %d\nlink http://%s/%d", n, r.Host, n+1)
		}
	}))
	defer site.Close()
	b := newBinaries(t, 10)
	count := func() (n int64) {
		for _, m := range b.mappings {
			n += m.Stats().Stopped
		}
		return n
	}
	job = b.crawl(t, site.URL+"/1", hops, func() bool { return count() > 0 })
	mu.Lock()
	defer mu.Unlock()
	return len(fetched), job, count()
}
