// Package legs has the legs that are shipped: the small, tested parts of which
// spiders are made (Scrapy's SEP-016, with the generic spiders of Scrapy as
// legs). The contract is spider.Leg.
//
// Each leg is a struct of options, whose method Leg makes the leg:
//
//	spider.Spider{
//		Name:      "shop",
//		StartURLs: []string{"https://shop.example/"},
//		Legs: []spider.Leg{
//			legs.RegexLinks{LinkOptions: extract.LinkOptions{Allow: []string{`/product\.php\?`}}}.Leg(),
//			legs.ItemID{IDField: "guid", IDFieldsToHash: []string{"supplier", "sku"}}.Leg(),
//		},
//	}
//
// The options have Scrapy's names, and in JSON and YAML they are written in
// small letters with underscores (see [Kinds]). A mistake in an option is an
// error of spider.NewRegistry, which names the leg and the option: regular
// expressions and selectors are compiled there, and callbacks are looked up.
//
// A leg value holds options and nothing else, so one value serves any number of
// spiders. Legs see the page at hand and no other: filtering duplicates is left
// to the scheduler, what holds for all spiders to spider middlewares.
package legs
