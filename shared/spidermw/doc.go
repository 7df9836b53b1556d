// Package spidermw holds the spider middlewares that are shipped, one a file,
// with Scrapy's names, settings and stats.
//
// A project lists those it wants, the nearest to the engine first; the example
// of the package shows the list of a new project. It is Scrapy's order:
//
//	Start      marks the requests of the start
//	HTTPError  keeps responses of other statuses than 200 to 299 from callbacks
//	Referer    tells the page that a link was found on
//	Cookies    hands the cookies of a page on to the requests found on it
//	URLLength  drops requests for long URLs
//	Depth      counts the links from the start, and drops what is too far
//
// A middleware whose setting switches it off does nothing.
package spidermw
