// Package loader makes items of what stands on a page: Scrapy's item loaders.
//
// A [Spec] says once what is done with each field: an input [Processor] for
// every value that is added, an output processor for all of them together when
// the item is made. [For] checks it against the type of the item, a struct or a
// [crawl.Item], and gives a [Type]. [Type.New] begins an item, the Add methods
// of [Loader] take values by selector or as they are, and [Loader.Load] gives
// the item.
//
// Numbers keep their digits. What comes out of JSON stays a json.Number,
// [ToInt], [ToFloat] and [Price] give a json.Number, and an integer goes into a
// struct's field without passing a float.
//
// The differences from Scrapy's loaders: a struct's field that holds one value
// takes the first by default; processors of one value work on each value of a
// list, so MapCompose is seldom needed; 0 and false are values, and stored.
//
// What selectors find is the business of package extract; what becomes of the
// item, of package pipeline.
package loader
