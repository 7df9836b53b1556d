// Package crawl holds the nouns that every other package speaks of (a
// request, a response, an item, a job, a unit of work) and the verdicts that
// decide what becomes of a message.
//
// It holds data and no behaviour beyond what keeps that data whole: fetching
// is the business of package downloader, reading pages that of package spider,
// and keeping work that of packages frontier and scheduler.
package crawl
