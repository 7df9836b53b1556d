// Package extensions holds the extensions that are shipped, one a file, with
// Scrapy's names, settings and stats.
//
//	LogStats     logs now and then how the job comes along
//	CloseSpider  closes the job at a limit of time, items, pages or errors
//
// An extension whose settings switch it off listens to nothing.
package extensions
