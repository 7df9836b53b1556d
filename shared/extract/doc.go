// Package extract takes links and values out of HTML, XML and JSON.
//
// Selectors are CSS, XPath, JMESPath or JSONPath, all of them a [Query]; what
// one of them found can be asked with another ([Selection]).
//
// Whether markup is XML, [Document.IsXML] tells. Wrong XML is read like
// wrong HTML: what is there is found. Prefixes of namespaces count as they are
// written, and [Document.RemoveNamespaces] takes them off.
//
// A [Document] is parsed once, when it is first asked, and everything works on
// that one tree: selectors ([Document.CSS]), links ([LinkExtractor]) and
// goquery ([Document.Goquery]). The encoding of a page is found as browsers
// find it ([DetectEncoding]).
//
// A page is never lost to what stands in it: a page that is too large for a
// parser is read by the tokenizer ([Document.Tokenized]), markup that
// html.Parse refuses is read in another way, a link that is no URL is passed
// over, and an unknown encoding label is ignored. A selector that is wrong is an
// error of the program, and is told ([Selection.Err]).
//
// Which links a crawl admits is left to the scope middlewares; what is sent
// and what is compared, to package weburl.
package extract
