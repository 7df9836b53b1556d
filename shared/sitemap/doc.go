// Package sitemap reads sitemaps (sitemaps.org/protocol.html): lists of URLs in
// XML, indexes of other sitemaps, lists in plain text, and RSS and Atom feeds,
// which sites give as sitemaps, too. Packed ones are told by their first bytes,
// whatever their name and headers say.
//
// Entries come one after the other and are not kept, so a file of 50,000 takes
// no more memory than one of ten. XML is read as package xmltoken does it: by
// local names, whatever the namespaces, and a fault loses nothing but the entry
// that it stands in. A file that was cut gives the entries so far, and an error.
//
// Sitemap lines of robots.txt are found by package robots; following them is
// for the leg of package legs.
package sitemap
