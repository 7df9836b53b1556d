package legs

import "github.com/skitterhq/skitter/shared/spider"

// A Builder is the options of a leg.
type Builder interface {
	// Leg makes the leg. Mistakes in the options are found when it is bound
	// to its spider (spider.NewRegistry).
	Leg() spider.Leg
}

// A Kind is a shipped leg as files name it.
type Kind struct {
	// Name is the leg's name in YAML, which is its own name too where the
	// options give none.
	Name string

	// New returns a pointer to the leg's options, all at their defaults, for
	// a decoder to fill in.
	New func() Builder
}

// Kinds lists the shipped legs, in the order of the documentation.
func Kinds() []Kind {
	return []Kind{
		{nameRegexLinks, func() Builder { return new(RegexLinks) }},
		{nameCallbackRules, func() Builder { return new(CallbackRules) }},
		{nameCanonicalize, func() Builder { return new(Canonicalize) }},
		{nameItemID, func() Builder { return new(ItemID) }},
		{namePagination, func() Builder { return new(Pagination) }},
		{nameFields, func() Builder { return new(Fields) }},
		{nameCrawlRules, func() Builder { return new(CrawlRules) }},
		{nameSitemap, func() Builder { return new(Sitemap) }},
		{nameFeedLinks, func() Builder { return new(FeedLinks) }},
		{nameXMLFeed, func() Builder { return new(XMLFeed) }},
		{nameCSVFeed, func() Builder { return new(CSVFeed) }},
	}
}
