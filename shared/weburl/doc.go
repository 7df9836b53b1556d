// Package weburl reads the URLs of pages as browsers read them, and gives each
// request the identity by which a crawl knows it again.
//
// Parsing and resolving follow the WHATWG URL standard
// (https://url.spec.whatwg.org): what a browser opens is a URL here, byte for
// byte, also where net/url refuses it. The canonical form and the fingerprint
// are Scrapy's.
//
//   - [URL.String] is what is sent: cleaned, but neither sorted nor decoded.
//   - [Canonical] is what is compared: query sorted, escapes made alike,
//     fragment dropped. It is never sent.
//   - [RequestFingerprint] is the dupefilter's key.
//
// http and https URLs, which is nearly all of a page's links, are read by code
// of this package in well under a microsecond; odd hosts and all other schemes
// by the standard's own state machine (github.com/nlnwa/whatwg-url), which
// needs ten. Tests hold the one to the other.
//
// Which schemes, hosts and lengths a crawl admits is left to the scope
// middlewares; finding links and the base URL in a page, to package extract;
// guarding against private addresses, to the dialer.
package weburl
