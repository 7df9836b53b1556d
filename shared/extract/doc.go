// Package extract takes links and values out of HTML.
//
// For now every page is read as HTML, also one that is XML or JSON. Of XML that
// is enough where no element has a name that HTML knows: the <link> of an RSS
// feed is void in HTML, so its text stands behind it and not in it. Until XML is
// read as such, take a feed apart with encoding/xml and [Document.UTF8].
//
// A [Document] is parsed once, when it is first asked, and everything works on
// that one tree: selectors ([Document.CSS]), links ([LinkExtractor]) and
// goquery ([Document.Goquery]). The encoding of a page is found as browsers
// find it ([DetectEncoding]).
//
// A page is never lost to what stands in it: markup that html.Parse refuses is
// read in another way, a link that is no URL is passed over, and an unknown
// encoding label is ignored. A selector that is wrong is an error of the
// program, and is told ([Selection.Err]).
//
// Which links a crawl admits is left to the scope middlewares; what is sent
// and what is compared, to package weburl.
package extract
