// Package extract takes links and values out of HTML and XML.
//
// Which of the two a page is, [Document.IsXML] tells. Wrong XML is read like
// wrong HTML: what is there is found. Prefixes of namespaces count as they are
// written, and [Document.RemoveNamespaces] takes them off.
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
