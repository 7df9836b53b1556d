package downloadermw_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/stats"
)

func TestWhatIsRetried(t *testing.T) {
	none, five := 0, 5
	tests := []struct {
		name  string
		next  downloader.Handler
		req   crawl.Request
		want  string
		stats map[string]int64
	}{
		{name: "a page that is there", next: answer(200, nil, "ok"), want: "response ok"},
		{name: "a page that is not there", next: answer(404, nil, "no"), want: "response no"},
		{name: "a server that is busy", next: answer(503, nil, "busy"), want: "retry 503 Service Unavailable",
			stats: map[string]int64{"retry/count": 1, "retry/reason_count/503 Service Unavailable": 1}},
		{name: "a status without a name", next: answer(522, nil, ""), want: "retry 522 Unknown Status",
			stats: map[string]int64{"retry/count": 1, "retry/reason_count/522 Unknown Status": 1}},
		{name: "a time-out", next: fail(&crawl.Failure{Reason: "timeout"}), want: "retry timeout",
			stats: map[string]int64{"retry/count": 1, "retry/reason_count/timeout": 1}},
		{name: "a failure in wrappings", next: fail(fmt.Errorf("up: %w", &crawl.Failure{Reason: "dns"})), want: "retry dns",
			stats: map[string]int64{"retry/count": 1, "retry/reason_count/dns": 1}},
		{name: "the last attempt's response is passed on", next: answer(503, nil, "busy"),
			req: crawl.Request{Progress: crawl.Progress{RetryTimes: 2}}, want: "response busy", stats: map[string]int64{"retry/max_reached": 1}},
		{name: "the last attempt's failure is passed on", next: fail(&crawl.Failure{Reason: "timeout"}),
			req: crawl.Request{Progress: crawl.Progress{RetryTimes: 2}}, want: "failure timeout", stats: map[string]int64{"retry/max_reached": 1}},
		{name: "a request that wants more attempts", next: answer(503, nil, ""),
			req: crawl.Request{Options: crawl.Options{MaxRetryTimes: &five}, Progress: crawl.Progress{RetryTimes: 4}}, want: "retry 503 Service Unavailable",
			stats: map[string]int64{"retry/count": 1, "retry/reason_count/503 Service Unavailable": 1}},
		{name: "a request that wants one attempt", next: answer(503, nil, "busy"),
			req: crawl.Request{Options: crawl.Options{MaxRetryTimes: &none}}, want: "response busy", stats: map[string]int64{"retry/max_reached": 1}},
		{name: "dont_retry", next: answer(503, nil, "busy"), req: crawl.Request{Options: crawl.Options{DontRetry: true}}, want: "response busy"},
		{name: "no turn", next: fail(&crawl.Later{Why: "slot"}), want: "later slot"},
		{name: "a drop", next: fail(&crawl.Drop{Reason: "robots"}), want: "drop robots"},
		{name: "a redirect", next: fail(&crawl.Instead{Request: &crawl.Request{URL: "http://b/"}}), want: "instead http://b/"},
		{name: "the end of the invocation", next: fail(context.DeadlineExceeded), want: "error context deadline exceeded"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var st stats.Collector
			test.req.URL = "http://example.com/"
			h := downloadermw.Retry(with(t, nil), &st, noLog(), atNoon)(test.next)
			if got := outcome(h.Fetch(t.Context(), &test.req)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if got := st.Take(); !reflect.DeepEqual(got, test.stats) {
				t.Errorf("counted %v, want %v", got, test.stats)
			}
		})
	}
}

func TestFailuresThatWillNotPassAreNotRetried(t *testing.T) {
	lasting := []string{"bad-request", "bad-url", "certificate", "credentials", "forbidden-address",
		"forbidden-scheme", "no-file", "too-large", "unknown-handler", "unsupported-scheme"}
	for _, reason := range append(handlers.Reasons(), downloadermw.ReasonBadEncoding) {
		h := downloadermw.Retry(with(t, nil), new(stats.Collector), noLog(), atNoon)(fail(&crawl.Failure{Reason: reason}))
		want := "retry " + reason
		if slices.Contains(lasting, reason) {
			want = "failure " + reason
		}
		if got := outcome(h.Fetch(t.Context(), &crawl.Request{})); got != want {
			t.Errorf("%s: %s, want %s", reason, got, want)
		}
	}
}

func TestTheWaitBeforeARetry(t *testing.T) {
	tests := []struct {
		name     string
		settings map[string]any
		after    string // Retry-After
		retries  int
		min, max time.Duration
	}{
		{name: "the first", min: 900 * time.Millisecond, max: 1100 * time.Millisecond},
		{name: "the second is twice as long", retries: 1, min: 1800 * time.Millisecond, max: 2200 * time.Millisecond},
		{name: "the fourth", retries: 3, min: 7200 * time.Millisecond, max: 8800 * time.Millisecond},
		{name: "the longest", retries: 99, min: 810 * time.Second, max: 900 * time.Second},
		{name: "none", settings: map[string]any{"RETRY_DELAY": 0}},
		{name: "as the server asks", after: "120", min: 120 * time.Second, max: 120 * time.Second},
		{name: "longer than the server asks", after: "1", retries: 3, min: 7200 * time.Millisecond, max: 8800 * time.Millisecond},
		{name: "not as long as the server asks", after: "86400", min: 900 * time.Second, max: 900 * time.Second},
		{name: "not nearly as long", after: "99999999999999999999", min: 900 * time.Second, max: 900 * time.Second},
		{name: "no longer than the setting", settings: map[string]any{"RETRY_MAX_DELAY": 30}, after: "120", min: 30 * time.Second, max: 30 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			headers := http.Header{"Retry-After": {test.after}}
			h := downloadermw.Retry(with(t, test.settings), new(stats.Collector), noLog(), atNoon)(answer(503, headers, ""))
			most := 100
			lengths := map[time.Duration]bool{}
			for range 100 {
				_, err := h.Fetch(t.Context(), &crawl.Request{Options: crawl.Options{MaxRetryTimes: &most}, Progress: crawl.Progress{RetryTimes: test.retries}})
				var retry *crawl.Retry
				if !errors.As(err, &retry) || retry.After < test.min || retry.After > test.max {
					t.Fatalf("%v, want %s to %s", err, test.min, test.max)
				}
				if retry.Priority != -1 {
					t.Errorf("priority %d, want -1", retry.Priority)
				}
				lengths[retry.After] = true
			}
			if (len(lengths) > 1) != (test.min < test.max) {
				t.Errorf("%d lengths between %s and %s", len(lengths), test.min, test.max)
			}
		})
	}
}

func TestRetryAfterCases(t *testing.T) {
	eachCase(t, "retry_after", func(t *testing.T, input, expect json.RawMessage) {
		var in struct {
			Now    time.Time
			Values []string
		}
		var want struct {
			MinDelay []*float64 `json:"min_delay_s"`
		}
		read(t, input, &in)
		read(t, expect, &want)
		for n, value := range in.Values {
			for _, status := range []int{429, 503} {
				h := downloadermw.Retry(with(t, nil), new(stats.Collector), noLog(), func() time.Time { return in.Now })(
					answer(status, http.Header{"Retry-After": {value}}, ""))
				_, err := h.Fetch(t.Context(), &crawl.Request{})
				var retry *crawl.Retry
				if !errors.As(err, &retry) {
					t.Fatalf("%q: %v", value, err)
				}
				least, most := 0.9, 1.1 // the normal wait
				if d := want.MinDelay[n]; d != nil {
					least, most = *d, *d
				}
				if s := retry.After.Seconds(); s < least || s > most {
					t.Errorf("%q: after %g s, want %g to %g", value, s, least, most)
				}
			}
		}
	})
}

func TestWhichFailuresAreRetriedIsASetting(t *testing.T) {
	h := downloadermw.Retry(with(t, map[string]any{"RETRY_EXCEPTIONS": "certificate, own-reason"}), new(stats.Collector), noLog(), atNoon)
	for reason, want := range map[string]string{"certificate": "retry certificate", "own-reason": "retry own-reason", "timeout": "failure timeout"} {
		if got := outcome(h(fail(&crawl.Failure{Reason: reason})).Fetch(t.Context(), &crawl.Request{})); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestTheRequestsPriorityAdjustWins(t *testing.T) {
	none, up := 0, 7
	for _, test := range []struct {
		own  *int
		want int
	}{{nil, -3}, {&none, 0}, {&up, 7}} {
		h := downloadermw.Retry(with(t, map[string]any{"RETRY_PRIORITY_ADJUST": -3}), new(stats.Collector), noLog(), atNoon)(answer(503, nil, ""))
		_, err := h.Fetch(t.Context(), &crawl.Request{Options: crawl.Options{PriorityAdjust: test.own}})
		var retry *crawl.Retry
		if !errors.As(err, &retry) || retry.Priority != test.want {
			t.Errorf("%+v, want the priority %d", err, test.want)
		}
	}
}

func TestTheLevelOfGivingUp(t *testing.T) {
	for _, test := range []struct{ setting, own, want string }{
		{"ERROR", "", "level=ERROR"}, {"INFO", "", "level=INFO"}, {"INFO", "warning", "level=WARN"}, {"INFO", "LOUD", ""},
	} {
		var logged bytes.Buffer
		h := downloadermw.Retry(with(t, map[string]any{"RETRY_GIVE_UP_LOG_LEVEL": test.setting}), new(stats.Collector), logTo(&logged), atNoon)(answer(503, nil, "busy"))
		req := &crawl.Request{URL: "http://example.com/", Options: crawl.Options{GiveUpLogLevel: test.own}, Progress: crawl.Progress{RetryTimes: 2}}
		resp, err := h.Fetch(t.Context(), req)
		if test.want == "" {
			if got := outcome(resp, err); got != "failure bad-request" || !strings.Contains(err.Error(), `"LOUD" is not one of DEBUG`) {
				t.Errorf("an unknown level: %v", err)
			}
			continue
		}
		if !strings.Contains(logged.String(), test.want) {
			t.Errorf("%s and %q: logged %s", test.setting, test.own, logged.String())
		}
	}
}

func TestGivingUpIsLoggedWithoutPasswords(t *testing.T) {
	var logged bytes.Buffer
	h := downloadermw.Retry(with(t, nil), new(stats.Collector), logTo(&logged), atNoon)(fail(&crawl.Failure{Reason: "dns"}))
	for retries := range 3 {
		h.Fetch(t.Context(), &crawl.Request{URL: "http://u:secret@example.com/", Progress: crawl.Progress{RetryTimes: retries}})
	}
	got := logged.String()
	if strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, "attempts=3 reason=dns") || strings.Contains(got, "secret") {
		t.Errorf("logged %s", got)
	}
}
