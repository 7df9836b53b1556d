package settings

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"
)

// Settings are the values that hold for one job. Make them with [Resolve]: the
// zero value is not the defaults. They are shared by everything that works for
// the job and must not be changed.
type Settings struct {
	// AWSEndpointURL is where s3: URLs are fetched (AWS_ENDPOINT_URL), with the
	// bucket as the first part of the path. Default: empty, AWS's own.
	AWSEndpointURL string

	// AWSRegionName is the region of the buckets of s3: URLs (AWS_REGION_NAME).
	// Default: empty, which means S3's address of the whole world, and for what
	// is signed the region of the process's credentials.
	AWSRegionName string

	// AWSSignRequests signs requests for s3: URLs with the process's own
	// credentials (AWS_SIGN_REQUESTS): from the environment, the profile or the
	// role. Default: false, requests are anonymous. On a stack the project file
	// alone can set it.
	AWSSignRequests bool

	// CloseSpiderErrorCount closes the job after so many errors of callbacks
	// (CLOSESPIDER_ERRORCOUNT). Default: 0, never.
	CloseSpiderErrorCount int

	// CloseSpiderItemCount closes the job after so many items
	// (CLOSESPIDER_ITEMCOUNT). Default: 0, never.
	CloseSpiderItemCount int

	// CloseSpiderPageCount closes the job after so many responses
	// (CLOSESPIDER_PAGECOUNT). Default: 0, never.
	CloseSpiderPageCount int

	// CloseSpiderPageCountNoItem closes the job after so many responses without
	// a new item (CLOSESPIDER_PAGECOUNT_NO_ITEM). Default: 0, never.
	CloseSpiderPageCountNoItem int

	// CloseSpiderTimeout closes the job after so long (CLOSESPIDER_TIMEOUT).
	// Default: 0s, never.
	CloseSpiderTimeout time.Duration

	// CloseSpiderTimeoutNoItem closes the job after so long without a new item
	// (CLOSESPIDER_TIMEOUT_NO_ITEM). Default: 0s, never.
	CloseSpiderTimeoutNoItem time.Duration

	// CompressionEnabled asks for compressed bodies and unpacks them
	// (COMPRESSION_ENABLED). Default: true.
	CompressionEnabled bool

	// ConcurrentRequests is how many requests one process has in flight, over
	// all hosts (CONCURRENT_REQUESTS). Default: 16. Zero means no limit.
	ConcurrentRequests int

	// ConcurrentRequestsPerDomain is how many requests one slot has in flight,
	// over all processes (CONCURRENT_REQUESTS_PER_DOMAIN). Default: 1, as in
	// Scrapy's project template.
	ConcurrentRequestsPerDomain int

	// CookiesDebug logs the names, never the values, of the cookies that are
	// sent and received (COOKIES_DEBUG). Default: false.
	CookiesDebug bool

	// CookiesEnabled sends and takes cookies (COOKIES_ENABLED). Default: true.
	CookiesEnabled bool

	// DNSCacheEnabled keeps the addresses of hosts for a minute
	// (DNSCACHE_ENABLED). Default: true.
	DNSCacheEnabled bool

	// DNSCacheSize is how many hosts' addresses a process keeps
	// (DNSCACHE_SIZE). Default: 10000. The jobs of a process share them: the
	// largest number counts.
	DNSCacheSize int

	// DNSTimeout limits the lookup of a host's addresses (DNS_TIMEOUT).
	// Default: 1m, at most 1h.
	DNSTimeout time.Duration

	// DefaultRequestHeaders are sent where the request has none of that name
	// (DEFAULT_REQUEST_HEADERS). A value replaces the whole default, which is
	// {"Accept":"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8","Accept-Language":"en"}.
	DefaultRequestHeaders http.Header

	// DepthLimit is how many links a request may be away from the start
	// (DEPTH_LIMIT). Default: 0, no limit.
	DepthLimit int

	// DepthPriority is taken from a request's priority once for each link of
	// its depth (DEPTH_PRIORITY). Default: 0. Above zero, near pages go first.
	DepthPriority int

	// DepthStatsVerbose counts the requests of each depth
	// (DEPTH_STATS_VERBOSE). Default: false.
	DepthStatsVerbose bool

	// DownloadBindAddress is the local IP address that requests are sent from
	// (DOWNLOAD_BIND_ADDRESS). Default: none, the system chooses.
	DownloadBindAddress netip.Addr

	// DownloadConnectTimeout limits connecting, TLS included
	// (DOWNLOAD_CONNECT_TIMEOUT). Default: 0s, which means DownloadTimeout.
	DownloadConnectTimeout time.Duration

	// DownloadDelay is the least time between the starts of two requests of
	// one slot (DOWNLOAD_DELAY). Default: 1s, as in Scrapy's project template.
	// A larger Crawl-delay in robots.txt wins.
	DownloadDelay time.Duration

	// DownloadFailOnDataloss makes a body that is shorter than announced a
	// failure (DOWNLOAD_FAIL_ON_DATALOSS). Default: true. When false the
	// response carries the flag "dataloss" instead.
	DownloadFailOnDataloss bool

	// DownloadFirstByteTimeout limits the wait from sending a request to the
	// first byte of its answer (DOWNLOAD_FIRST_BYTE_TIMEOUT). Default: 0s, no
	// limit but DownloadTimeout.
	DownloadFirstByteTimeout time.Duration

	// DownloadHandlers switches handlers on or off by their scheme or name
	// (DOWNLOAD_HANDLERS); those that it does not name are on. Default: {}. On
	// a stack there is none for file. Scrapy has classes in place of true.
	DownloadHandlers map[string]bool

	// DownloadMaxsize limits a body in bytes, before and after decompression
	// (DOWNLOAD_MAXSIZE). Default: 32MiB, which a function of 512 MB bears.
	// Zero means no limit.
	DownloadMaxsize int64

	// DownloadTLSMaxVersion is the newest version of TLS that is spoken, one of
	// package crypto/tls (DOWNLOAD_TLS_MAX_VERSION). Default: none (0), for the
	// newest that there is.
	DownloadTLSMaxVersion uint16

	// DownloadTLSMinVersion is the oldest version of TLS that is spoken, one of
	// package crypto/tls (DOWNLOAD_TLS_MIN_VERSION). Default: none (0), for TLS
	// 1.2, or 1.0 where certificates are not checked.
	DownloadTLSMinVersion uint16

	// DownloadTimeout limits one fetch from dialling to the last byte
	// (DOWNLOAD_TIMEOUT). Default: 3m. At most 1h.
	DownloadTimeout time.Duration

	// DownloadVerifyCertificates refuses a server whose certificate is not
	// good (DOWNLOAD_VERIFY_CERTIFICATES). Default: true, unlike Scrapy's.
	// When false, TLS 1.0 and old ciphers are taken too.
	DownloadVerifyCertificates bool

	// DownloadWarnsize is the body size in bytes above which a warning is
	// logged (DOWNLOAD_WARNSIZE). Default: 8MiB. Zero means never.
	DownloadWarnsize int64

	// DownloaderClientTLSCiphers are the numbers of the cipher suites of TLS up
	// to 1.2 (DOWNLOADER_CLIENT_TLS_CIPHERS). Default: none (DEFAULT), for
	// those that package crypto/tls takes for safe.
	DownloaderClientTLSCiphers []uint16

	// DownloaderStats counts requests, responses and failures
	// (DOWNLOADER_STATS). Default: true.
	DownloaderStats bool

	// FeedExportFields are the fields of a feed, in their order
	// (FEED_EXPORT_FIELDS). Default: none, which means those of the items.
	FeedExportFields []string

	// FeedExportIndent is how many blanks a level of JSON or XML is indented
	// by (FEED_EXPORT_INDENT). Default: 0, one item a line.
	FeedExportIndent int

	// HTTP2Enabled speaks HTTP/2 with servers that offer it over TLS
	// (HTTP2_ENABLED). Default: true.
	HTTP2Enabled bool

	// HTTPAuthDomain is the domain that HTTPAuthUser and HTTPAuthPass are sent
	// to, with those below it (HTTPAUTH_DOMAIN). Default: empty, which is an
	// error where a user or password is set. "*" sends them to every site.
	HTTPAuthDomain string

	// HTTPAuthPass is the password of HTTPAuthUser (HTTPAUTH_PASS). Default:
	// empty. It is secret: never logged, never shown.
	HTTPAuthPass string

	// HTTPAuthUser logs in with HTTP's basic authentication (HTTPAUTH_USER).
	// Default: empty, which does not.
	HTTPAuthUser string

	// HTTPCacheAlwaysStore has the policy rfc9111 keep also what tells nothing
	// of its age (HTTPCACHE_ALWAYS_STORE). Default: false.
	HTTPCacheAlwaysStore bool

	// HTTPCacheDir is the folder of the HTTP cache in the blob store, httpcache
	// or one below it (HTTPCACHE_DIR). Default: httpcache.
	HTTPCacheDir string

	// HTTPCacheEnabled keeps answers and gives them again (HTTPCACHE_ENABLED).
	// Default: false.
	HTTPCacheEnabled bool

	// HTTPCacheExpirationSecs is after how long an answer in the cache is void
	// (HTTPCACHE_EXPIRATION_SECS). Default: 0s, never.
	HTTPCacheExpirationSecs time.Duration

	// HTTPCacheGzip packs bodies in the cache (HTTPCACHE_GZIP). Default: false.
	HTTPCacheGzip bool

	// HTTPCacheIgnoreHTTPCodes are the statuses whose answers are not kept
	// (HTTPCACHE_IGNORE_HTTP_CODES). Default: none.
	HTTPCacheIgnoreHTTPCodes []int

	// HTTPCacheIgnoreMissing drops what is not in the cache
	// (HTTPCACHE_IGNORE_MISSING). Default: false.
	HTTPCacheIgnoreMissing bool

	// HTTPCacheIgnoreResponseCacheControls are the directives of answers that
	// the policy rfc9111 overlooks (HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS).
	// Default: none.
	HTTPCacheIgnoreResponseCacheControls []string

	// HTTPCacheIgnoreSchemes are the schemes that pass the cache by
	// (HTTPCACHE_IGNORE_SCHEMES). Default: file.
	HTTPCacheIgnoreSchemes []string

	// HTTPCachePolicy is [Dummy] or [RFC9111] (HTTPCACHE_POLICY). Default:
	// dummy.
	HTTPCachePolicy string

	// HTTPErrorAllowAll hands responses of every status to callbacks
	// (HTTPERROR_ALLOW_ALL). Default: false.
	HTTPErrorAllowAll bool

	// HTTPErrorAllowedCodes are the statuses outside 200 to 299 that are
	// handed to callbacks (HTTPERROR_ALLOWED_CODES). Default: none.
	HTTPErrorAllowedCodes []int

	// HTTPProxyAuthEncoding is what user and password of a proxy are encoded
	// in (HTTPPROXY_AUTH_ENCODING): latin-1 or utf-8. Default: latin-1.
	HTTPProxyAuthEncoding string

	// HTTPProxyEnabled sends requests through proxies (HTTPPROXY_ENABLED).
	// Default: true.
	HTTPProxyEnabled bool

	// HTTPProxyProxies are the proxies of requests that name none, by the
	// scheme of the URL, http or https; "no" are the hosts that need none, as in
	// the environment's no_proxy (HTTPPROXY_PROXIES). Default: {}, which means
	// those of the environment: http_proxy, https_proxy, no_proxy.
	HTTPProxyProxies map[string]string

	// JobMaxDays is how many days a job may last; then it closes with the
	// reason "deadline" (JOB_MAX_DAYS). Default: 14.
	JobMaxDays int

	// LogLevel is the least level that is logged (LOG_LEVEL). Default: INFO;
	// Scrapy's is DEBUG, but a function's log is paid for by its size.
	LogLevel slog.Level

	// LogStatsInterval is the time between two lines of progress where stderr
	// is no terminal (LOGSTATS_INTERVAL). Default: 5s; Scrapy's is 1m. Zero
	// means none.
	LogStatsInterval time.Duration

	// MetaRefreshEnabled follows the meta elements of pages that refresh to
	// another address (METAREFRESH_ENABLED). Default: true.
	MetaRefreshEnabled bool

	// MetaRefreshIgnoreTags are the elements in which such a meta element does
	// not count (METAREFRESH_IGNORE_TAGS). Default: noscript.
	MetaRefreshIgnoreTags []string

	// MetaRefreshMaxDelay is the delay from which on it is not followed
	// (METAREFRESH_MAXDELAY). Default: 1m40s.
	MetaRefreshMaxDelay time.Duration

	// ParseMaxsize is the size of page in bytes above which a page is read by
	// the tokenizer alone (PARSE_MAXSIZE): all links are found, but selectors
	// see the beginning. Default: 4MiB. Zero means no limit by size.
	ParseMaxsize int64

	// RandomizeDownloadDelay varies each delay between 0.5 and 1.5 times its
	// length (RANDOMIZE_DOWNLOAD_DELAY). Default: true.
	RandomizeDownloadDelay bool

	// RedirectDropHeaders are the headers, besides Authorization and Cookie,
	// that a redirect to another origin does not take along
	// (REDIRECT_DROP_HEADERS). Default: X-Api-Key,Proxy-Authorization.
	RedirectDropHeaders []string

	// RedirectEnabled follows redirects (REDIRECT_ENABLED). Default: true.
	RedirectEnabled bool

	// RedirectMaxTimes is how many redirects one chain may have
	// (REDIRECT_MAX_TIMES). Default: 20.
	RedirectMaxTimes int

	// RedirectPriorityAdjust is added to the priority of a redirected request
	// (REDIRECT_PRIORITY_ADJUST). Default: 2.
	RedirectPriorityAdjust int

	// RefererEnabled sends the page that a link was found on
	// (REFERER_ENABLED). Default: true.
	RefererEnabled bool

	// ReferrerPolicy says how much of that page's address is told to whom
	// (REFERRER_POLICY). Default: scrapy-default.
	ReferrerPolicy string

	// RetryDelay is the wait before the first retry, doubled with each
	// further one, with 10 % jitter (RETRY_DELAY). Default: 1s. Scrapy does
	// not wait. A larger Retry-After wins.
	RetryDelay time.Duration

	// RetryEnabled fetches again what failed (RETRY_ENABLED). Default: true.
	RetryEnabled bool

	// RetryExceptions are the reasons of failures that are fetched again
	// (RETRY_EXCEPTIONS). Default: those that may pass,
	// bad-encoding,bad-response,connect,dataloss,dns,proxy,reset,timeout,tls.
	RetryExceptions []string

	// RetryGiveUpLogLevel is the level at which giving up on a request is
	// logged (RETRY_GIVE_UP_LOG_LEVEL). Default: ERROR.
	RetryGiveUpLogLevel slog.Level

	// RetryHTTPCodes are the statuses that are fetched again
	// (RETRY_HTTP_CODES). Default: 500,502,503,504,522,524,408,429.
	RetryHTTPCodes []int

	// RetryMaxDelay is the longest wait before a retry, also where the server
	// asks for more (RETRY_MAX_DELAY). Default: 15m, the longest that SQS
	// holds a message back.
	RetryMaxDelay time.Duration

	// RetryPriorityAdjust is added to the priority of a retried request
	// (RETRY_PRIORITY_ADJUST). Default: -1.
	RetryPriorityAdjust int

	// RetryTimes is how often a request is fetched again after its first
	// attempt failed (RETRY_TIMES). Default: 2, three attempts in all.
	RetryTimes int

	// RobotsTxtObey drops what robots.txt forbids (ROBOTSTXT_OBEY). Default:
	// true, as in Scrapy's project template.
	RobotsTxtObey bool

	// RobotsTxtOnError says what holds while robots.txt cannot be had for
	// 5xx, 429 or time-outs (ROBOTSTXT_ON_ERROR): [Disallow] or [Allow].
	// Default: disallow, as RFC 9309 says; Scrapy allows.
	RobotsTxtOnError string

	// RobotsTxtUserAgent is the name that robots.txt is searched for
	// (ROBOTSTXT_USER_AGENT). Default: empty, which means the request's
	// User-Agent.
	RobotsTxtUserAgent string

	// RobotsTxtWait is how long requests wait for a robots.txt that cannot be
	// had before they are dropped (ROBOTSTXT_WAIT). Default: 1m.
	RobotsTxtWait time.Duration

	// RotatingProxyBackoffBase is how long a proxy that failed is left out at
	// most the first time, doubled with each further one
	// (ROTATING_PROXY_BACKOFF_BASE). Default: 5m.
	RotatingProxyBackoffBase time.Duration

	// RotatingProxyBackoffCap is the most that it is left out
	// (ROTATING_PROXY_BACKOFF_CAP). Default: 1h.
	RotatingProxyBackoffCap time.Duration

	// RotatingProxyBanHTTPCodes are the statuses that say that a site, or the
	// proxy, does not serve us by this proxy (ROTATING_PROXY_BAN_HTTP_CODES).
	// Default: 403,407,429.
	RotatingProxyBanHTTPCodes []int

	// RotatingProxyCloseSpider closes the job with the reason no_proxies once no
	// proxy is left (ROTATING_PROXY_CLOSE_SPIDER). Default: false, which waits
	// until the next one may be tried again.
	RotatingProxyCloseSpider bool

	// RotatingProxyList are proxies of which each request that names none takes
	// one at random (ROTATING_PROXY_LIST). Default: none.
	RotatingProxyList []string

	// RotatingProxyPageRetryTimes is how often a request is tried again through
	// another proxy (ROTATING_PROXY_PAGE_RETRY_TIMES). Default: 5.
	RotatingProxyPageRetryTimes int

	// SlotSlack is how late a turn may be taken: lateness of the process and
	// difference of clocks together (SLOT_SLACK). Default: 50ms.
	SlotSlack time.Duration

	// SlotWait is how long a process waits for a turn before it sends the
	// request away (SLOT_WAIT). Default: 100ms. Waiting is billed.
	SlotWait time.Duration

	// StatsDump logs all stats when the job ends (STATS_DUMP). Default: true.
	StatsDump bool

	// URLLengthLimit is the longest URL that is followed, in bytes
	// (URLLENGTH_LIMIT). Default: 2083, Internet Explorer's limit. Zero means
	// no limit.
	URLLengthLimit int

	// UserAgent is sent where the request has none (USER_AGENT). Default:
	// Skitter/0.1 (+https://github.com/skitterhq/skitter). Empty sends none.
	UserAgent string

	// UserAgents are several to take turns, in place of UserAgent
	// (USER_AGENTS). Default: none.
	UserAgents []string
}
