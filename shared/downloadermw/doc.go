// Package downloadermw holds the downloader middlewares that are shipped, one a
// file, with Scrapy's names, settings, request options and stats.
//
// A project lists those it wants, the nearest to the engine first; the example
// of the package shows the list of a new project. It is Scrapy's order:
//
//	Offsite          drops what leaves the allowed domains
//	Retry            sends what failed again
//	Robots           drops what robots.txt forbids
//	HTTPAuth         logs in with basic authentication
//	DownloadTimeout  fills in the time limit
//	DefaultHeaders   fills in headers
//	UserAgent        fills in the User-Agent
//	MetaRefresh      puts the target in the place of a page that refreshes
//	HTTPCompression  asks for compressed bodies and unpacks them
//	Redirect         puts the target in the place of a redirect
//	Cookies          sends the cookies that the request carries, and takes more
//	HTTPProxy        chooses the proxy
//	DownloaderStats  counts each fetch
//	HTTPCache        answers from the cache, and keeps what comes
//
// save for Retry, which Scrapy has behind UserAgent. Here an error passes only
// the middlewares outside of the one that it arose in, so Retry stands outside
// of Robots: a host whose name does not resolve is tried again, also when it
// was robots.txt that found out.
//
// A middleware whose setting switches it off lets everything through.
//
// What the middlewares decide they say with the verdicts of package crawl;
// sending a request again, now or later, is left to the engine, a turn at the
// host to package slots, and the network to package handlers.
package downloadermw
