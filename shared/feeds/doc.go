// Package feeds writes items to files: JSON Lines, JSON and CSV.
//
// An [Exporter] is one format, with the semantics of Scrapy's exporter of that
// name; it writes as the items come and holds none of them. [Deliver] writes a
// whole feed to a file of this machine so that the file has all of it or
// nothing, whatever happens on the way, and so that delivering it again does
// nothing more; [Restore] does it again on purpose. [Check] tells early, before a crawl, what would make that fail.
//
// Which items a feed consists of is the engine's business.
package feeds
