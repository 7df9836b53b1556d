package crawl

import "time"

// NoProxy as a request's Proxy sends it to the server itself, whatever the
// settings say.
const NoProxy = "none"

// Options are what a spider may ask of the framework for one request. The
// zero value asks for nothing: the job's settings hold.
type Options struct {
	// DownloadTimeout limits connecting and reading together. Zero means
	// DOWNLOAD_TIMEOUT.
	DownloadTimeout time.Duration `json:"download_timeout,omitempty"`

	// DownloadMaxsize limits the body in bytes, before and after
	// decompression. Zero means DOWNLOAD_MAXSIZE, less than zero no limit.
	DownloadMaxsize int64 `json:"download_maxsize,omitempty"`

	// DownloadWarnsize is the body size in bytes above which a warning is
	// logged. Zero means DOWNLOAD_WARNSIZE, less than zero never.
	DownloadWarnsize int64 `json:"download_warnsize,omitempty"`

	// DownloadFailOnDataloss replaces DOWNLOAD_FAIL_ON_DATALOSS where it is
	// set.
	DownloadFailOnDataloss *bool `json:"download_fail_on_dataloss,omitempty"`

	// DownloadHandler names the handler that fetches the request, one of the
	// project's. Empty means the one of the URL's scheme.
	DownloadHandler string `json:"download_handler,omitempty"`

	// BindAddress is the local IP address that the request is sent from. Empty
	// means DOWNLOAD_BIND_ADDRESS.
	BindAddress string `json:"bindaddress,omitempty"`

	// Proxy is the URL of the proxy that the request goes through, with user
	// and password if it wants them. Empty means what the settings say,
	// [NoProxy] none at all.
	Proxy string `json:"proxy,omitempty"`

	// DownloadSlot names the slot whose turns the request takes. Empty means
	// the host.
	DownloadSlot string `json:"download_slot,omitempty"`

	// DontRetry gives up at the first failure.
	DontRetry bool `json:"dont_retry,omitempty"`

	// MaxRetryTimes replaces RETRY_TIMES where it is set.
	MaxRetryTimes *int `json:"max_retry_times,omitempty"`

	// PriorityAdjust replaces RETRY_PRIORITY_ADJUST where it is set.
	PriorityAdjust *int `json:"priority_adjust,omitempty"`

	// GiveUpLogLevel replaces RETRY_GIVE_UP_LOG_LEVEL where it is set: DEBUG,
	// INFO, WARN or ERROR.
	GiveUpLogLevel string `json:"give_up_log_level,omitempty"`

	// HTTPUser and HTTPPass replace HTTPAUTH_USER and HTTPAUTH_PASS, and
	// HTTPAuthDomain replaces HTTPAUTH_DOMAIN, where one of the two is set.
	HTTPUser       string `json:"http_user,omitempty"`
	HTTPPass       string `json:"http_pass,omitempty"`
	HTTPAuthDomain string `json:"http_auth_domain,omitempty"`

	// CookieJar names the jar whose cookies are sent and which takes those
	// that come back. Empty is a name too. It is not inherited by the requests
	// that are found on the page.
	CookieJar string `json:"cookiejar,omitempty"`

	// DontMergeCookies neither sends cookies of the jar nor takes any.
	DontMergeCookies bool `json:"dont_merge_cookies,omitempty"`

	// DontCache fetches past the HTTP cache and keeps nothing in it.
	DontCache bool `json:"dont_cache,omitempty"`

	// DontRedirect hands a redirect to the callback instead of following it.
	DontRedirect bool `json:"dont_redirect,omitempty"`

	// HandleStatusList names the statuses outside 200 to 299 that the
	// callback wants to see.
	HandleStatusList []int `json:"handle_httpstatus_list,omitempty"`

	// HandleStatusAll lets the callback see every status.
	HandleStatusAll bool `json:"handle_httpstatus_all,omitempty"`

	// AllowOffsite lets the request leave the spider's allowed domains.
	AllowOffsite bool `json:"allow_offsite,omitempty"`

	// AllowScheme lets a request that is found on a page of the web name
	// something else than http, https and data: a file of this machine, an
	// object of S3, a scheme of the project's own.
	AllowScheme bool `json:"allow_scheme,omitempty"`

	// DontObeyRobotsTxt fetches what robots.txt forbids.
	DontObeyRobotsTxt bool `json:"dont_obey_robotstxt,omitempty"`

	// ReferrerPolicy says how much of the page that the request is found on
	// it tells, by a name that REFERRER_POLICY may have. Empty means what the
	// page's Referrer-Policy says, else REFERRER_POLICY.
	ReferrerPolicy string `json:"referrer_policy,omitempty"`

	// DepthReset gives the request depth 0, as if it were a start request.
	// The middleware Depth clears it.
	DepthReset bool `json:"depth_reset,omitempty"`
}
