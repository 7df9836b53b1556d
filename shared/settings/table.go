package settings

import (
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// What [Settings.RobotsTxtOnError] may be.
const (
	Disallow = "disallow"
	Allow    = "allow"
)

// What [Settings.HTTPProxyAuthEncoding] may be.
const (
	Latin1 = "latin-1"
	UTF8   = "utf-8"
)

// What [Settings.HTTPCachePolicy] may be.
const (
	Dummy   = "dummy"
	RFC9111 = "rfc9111"
)

// A Source says where a setting's name and meaning come from.
type Source string

// The sources.
const (
	// Scrapy is Scrapy's name and meaning, and its code's default.
	Scrapy Source = "Scrapy"
	// Template is Scrapy's name and meaning, and its project template's
	// default.
	Template Source = "Scrapy's project template"
	// Changed is Scrapy's name and meaning with a default of ours.
	Changed Source = "Scrapy, with another default"
	// Ours is a setting that Scrapy does not have.
	Ours Source = "Skitter"
)

// A Definition says all that there is to say of one setting.
type Definition struct {
	// Name is what people write.
	Name string
	// Doc says what it means, in one sentence or two.
	Doc string
	// Unit is that of a bare number, else the kind of the value.
	Unit string
	// Default is written as a person would write it.
	Default string
	// Source is where it comes from.
	Source Source

	// Secret says that a value may hold a secret and is not to be shown.
	Secret bool

	clear func(*Settings)
	set   func(*Settings, any) error
}

// row makes a definition of a field of Settings and of how it is read.
func row[T any](name string, field func(*Settings) *T, k kind[T], byDefault T, source Source, doc string) Definition {
	return Definition{
		Name: name, Doc: doc, Unit: k.unit, Default: k.write(byDefault), Source: source, Secret: k.hide,
		clear: func(s *Settings) { *field(s) = byDefault },
		set: func(s *Settings, v any) error {
			t, ok := k.read(v)
			if !ok {
				return &wrongValue{value: v, want: k.want, hide: k.hide}
			}
			*field(s) = t
			return nil
		},
	}
}

// Definitions returns every setting, in the order of their names.
func Definitions() []Definition {
	anyInt := whole(math.MinInt)
	return []Definition{
		row("AWS_ENDPOINT_URL", func(s *Settings) *string { return &s.AWSEndpointURL }, text(), "", Scrapy,
			"Where s3: URLs are fetched, with the bucket as the first part of the path. Empty: AWS's own addresses."),
		row("AWS_REGION_NAME", func(s *Settings) *string { return &s.AWSRegionName }, hostLabel(), "", Scrapy,
			"The region of the buckets of s3: URLs. Empty: S3's address of the whole world, and for what is signed the region of the credentials."),
		row("AWS_SIGN_REQUESTS", func(s *Settings) *bool { return &s.AWSSignRequests }, yesNo(), false, Ours,
			"Signs requests for s3: URLs with the process's own credentials (environment, profile or role). On a stack the project file alone can set it."),
		row("CLOSESPIDER_ERRORCOUNT", func(s *Settings) *int { return &s.CloseSpiderErrorCount }, whole(0), 0, Scrapy,
			"Closes the job after so many errors of callbacks. 0: never."),
		row("CLOSESPIDER_ITEMCOUNT", func(s *Settings) *int { return &s.CloseSpiderItemCount }, whole(0), 0, Scrapy,
			"Closes the job after so many items. 0: never."),
		row("CLOSESPIDER_PAGECOUNT", func(s *Settings) *int { return &s.CloseSpiderPageCount }, whole(0), 0, Scrapy,
			"Closes the job after so many responses. 0: never."),
		row("CLOSESPIDER_PAGECOUNT_NO_ITEM", func(s *Settings) *int { return &s.CloseSpiderPageCountNoItem }, whole(0), 0, Scrapy,
			"Closes the job after so many responses without a new item. 0: never."),
		row("CLOSESPIDER_TIMEOUT", func(s *Settings) *time.Duration { return &s.CloseSpiderTimeout }, span(), 0, Scrapy,
			"Closes the job after so long. 0: never."),
		row("CLOSESPIDER_TIMEOUT_NO_ITEM", func(s *Settings) *time.Duration { return &s.CloseSpiderTimeoutNoItem }, span(), 0, Scrapy,
			"Closes the job after so long without a new item. 0: never."),
		row("COMPRESSION_ENABLED", func(s *Settings) *bool { return &s.CompressionEnabled }, yesNo(), true, Scrapy,
			"Asks for compressed bodies and unpacks them."),
		row("CONCURRENT_REQUESTS", func(s *Settings) *int { return &s.ConcurrentRequests }, whole(0), 16, Scrapy,
			"Requests in flight of one process, over all hosts. 0: no limit."),
		row("CONCURRENT_REQUESTS_PER_DOMAIN", func(s *Settings) *int { return &s.ConcurrentRequestsPerDomain }, whole(1), 1, Template,
			"Requests in flight of one slot, over all processes."),
		row("COOKIES_DEBUG", func(s *Settings) *bool { return &s.CookiesDebug }, yesNo(), false, Scrapy,
			"Logs the names, never the values, of the cookies that are sent and received."),
		row("COOKIES_ENABLED", func(s *Settings) *bool { return &s.CookiesEnabled }, yesNo(), true, Scrapy,
			"Sends and takes cookies."),
		row("DEFAULT_REQUEST_HEADERS", func(s *Settings) *http.Header { return &s.DefaultRequestHeaders }, headers(), defaultHeaders(), Scrapy,
			"Sent where the request has no header of that name. A value replaces the whole default."),
		row("DEPTH_LIMIT", func(s *Settings) *int { return &s.DepthLimit }, whole(0), 0, Scrapy,
			"How many links a request may be away from the start. 0: no limit."),
		row("DEPTH_PRIORITY", func(s *Settings) *int { return &s.DepthPriority }, anyInt, 0, Scrapy,
			"Taken from a request's priority once for each link of its depth. Above 0, near pages go first."),
		row("DEPTH_STATS_VERBOSE", func(s *Settings) *bool { return &s.DepthStatsVerbose }, yesNo(), false, Scrapy,
			"Counts the requests of each depth."),
		row("DNSCACHE_ENABLED", func(s *Settings) *bool { return &s.DNSCacheEnabled }, yesNo(), true, Scrapy,
			"Keeps the addresses of hosts for a minute. What could not be found is not kept."),
		row("DNSCACHE_SIZE", func(s *Settings) *int { return &s.DNSCacheSize }, whole(1), 10000, Scrapy,
			"How many hosts' addresses a process keeps. The jobs of a process share them: the largest number counts."),
		row("DNS_TIMEOUT", func(s *Settings) *time.Duration { return &s.DNSTimeout }, timeout(), time.Minute, Scrapy,
			"Limits the lookup of a host's addresses."),
		row("DOWNLOADER_CLIENT_TLS_CIPHERS", func(s *Settings) *[]uint16 { return &s.DownloaderClientTLSCiphers }, ciphers(), nil, Scrapy,
			"The cipher suites of TLS up to 1.2, by the names of IANA, with colons or commas between them. DEFAULT: those that Go takes for safe. ALL: all that there are, as old servers may need."),
		row("DOWNLOADER_STATS", func(s *Settings) *bool { return &s.DownloaderStats }, yesNo(), true, Scrapy,
			"Counts requests, responses and failures."),
		row("DOWNLOAD_BIND_ADDRESS", func(s *Settings) *netip.Addr { return &s.DownloadBindAddress }, address(), netip.Addr{}, Scrapy,
			"The local IP address that requests are sent from. Empty: the system chooses."),
		row("DOWNLOAD_CONNECT_TIMEOUT", func(s *Settings) *time.Duration { return &s.DownloadConnectTimeout }, span(), 0, Ours,
			"Limits connecting, TLS included. 0: as DOWNLOAD_TIMEOUT."),
		row("DOWNLOAD_DELAY", func(s *Settings) *time.Duration { return &s.DownloadDelay }, span(), time.Second, Template,
			"The least time between the starts of two requests of one slot. A larger Crawl-delay in robots.txt wins."),
		row("DOWNLOAD_FAIL_ON_DATALOSS", func(s *Settings) *bool { return &s.DownloadFailOnDataloss }, yesNo(), true, Scrapy,
			"Makes a body that is shorter than announced a failure; else the response carries the flag dataloss."),
		row("DOWNLOAD_FIRST_BYTE_TIMEOUT", func(s *Settings) *time.Duration { return &s.DownloadFirstByteTimeout }, span(), 0, Ours,
			"Limits the wait from sending a request to the first byte of its answer. 0: as DOWNLOAD_TIMEOUT."),
		row("DOWNLOAD_HANDLERS", func(s *Settings) *map[string]bool { return &s.DownloadHandlers }, switches(), map[string]bool{}, Scrapy,
			"Switches handlers on or off by their scheme or name: {\"s3\": null}. Those that it does not name are on; on a stack there is none for file."),
		row("DOWNLOAD_MAXSIZE", func(s *Settings) *int64 { return &s.DownloadMaxsize }, size(), 32<<20, Changed,
			"The largest body, before and after decompression. 0: no limit."),
		row("DOWNLOAD_TIMEOUT", func(s *Settings) *time.Duration { return &s.DownloadTimeout }, timeout(), 180*time.Second, Scrapy,
			"Limits one fetch, from dialling to the last byte. At most 1h."),
		row("DOWNLOAD_TLS_MAX_VERSION", func(s *Settings) *uint16 { return &s.DownloadTLSMaxVersion }, tlsVersion(), 0, Scrapy,
			"The newest version of TLS that is spoken. Empty: the newest that there is."),
		row("DOWNLOAD_TLS_MIN_VERSION", func(s *Settings) *uint16 { return &s.DownloadTLSMinVersion }, tlsVersion(), 0, Scrapy,
			"The oldest version of TLS that is spoken. Empty: TLSv1.2, or TLSv1.0 where certificates are not checked."),
		row("DOWNLOAD_VERIFY_CERTIFICATES", func(s *Settings) *bool { return &s.DownloadVerifyCertificates }, yesNo(), true, Changed,
			"Refuses a server whose certificate is not good. When false, TLS 1.0 and old ciphers are taken too."),
		row("DOWNLOAD_WARNSIZE", func(s *Settings) *int64 { return &s.DownloadWarnsize }, size(), 8<<20, Changed,
			"The body size above which a warning is logged. 0: never."),
		row("FEED_EXPORT_FIELDS", func(s *Settings) *[]string { return &s.FeedExportFields }, words("field names"), nil, Scrapy,
			"The fields of a feed, in their order. Empty: those of the items."),
		row("FEED_EXPORT_INDENT", func(s *Settings) *int { return &s.FeedExportIndent }, whole(0), 0, Scrapy,
			"How many blanks a level of JSON or XML is indented by. 0: one item a line."),
		row("HTTP2_ENABLED", func(s *Settings) *bool { return &s.HTTP2Enabled }, yesNo(), true, Ours,
			"Speaks HTTP/2 with servers that offer it over TLS."),
		row("HTTPAUTH_DOMAIN", func(s *Settings) *string { return &s.HTTPAuthDomain }, text(), "", Scrapy,
			"The domain that HTTPAUTH_USER and HTTPAUTH_PASS are sent to, with those below it. Must be set where one of them is. `*`: every site, Scrapy's None."),
		row("HTTPAUTH_PASS", func(s *Settings) *string { return &s.HTTPAuthPass }, text().hidden(), "", Scrapy,
			"The password of HTTPAUTH_USER."),
		row("HTTPAUTH_USER", func(s *Settings) *string { return &s.HTTPAuthUser }, text(), "", Scrapy,
			"The user of HTTP's basic authentication. Empty, and no password: none."),
		row("HTTPCACHE_ALWAYS_STORE", func(s *Settings) *bool { return &s.HTTPCacheAlwaysStore }, yesNo(), false, Scrapy,
			"Has the policy rfc9111 keep also what tells nothing of its age, unless it says no-store."),
		row("HTTPCACHE_DIR", func(s *Settings) *string { return &s.HTTPCacheDir }, text(), "httpcache", Scrapy,
			"The folder of the HTTP cache in the blob store, httpcache or one below it. Jobs that name the same one share it."),
		row("HTTPCACHE_ENABLED", func(s *Settings) *bool { return &s.HTTPCacheEnabled }, yesNo(), false, Scrapy,
			"Keeps answers in the blob store and gives them again; see [http-cache.md](http-cache.md)."),
		row("HTTPCACHE_EXPIRATION_SECS", func(s *Settings) *time.Duration { return &s.HTTPCacheExpirationSecs }, span(), 0, Scrapy,
			"After how long an answer in the HTTP cache is void. 0: never."),
		row("HTTPCACHE_GZIP", func(s *Settings) *bool { return &s.HTTPCacheGzip }, yesNo(), false, Scrapy,
			"Packs bodies in the HTTP cache."),
		row("HTTPCACHE_IGNORE_HTTP_CODES", func(s *Settings) *[]int { return &s.HTTPCacheIgnoreHTTPCodes }, statuses(), nil, Scrapy,
			"The statuses whose answers are not kept in the HTTP cache, whatever the policy."),
		row("HTTPCACHE_IGNORE_MISSING", func(s *Settings) *bool { return &s.HTTPCacheIgnoreMissing }, yesNo(), false, Scrapy,
			"Drops what is not in the HTTP cache, as not-cached, in place of fetching it."),
		row("HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS", func(s *Settings) *[]string { return &s.HTTPCacheIgnoreResponseCacheControls }, words("directives as in no-cache, no-store"), nil, Scrapy,
			"The Cache-Control directives of answers that the policy rfc9111 overlooks."),
		row("HTTPCACHE_IGNORE_SCHEMES", func(s *Settings) *[]string { return &s.HTTPCacheIgnoreSchemes }, words("schemes as in http, https"), []string{"file"}, Scrapy,
			"The URL schemes that pass the HTTP cache by. Only http and https are ever kept."),
		row("HTTPCACHE_POLICY", func(s *Settings) *string { return &s.HTTPCachePolicy }, cachePolicy(), Dummy, Scrapy,
			"What the HTTP cache keeps and gives again: dummy, everything; rfc9111, what HTTP allows. Scrapy's names of the two are taken as well."),
		row("HTTPERROR_ALLOWED_CODES", func(s *Settings) *[]int { return &s.HTTPErrorAllowedCodes }, statuses(), nil, Scrapy,
			"The statuses outside 200 to 299 that are handed to callbacks."),
		row("HTTPERROR_ALLOW_ALL", func(s *Settings) *bool { return &s.HTTPErrorAllowAll }, yesNo(), false, Scrapy,
			"Hands responses of every status to callbacks."),
		row("HTTPPROXY_AUTH_ENCODING", func(s *Settings) *string { return &s.HTTPProxyAuthEncoding }, oneOf(Latin1, UTF8), Latin1, Scrapy,
			"What user and password of a proxy are encoded in."),
		row("HTTPPROXY_ENABLED", func(s *Settings) *bool { return &s.HTTPProxyEnabled }, yesNo(), true, Scrapy,
			"Sends requests through the proxies of the requests, the settings or the environment."),
		row("HTTPPROXY_PROXIES", func(s *Settings) *map[string]string { return &s.HTTPProxyProxies }, proxies(), nil, Ours,
			"The proxies of requests that name none, by scheme: http, https, and in `no` the hosts that need none. Empty: those of the environment, http_proxy, https_proxy and no_proxy."),
		row("JOB_MAX_DAYS", func(s *Settings) *int { return &s.JobMaxDays }, days(), 14, Ours,
			"How many days a job may last; then it closes with the reason deadline."),
		row("LOGSTATS_INTERVAL", func(s *Settings) *time.Duration { return &s.LogStatsInterval }, span(), 5*time.Second, Changed,
			"The time between two lines of progress, in logs and where stderr is no terminal. 0: none."),
		row("LOG_LEVEL", func(s *Settings) *slog.Level { return &s.LogLevel }, level(), slog.LevelInfo, Changed,
			"The least level that is logged."),
		row("METAREFRESH_ENABLED", func(s *Settings) *bool { return &s.MetaRefreshEnabled }, yesNo(), true, Scrapy,
			"Follows meta elements that refresh to another address."),
		row("METAREFRESH_IGNORE_TAGS", func(s *Settings) *[]string { return &s.MetaRefreshIgnoreTags }, words("names of elements"), []string{"noscript"}, Scrapy,
			"The elements in which such a meta element does not count."),
		row("METAREFRESH_MAXDELAY", func(s *Settings) *time.Duration { return &s.MetaRefreshMaxDelay }, span(), 100*time.Second, Scrapy,
			"The delay from which on it is not followed."),
		row("PARSE_MAXSIZE", func(s *Settings) *int64 { return &s.ParseMaxsize }, size(), 4<<20, Ours,
			"The largest page that is parsed. A larger one, or one of more than 200,000 tags or 400,000 attributes, or that a parser would have to repair in 500,000 places, is read by the tokenizer alone: all links are found, selectors see its beginning. 0: no limit by size."),
		row("RANDOMIZE_DOWNLOAD_DELAY", func(s *Settings) *bool { return &s.RandomizeDownloadDelay }, yesNo(), true, Scrapy,
			"Varies each delay between 0.5 and 1.5 times its length."),
		row("REDIRECT_DROP_HEADERS", func(s *Settings) *[]string { return &s.RedirectDropHeaders }, headerNames(),
			[]string{"X-Api-Key", "Proxy-Authorization"}, Ours,
			"The headers, besides Authorization and Cookie, that a redirect to another origin does not take along."),
		row("REDIRECT_ENABLED", func(s *Settings) *bool { return &s.RedirectEnabled }, yesNo(), true, Scrapy,
			"Follows redirects."),
		row("REDIRECT_MAX_TIMES", func(s *Settings) *int { return &s.RedirectMaxTimes }, whole(0), 20, Scrapy,
			"How many redirects one chain may have."),
		row("REDIRECT_PRIORITY_ADJUST", func(s *Settings) *int { return &s.RedirectPriorityAdjust }, anyInt, 2, Scrapy,
			"Added to the priority of a redirected request."),
		row("REFERER_ENABLED", func(s *Settings) *bool { return &s.RefererEnabled }, yesNo(), true, Scrapy,
			"Sends the page that a link was found on."),
		row("REFERRER_POLICY", func(s *Settings) *string { return &s.ReferrerPolicy }, oneOf(policies()...), "scrapy-default", Scrapy,
			"How much of that page's address is told to whom."),
		row("RETRY_DELAY", func(s *Settings) *time.Duration { return &s.RetryDelay }, span(), time.Second, Ours,
			"The wait before the first retry, doubled with each further one, with 10 % jitter. A larger Retry-After wins."),
		row("RETRY_ENABLED", func(s *Settings) *bool { return &s.RetryEnabled }, yesNo(), true, Scrapy,
			"Fetches again what failed."),
		row("RETRY_EXCEPTIONS", func(s *Settings) *[]string { return &s.RetryExceptions }, reasons(),
			[]string{"bad-encoding", "bad-response", "connect", "dataloss", "dns", "proxy", "reset", "timeout", "tls"}, Changed,
			"The reasons of failures that are fetched again, as stats show them."),
		row("RETRY_GIVE_UP_LOG_LEVEL", func(s *Settings) *slog.Level { return &s.RetryGiveUpLogLevel }, level(), slog.LevelError, Scrapy,
			"The level at which giving up on a request is logged."),
		row("RETRY_HTTP_CODES", func(s *Settings) *[]int { return &s.RetryHTTPCodes }, statuses(),
			[]int{500, 502, 503, 504, 522, 524, 408, 429}, Scrapy,
			"The statuses that are fetched again."),
		row("RETRY_MAX_DELAY", func(s *Settings) *time.Duration { return &s.RetryMaxDelay }, span(), 15*time.Minute, Ours,
			"The longest wait before a retry, also where the server asks for more."),
		row("RETRY_PRIORITY_ADJUST", func(s *Settings) *int { return &s.RetryPriorityAdjust }, anyInt, -1, Scrapy,
			"Added to the priority of a retried request."),
		row("RETRY_TIMES", func(s *Settings) *int { return &s.RetryTimes }, whole(0), 2, Scrapy,
			"How often a request is fetched again after its first attempt failed."),
		row("ROBOTSTXT_OBEY", func(s *Settings) *bool { return &s.RobotsTxtObey }, yesNo(), true, Template,
			"Drops what robots.txt forbids."),
		row("ROBOTSTXT_ON_ERROR", func(s *Settings) *string { return &s.RobotsTxtOnError }, oneOf(Disallow, Allow), Disallow, Ours,
			"What holds while robots.txt cannot be had for 5xx, 429 or time-outs. RFC 9309 disallows, Scrapy allows."),
		row("ROBOTSTXT_USER_AGENT", func(s *Settings) *string { return &s.RobotsTxtUserAgent }, headerText(), "", Scrapy,
			"The name that robots.txt is searched for. Empty: the request's User-Agent."),
		row("ROBOTSTXT_WAIT", func(s *Settings) *time.Duration { return &s.RobotsTxtWait }, span(), time.Minute, Ours,
			"How long requests wait for a robots.txt that cannot be had before they are dropped."),
		row("ROTATING_PROXY_BACKOFF_BASE", func(s *Settings) *time.Duration { return &s.RotatingProxyBackoffBase }, span(), 5*time.Minute, Ours,
			"How long a proxy that failed is left out at most the first time, doubled with each further one. The time is drawn from 0 to that."),
		row("ROTATING_PROXY_BACKOFF_CAP", func(s *Settings) *time.Duration { return &s.RotatingProxyBackoffCap }, span(), time.Hour, Ours,
			"The most that it is left out."),
		row("ROTATING_PROXY_BAN_HTTP_CODES", func(s *Settings) *[]int { return &s.RotatingProxyBanHTTPCodes }, statuses(), []int{403, 407, 429}, Ours,
			"The statuses that say that we are not served through this proxy, so that another one is tried."),
		row("ROTATING_PROXY_CLOSE_SPIDER", func(s *Settings) *bool { return &s.RotatingProxyCloseSpider }, yesNo(), false, Ours,
			"Closes the job with the reason no_proxies once no proxy is left. false: waits until the next one may be tried again."),
		row("ROTATING_PROXY_LIST", func(s *Settings) *[]string { return &s.RotatingProxyList }, words("proxies").hidden(), nil, Ours,
			"Proxies of which each request that names none takes one at random. As in `http://user:password@proxy.example:3128`; socks5 and socks5h too."),
		row("ROTATING_PROXY_PAGE_RETRY_TIMES", func(s *Settings) *int { return &s.RotatingProxyPageRetryTimes }, whole(0), 5, Ours,
			"How often a request is tried again through another proxy. A request's max_retry_times wins."),
		row("SLOT_SLACK", func(s *Settings) *time.Duration { return &s.SlotSlack }, span(), 50*time.Millisecond, Ours,
			"How late a turn may be taken: lateness of the process and difference of clocks together."),
		row("SLOT_WAIT", func(s *Settings) *time.Duration { return &s.SlotWait }, span(), 100*time.Millisecond, Ours,
			"How long a process waits for a turn before it sends the request away. Waiting is billed."),
		row("STATS_DUMP", func(s *Settings) *bool { return &s.StatsDump }, yesNo(), true, Scrapy,
			"Logs all stats when the job ends."),
		row("URLLENGTH_LIMIT", func(s *Settings) *int { return &s.URLLengthLimit }, whole(0), 2083, Scrapy,
			"The longest URL that is followed, in bytes. 0: no limit."),
		row("USER_AGENT", func(s *Settings) *string { return &s.UserAgent }, headerText(),
			"Skitter/0.1 (+https://github.com/skitterhq/skitter)", Changed,
			"Sent where the request has none. Empty: none is sent."),
		row("USER_AGENTS", func(s *Settings) *[]string { return &s.UserAgents }, lines("user agents", headerText()), nil, Ours,
			"Several to take turns in place of USER_AGENT: one a session (cookie jar and site) of a job. robots.txt goes on to be searched for USER_AGENT."),
	}
}

// Secret reports whether the value of a setting may hold a secret.
func Secret(name string) bool {
	return slices.ContainsFunc(Definitions(), func(d Definition) bool { return d.Name == name && d.Secret })
}

func defaultHeaders() http.Header {
	return http.Header{
		"Accept":          {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
		"Accept-Language": {"en"},
	}
}

// policies are the names of the Referrer Policy standard, and Scrapy's own.
func policies() []string {
	return []string{
		"scrapy-default", "no-referrer", "no-referrer-when-downgrade", "same-origin", "origin", "strict-origin",
		"origin-when-cross-origin", "strict-origin-when-cross-origin", "unsafe-url",
	}
}
