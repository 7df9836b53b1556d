package settings_test

import (
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/settings"
)

func TestValuesAreReadAsPeopleWriteThem(t *testing.T) {
	type get = func(settings.Settings) any
	delay := func(s settings.Settings) any { return s.DownloadDelay }
	maxsize := func(s settings.Settings) any { return s.DownloadMaxsize }
	obey := func(s settings.Settings) any { return s.RobotsTxtObey }
	codes := func(s settings.Settings) any { return s.RetryHTTPCodes }
	fields := func(s settings.Settings) any { return s.FeedExportFields }
	headers := func(s settings.Settings) any { return s.DefaultRequestHeaders }
	agents := func(s settings.Settings) any { return s.UserAgents }
	proxies := func(s settings.Settings) any { return s.HTTPProxyProxies }
	policy := func(s settings.Settings) any { return s.HTTPCachePolicy }
	logLevel := func(s settings.Settings) any { return s.LogLevel }
	tests := []struct {
		name    string
		setting string
		value   any
		get     get
		want    any
	}{
		{"a bare number is seconds", "DOWNLOAD_DELAY", 3, delay, 3 * time.Second},
		{"a YAML number is seconds", "DOWNLOAD_DELAY", uint64(3), delay, 3 * time.Second},
		{"a fraction is of seconds", "DOWNLOAD_DELAY", 0.25, delay, 250 * time.Millisecond},
		{"a flag's number is seconds", "DOWNLOAD_DELAY", "1.5", delay, 1500 * time.Millisecond},
		{"a unit is taken", "DOWNLOAD_DELAY", "500ms", delay, 500 * time.Millisecond},
		{"units may be joined", "DOWNLOAD_DELAY", "1m30s", delay, 90 * time.Second},
		{"blanks round a value go", "DOWNLOAD_DELAY", " 2s ", delay, 2 * time.Second},
		{"a duration is itself", "DOWNLOAD_DELAY", 5 * time.Second, delay, 5 * time.Second},
		{"no delay", "DOWNLOAD_DELAY", 0, delay, time.Duration(0)},

		{"a bare size is bytes", "DOWNLOAD_MAXSIZE", 1024, maxsize, int64(1024)},
		{"a size has a binary unit", "DOWNLOAD_MAXSIZE", "32MiB", maxsize, int64(32 << 20)},
		{"a size has a decimal unit", "DOWNLOAD_MAXSIZE", "5 MB", maxsize, int64(5e6)},
		{"a size may be broken", "DOWNLOAD_MAXSIZE", "1.5KiB", maxsize, int64(1536)},
		{"no limit", "DOWNLOAD_MAXSIZE", "0", maxsize, int64(0)},

		{"a YAML bool", "ROBOTSTXT_OBEY", false, obey, false},
		{"Python's bool", "ROBOTSTXT_OBEY", "False", obey, false},
		{"a flag's bool", "ROBOTSTXT_OBEY", "0", obey, false},
		{"a number for a bool", "ROBOTSTXT_OBEY", 0, obey, false},
		{"a true one", "DEPTH_STATS_VERBOSE", "True", func(s settings.Settings) any { return s.DepthStatsVerbose }, true},

		{"a YAML list", "RETRY_HTTP_CODES", []any{uint64(503), "429"}, codes, []int{503, 429}},
		{"a list of Go", "RETRY_HTTP_CODES", []int{503}, codes, []int{503}},
		{"a list with commas", "RETRY_HTTP_CODES", "503, 429", codes, []int{503, 429}},
		{"one for a list", "RETRY_HTTP_CODES", 503, codes, []int{503}},
		{"an empty list", "RETRY_HTTP_CODES", "", codes, []int(nil)},
		{"a policy's name", "HTTPCACHE_POLICY", "rfc9111", policy, "rfc9111"},
		{"Scrapy's class of a policy", "HTTPCACHE_POLICY", "scrapy.extensions.httpcache.RFC2616Policy", policy, "rfc9111"},
		{"Scrapy's class of the other", "HTTPCACHE_POLICY", "scrapy.extensions.httpcache.DummyPolicy", policy, "dummy"},
		{"null for a list", "RETRY_HTTP_CODES", nil, codes, []int(nil)},
		{"a list of names", "FEED_EXPORT_FIELDS", "name, price", fields, []string{"name", "price"}},
		{"a list of strings", "FEED_EXPORT_FIELDS", []string{"name"}, fields, []string{"name"}},

		{"headers of YAML", "DEFAULT_REQUEST_HEADERS", map[string]any{"accept": "*/*", "X-A": []any{"1", "2"}, "DNT": uint64(1), "Accept-Language": nil},
			headers, http.Header{"Accept": {"*/*"}, "X-A": {"1", "2"}, "Dnt": {"1"}}},
		{"headers of a flag", "DEFAULT_REQUEST_HEADERS", `{"Accept": "*/*"}`, headers, http.Header{"Accept": {"*/*"}}},
		{"headers of Go", "DEFAULT_REQUEST_HEADERS", http.Header{"accept": {"*/*"}}, headers, http.Header{"Accept": {"*/*"}}},
		{"headers of a map", "DEFAULT_REQUEST_HEADERS", map[string]string{"accept": "*/*"}, headers, http.Header{"Accept": {"*/*"}}},

		{"agents as a list", "USER_AGENTS", []any{"a (b, c)", "d"}, agents, []string{"a (b, c)", "d"}},
		{"agents one a line", "USER_AGENTS", "a (b, c)\n\n d \r\n", agents, []string{"a (b, c)", "d"}},
		{"agents as JSON", "USER_AGENTS", `["a (b, c)", "d"]`, agents, []string{"a (b, c)", "d"}},
		{"one agent", "USER_AGENTS", "a (b, c)", agents, []string{"a (b, c)"}},
		{"no agents", "USER_AGENTS", "", agents, []string(nil)},
		{"proxies", "HTTPPROXY_PROXIES", map[string]any{"http": "p:1"}, proxies, map[string]string{"http": "p:1"}},
		{"proxies as JSON", "HTTPPROXY_PROXIES", `{"https": "p:1", "no": "a,b"}`, proxies, map[string]string{"https": "p:1", "no": "a,b"}},
		{"no proxies", "HTTPPROXY_PROXIES", "", proxies, map[string]string(nil)},
		{"a level by Scrapy's name", "LOG_LEVEL", "WARNING", logLevel, slog.LevelWarn},
		{"a level in small letters", "LOG_LEVEL", "debug", logLevel, slog.LevelDebug},
		{"a level of Go", "LOG_LEVEL", slog.LevelError, logLevel, slog.LevelError},
		{"a negative number where that means something", "RETRY_PRIORITY_ADJUST", "-10", func(s settings.Settings) any { return s.RetryPriorityAdjust }, -10},
		{"a whole float", "CONCURRENT_REQUESTS", 32.0, func(s settings.Settings) any { return s.ConcurrentRequests }, 32},
		{"None for a text", "ROBOTSTXT_USER_AGENT", nil, func(s settings.Settings) any { return s.RobotsTxtUserAgent }, ""},
		{"names of headers become canonical", "REDIRECT_DROP_HEADERS", "x-token", func(s settings.Settings) any { return s.RedirectDropHeaders }, []string{"X-Token"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := settings.Resolve(settings.Layer{Name: "test", Values: map[string]any{test.setting: test.value}})
			if err != nil {
				t.Fatal(err)
			}
			if got := test.get(s); !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s = %v became %#v, want %#v", test.setting, test.value, got, test.want)
			}
		})
	}
}

func TestBadValuesAreRefused(t *testing.T) {
	tests := []struct {
		name    string
		setting string
		value   any
		want    string // the error's text
	}{
		{"a negative time", "DOWNLOAD_DELAY", -1, "setting DOWNLOAD_DELAY of test: -1 is not a time of 0 or more: seconds, or with a unit as in 500ms, 2s or 1m30s"},
		{"a negative duration", "DOWNLOAD_DELAY", -time.Second, "-1s is not a time of 0 or more"},
		{"a negative time with a unit", "DOWNLOAD_DELAY", "-2s", `"-2s" is not a time of 0 or more`},
		{"a word for a time", "DOWNLOAD_DELAY", "fast", `"fast" is not a time`},
		{"no time", "DOWNLOAD_DELAY", "NaN", `"NaN" is not a time`},
		{"an endless time", "DOWNLOAD_DELAY", "1e12", `"1e12" is not a time`},
		{"null for a time", "DOWNLOAD_DELAY", nil, "null is not a time"},
		{"no download time at all", "DOWNLOAD_TIMEOUT", 0, "0 is not a time above 0"},
		{"a download time that outlasts all leases", "DOWNLOAD_TIMEOUT", "2h", `"2h" is not a time above 0, at most 1h`},
		{"a negative size", "DOWNLOAD_MAXSIZE", -1, "-1 is not a size of 0 or more"},
		{"a negative broken size", "DOWNLOAD_MAXSIZE", "-1.5KiB", "is not a size of 0 or more"},
		{"a size above all bounds", "DOWNLOAD_MAXSIZE", "9999999999GiB", "is not a size"},
		{"a word for a bool", "ROBOTSTXT_OBEY", "yes", `"yes" is not true or false (or 1 or 0)`},
		{"a negative count", "CONCURRENT_REQUESTS", -1, "-1 is not a whole number of 0 or more"},
		{"a slot that lets nobody through", "CONCURRENT_REQUESTS_PER_DOMAIN", 0, "0 is not a whole number of 1 or more"},
		{"a broken count", "CONCURRENT_REQUESTS", 1.5, "1.5 is not a whole number of 0 or more"},
		{"a status that is none", "RETRY_HTTP_CODES", "503,50", `"503,50" is not a list of HTTP statuses, 100 to 999, or a text with commas between them`},
		{"a policy that is none", "HTTPCACHE_POLICY", "rfc2616", `"rfc2616" is not one of dummy, rfc9111`},
		{"a list of something else", "RETRY_HTTP_CODES", []any{true}, "[true] is not a list of HTTP statuses"},
		{"a hole in a list", "FEED_EXPORT_FIELDS", "a,,b", `"a,,b" is not a list of field names`},
		{"an unknown policy", "REFERRER_POLICY", "os.system", `"os.system" is not one of scrapy-default, no-referrer,`},
		{"an exception of Python", "RETRY_EXCEPTIONS", "twisted.internet.error.TimeoutError", "is not a list of reasons as in timeout, dns"},
		{"an agent of two lines", "USER_AGENTS", []any{"a\nb"}, "is not a list of user agents, or a text with one a line"},
		{"a proxy of another scheme", "HTTPPROXY_PROXIES", map[string]any{"ftp": "p:1"}, "is not an object of proxies by scheme (http, https, and no"},
		{"another encoding", "HTTPPROXY_AUTH_ENCODING", "utf-16", `"utf-16" is not one of latin-1, utf-8`},
		{"an unknown level", "LOG_LEVEL", "LOUD", `"LOUD" is not one of DEBUG, INFO`},
		{"a line break in a header", "USER_AGENT", "a\r\nCookie: b", "is not a text without control characters"},
		{"a header name that is none", "DEFAULT_REQUEST_HEADERS", map[string]any{"a b": "c"}, "the value is not an object of header names and texts"},
		{"a long value is cut", "LOG_LEVEL", strings.Repeat("x", 500), strings.Repeat("x", 80) + `…" is not`},
		{"a slip of the pen", "DOWNLOAD_DELY", 1, "setting DOWNLOAD_DELY of test: there is none of that name; did you mean DOWNLOAD_DELAY?"},
		{"small letters", "robotstxt_obey", true, "did you mean ROBOTSTXT_OBEY?"},
		{"nothing like it", "TELNETCONSOLE_PORT", 1, "setting TELNETCONSOLE_PORT of test: there is none of that name"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := settings.Resolve(settings.Layer{Name: "test", Values: map[string]any{test.setting: test.value}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v\nlacks %s", err, test.want)
			}
		})
	}
}

func TestNothingIsSuggestedForANameLikeNoOther(t *testing.T) {
	_, err := settings.Resolve(settings.Layer{Name: "test", Values: map[string]any{"TELNETCONSOLE_PORT": 1}})
	if err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Errorf("error %v", err)
	}
}

func TestSecretsAreNotInTheError(t *testing.T) {
	for name, value := range map[string]any{
		"DEFAULT_REQUEST_HEADERS": map[string]any{"Authorization": "hunter2\n"},
		"HTTPAUTH_PASS":           []any{"hunter2"},
		"HTTPPROXY_PROXIES":       map[string]any{"ftp": "http://u:hunter2@p"},
		"ROTATING_PROXY_LIST":     map[string]any{"http://u:hunter2@p": 1},
	} {
		_, err := settings.Resolve(settings.Layer{Name: "test", Values: map[string]any{name: value}})
		if err == nil || strings.Contains(err.Error(), "hunter2") || !settings.Secret(name) {
			t.Errorf("%s: error %v, secret %t", name, err, settings.Secret(name))
		}
	}
}

func TestEveryBadValueOfEveryLayerIsReported(t *testing.T) {
	_, err := settings.Resolve(
		settings.Layer{Name: "skitter.yaml", Values: map[string]any{"RETRY_TIMES": -1, "DOWNLOAD_DELAY": "soon"}},
		settings.Layer{Name: "job", Values: map[string]any{"RETRY_TIMES": "many"}},
	)
	want := strings.Join([]string{
		`setting DOWNLOAD_DELAY of skitter.yaml: "soon" is not a time of 0 or more: seconds, or with a unit as in 500ms, 2s or 1m30s`,
		`setting RETRY_TIMES of skitter.yaml: -1 is not a whole number of 0 or more`,
		`setting RETRY_TIMES of job: "many" is not a whole number of 0 or more`,
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestALaterLayerWins(t *testing.T) {
	s, err := settings.Resolve(
		settings.Layer{Name: "skitter.yaml", Values: map[string]any{"RETRY_TIMES": 5, "DOWNLOAD_DELAY": 3}},
		settings.Layer{Name: "spider", Values: map[string]any{"RETRY_TIMES": 7}},
		settings.Layer{Name: "job"},
	)
	if err != nil {
		t.Fatal(err)
	}
	if s.RetryTimes != 7 || s.DownloadDelay != 3*time.Second || s.RedirectMaxTimes != 20 {
		t.Errorf("got RETRY_TIMES %d, DOWNLOAD_DELAY %s, REDIRECT_MAX_TIMES %d", s.RetryTimes, s.DownloadDelay, s.RedirectMaxTimes)
	}
}

func TestTheCloudIsALayerLikeAnyOther(t *testing.T) {
	s, err := settings.Resolve(settings.Cloud(), settings.Layer{Name: "job", Values: map[string]any{"ROBOTSTXT_WAIT": 7}})
	if err != nil {
		t.Fatal(err)
	}
	if s.DownloadTimeout != 30*time.Second || s.DownloadConnectTimeout != 5*time.Second || s.RobotsTxtWait != 7*time.Second {
		t.Errorf("got %s, %s, %s", s.DownloadTimeout, s.DownloadConnectTimeout, s.RobotsTxtWait)
	}
}

func TestSettingsOfTwoJobsShareNothing(t *testing.T) {
	a, _ := settings.Resolve()
	b, _ := settings.Resolve()
	a.DefaultRequestHeaders.Set("Accept", "changed")
	a.RetryHTTPCodes[0] = 0
	if b.DefaultRequestHeaders.Get("Accept") == "changed" || b.RetryHTTPCodes[0] == 0 {
		t.Error("one job's settings changed another's")
	}
}

func BenchmarkResolve(b *testing.B) {
	layer := settings.Layer{Name: "test", Values: map[string]any{"RETRY_TIMES": 5, "DOWNLOAD_DELAY": "3s"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := settings.Resolve(layer); err != nil {
			b.Fatal(err)
		}
	}
}
