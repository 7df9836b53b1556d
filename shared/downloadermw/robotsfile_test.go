package downloadermw_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/origins"
)

func TestAFileIsFetchedAgainWhenItsDayIsOver(t *testing.T) {
	w := newWorld(t, nil, answer(200, nil, noPrivate))
	for _, step := range []struct {
		after time.Duration
		files int
	}{{0, 1}, {23 * time.Hour, 1}, {24*time.Hour - time.Second, 1}, {24 * time.Hour, 2}} {
		w.clock = noon.Add(step.after)
		if got := w.fetch("http://example.com/p"); got != "drop robots" || w.files() != step.files {
			t.Errorf("after %s: %s, %d files, want %d", step.after, got, w.files(), step.files)
		}
	}
}

func TestAFileOfAnotherProcessIsNotFetched(t *testing.T) {
	w := newWorld(t, nil, answer(500, nil, ""))
	w.store.rows["http://example.com"] = origins.Row{Status: 200, Body: []byte(noPrivate), Expires: noon.Add(time.Minute)}
	if got := w.fetch("http://example.com/p"); got != "drop robots" || w.files() != 0 {
		t.Errorf("%s, %d files", got, w.files())
	}
	// It stays in memory.
	w.fetch("http://example.com/p")
	if got := strings.Join(w.store.calls, " "); got != "get" {
		t.Errorf("the store was asked for %s", got)
	}
}

func TestAFileThatIsBeingFetchedElsewhereIsWaitedFor(t *testing.T) {
	w := newWorld(t, nil, answer(500, nil, ""))
	w.store.leases["http://example.com"] = noon.Add(time.Minute)
	for range 2 {
		_, err := w.h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"})
		var later *crawl.Later
		if !errors.As(err, &later) || later.Why != "robots" || later.Queued || later.At.Before(noon.Add(5*time.Second)) || later.At.After(noon.Add(10*time.Second)) {
			t.Errorf("error %+v", err)
		}
	}
	if got := strings.Join(w.store.calls, " "); got != "get lease" {
		t.Errorf("the store was asked for %s", got)
	}
	w.clock = noon.Add(5 * time.Second)
	w.store.rows["http://example.com"] = origins.Row{Status: 404, Expires: noon.Add(time.Hour)}
	if got := w.fetch("http://example.com/"); got != "response page" {
		t.Errorf("when it is there: %s", got)
	}
}

func TestTheLeaseLastsAsLongAsItsHolderMay(t *testing.T) {
	for name, deadline := range map[string]time.Duration{"a process": time.Hour, "an invocation": 20 * time.Second} {
		w := newWorld(t, map[string]any{"DOWNLOAD_TIMEOUT": 30}, unscripted())
		var until time.Time
		w.web = func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
			until = w.store.leases["http://example.com"]
			return answer(404, nil, "").Fetch(ctx, req)
		}
		w.clock = time.Now() // contexts have no other
		ctx, cancel := context.WithDeadline(t.Context(), w.clock.Add(deadline))
		defer cancel()
		if _, err := w.h.Fetch(ctx, &crawl.Request{URL: "http://example.com/"}); err != nil {
			t.Fatal(err)
		}
		if got, want := until.Sub(w.clock), min(deadline, time.Minute); got != want {
			t.Errorf("%s: the lease is for %s, want %s", name, got, want)
		}
	}
}

func TestTheCrawlDelayIsReadFromTheStoreToo(t *testing.T) {
	w := newWorld(t, nil, unscripted())
	w.store.rows["http://example.com"] = origins.Row{Status: 200, Body: []byte(noPrivate), Expires: noon}
	for _, want := range []struct {
		origin, agent string
		delay         time.Duration
	}{
		{"http://example.com", "skitter", 3 * time.Second}, {"http://example.com", "other/1.0", 0}, {"http://b.example", "skitter", 0},
	} {
		if got, err := w.mw.CrawlDelay(t.Context(), want.origin, want.agent); got != want.delay || err != nil {
			t.Errorf("%s for %s: %s, %v", want.origin, want.agent, got, err)
		}
	}
	if got := strings.Join(w.store.calls, " "); got != "get get" || w.files() != 0 {
		t.Errorf("the store was asked for %s, %d files fetched", got, w.files())
	}
}

func TestAFileThatCameWhileTheLeaseWasTakenIsNotFetched(t *testing.T) {
	w := newWorld(t, nil, answer(500, nil, ""))
	w.store.leased = func() {
		w.store.rows["http://example.com"] = origins.Row{Status: 200, Body: []byte(noPrivate), Expires: noon.Add(time.Hour)}
	}
	if got := w.fetch("http://example.com/p"); got != "drop robots" || w.files() != 0 || len(w.store.leases) != 0 {
		t.Errorf("%s, %d files, leases %v", got, w.files(), w.store.leases)
	}
}

func TestWithoutATurnTheLeaseIsGivenBack(t *testing.T) {
	turn := noon.Add(30 * time.Second)
	w := newWorld(t, nil, fail(&crawl.Later{At: turn, Queued: true, Why: "slot"}))
	old := origins.Row{Status: 200, Body: []byte(noPrivate), Expires: noon}
	w.store.rows["http://example.com"] = old

	_, err := w.h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"})
	var later *crawl.Later
	if !errors.As(err, &later) || !later.Queued || !later.At.Equal(turn) || later.Why != "slot" {
		t.Errorf("the verdict did not pass untouched: %+v", err)
	}
	if len(w.store.leases) != 0 || !reflect.DeepEqual(w.store.rows["http://example.com"], old) {
		t.Errorf("leases %v, row %+v", w.store.leases, w.store.rows["http://example.com"])
	}
	// The next one does not ask for a turn of its own before that one's.
	if got := w.fetch("http://example.com/2"); got != "later robots" || w.files() != 1 {
		t.Errorf("the next one: %s, %d files", got, w.files())
	}
	w.clock = turn
	w.web = answer(404, nil, "").Fetch
	if got := w.fetch("http://example.com/"); got != "response page" {
		t.Errorf("when the turn has come: %s", got)
	}
}

func TestWhatCannotBeHadForbidsForAWhile(t *testing.T) {
	w := newWorld(t, map[string]any{"ROBOTSTXT_WAIT": "10m"}, answer(503, nil, ""))
	for _, step := range []struct {
		after time.Duration
		want  string
		until time.Duration
		files int
	}{
		{0, "later robots", 5 * time.Minute, 1},
		{4 * time.Minute, "later robots", 5 * time.Minute, 1},
		{5 * time.Minute, "later robots", 10 * time.Minute, 2},
		{10*time.Minute - 1, "later robots", 10 * time.Minute, 2},
		{10 * time.Minute, "drop robots", 0, 3},
		{14 * time.Minute, "drop robots", 0, 3},
		{15 * time.Minute, "drop robots", 0, 4},
	} {
		w.clock = noon.Add(step.after)
		resp, err := w.h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"})
		var later *crawl.Later
		if errors.As(err, &later) && !later.At.Equal(noon.Add(step.until)) {
			t.Errorf("after %s: until %s, want %s", step.after, later.At.Sub(noon), step.until)
		}
		if got := outcome(resp, err); got != step.want || w.files() != step.files {
			t.Errorf("after %s: %s, %d files; want %s, %d files", step.after, got, w.files(), step.want, step.files)
		}
	}
	if n := w.stats.Take()["robotstxt/unreachable"]; n != 3 {
		t.Errorf("robotstxt/unreachable %d, want 3", n)
	}
	w.clock, w.web = noon.Add(20*time.Minute), answer(200, nil, "").Fetch
	if got := w.fetch("http://example.com/"); got != "response page" {
		t.Errorf("when it is back: %s", got)
	}
	if row := w.store.rows["http://example.com"]; !row.Since.IsZero() {
		t.Errorf("still unreachable since %s", row.Since)
	}
}

func TestAJobThatWaitsLessDropsEarlier(t *testing.T) {
	w := newWorld(t, map[string]any{"ROBOTSTXT_WAIT": "10m"}, answer(503, nil, ""))
	hasty := w.job(map[string]any{"ROBOTSTXT_WAIT": "1m"})
	allows := w.job(map[string]any{"ROBOTSTXT_ON_ERROR": "allow"})
	req := &crawl.Request{URL: "http://example.com/"}
	w.fetch(req.URL)
	_, err := hasty.Fetch(t.Context(), req)
	var later *crawl.Later
	if !errors.As(err, &later) || !later.At.Equal(noon.Add(time.Minute)) {
		t.Errorf("the hasty job: %+v", err)
	}
	w.clock = noon.Add(time.Minute)
	if got := outcome(hasty.Fetch(t.Context(), req)); got != "drop robots" {
		t.Errorf("the hasty job, later: %s", got)
	}
	if got := outcome(allows.Fetch(t.Context(), req)); got != "response page" {
		t.Errorf("the job that allows: %s", got)
	}
	if w.files() != 1 {
		t.Errorf("%d files", w.files())
	}
}

func TestKnownRulesHoldOnWhileTheFileCannotBeHad(t *testing.T) {
	w := newWorld(t, nil, answer(200, nil, noPrivate))
	w.fetch("http://example.com/")
	w.clock, w.web = noon.Add(25*time.Hour), answer(503, nil, "").Fetch
	for url, want := range map[string]string{"http://example.com/": "response page", "http://example.com/p": "drop robots"} {
		if got := w.fetch(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	w.clock = w.clock.Add(time.Minute) // it is asked for again soon
	w.web = answer(404, nil, "").Fetch
	if got := w.fetch("http://example.com/p"); got != "response page" || w.files() != 3 {
		t.Errorf("when it is gone: %s, %d files", got, w.files())
	}
}

func TestFailuresOfRobotsTxt(t *testing.T) {
	own := []string{"bad-request", "dns", "connect", "proxy", "tls", "certificate", "forbidden-address"}
	for _, reason := range append(own, "timeout", "reset", "dataloss", "bad-response", "bad-encoding", "too-large") {
		w := newWorld(t, nil, fail(&crawl.Failure{Reason: reason, Message: "what happened"}))
		req := &crawl.Request{URL: "http://example.com/"}
		resp, err := w.h.Fetch(t.Context(), req)
		want := "later robots"
		if strings.Contains(" "+strings.Join(own, " ")+" ", " "+reason+" ") {
			want = "failure " + reason
		}
		if got := outcome(resp, err); got != want {
			t.Errorf("%s: %s, want %s", reason, got, want)
		}
		var failure *crawl.Failure
		if errors.As(err, &failure) && (failure.Request != req || failure.Message != "fetching robots.txt: what happened") {
			t.Errorf("failure %+v", failure)
		}
		if len(w.store.leases) != 0 || w.stats.Take()["robotstxt/exception_count/"+reason] != 1 {
			t.Errorf("%s: leases %v", reason, w.store.leases)
		}
	}
}

func TestAHostWithoutAddressIsRetriedAsAPageIs(t *testing.T) {
	w := newWorld(t, nil, fail(&crawl.Failure{Reason: "dns"}))
	h := downloadermw.Retry(with(t, nil), &w.stats, noLog(), atNoon)(w.h)
	if got := outcome(h.Fetch(t.Context(), &crawl.Request{URL: "http://nowhere.example/"})); got != "retry dns" {
		t.Error(got)
	}
}

func TestStoreFaultsCostNoAttempt(t *testing.T) {
	w := newWorld(t, nil, answer(200, nil, ""))
	w.store.broken = errors.New("throttled")
	_, err := w.h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"})
	var later *crawl.Later
	if !errors.As(err, &later) || later.Why != "store" || !later.At.Equal(noon.Add(5*time.Second)) {
		t.Errorf("error %+v", err)
	}
	if _, err := w.mw.CrawlDelay(t.Context(), "http://b.example", "x"); err == nil {
		t.Error("CrawlDelay hides that the store is down")
	}
}

func TestALongFileIsKeptUpToTheBound(t *testing.T) {
	w := newWorld(t, nil, answer(200, nil, strings.Repeat("# comment\n", 100_000)))
	w.fetch("http://example.com/")
	if n := len(w.store.rows["http://example.com"].Body); n != 500<<10 {
		t.Errorf("%d bytes are kept", n)
	}
}

func TestRedirectsOfOtherMiddlewaresAreFollowed(t *testing.T) {
	w := newWorld(t, nil, unscripted())
	w.web = func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
		if strings.HasPrefix(req.URL, "https:") {
			return answer(200, nil, noPrivate).Fetch(ctx, req)
		}
		return nil, &crawl.Instead{Request: &crawl.Request{URL: "https://www.example.com/robots.txt"}, Reason: "meta refresh"}
	}
	page := &crawl.Request{URL: "http://example.com/p", Options: crawl.Options{DownloadSlot: "slow"}}
	if got := outcome(w.h.Fetch(t.Context(), page)); got != "drop robots" || w.files() != 2 {
		t.Errorf("%s, %d files", got, w.files())
	}
	if w.asked[1].DownloadSlot != "" || !w.asked[1].DontObeyRobotsTxt {
		t.Errorf("asked %+v", w.asked[1])
	}
}
