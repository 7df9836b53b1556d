// Package cookies keeps the cookies that travel with a request, in named jars
// inside one string (Progress.Jars of package crawl).
//
// It reads Set-Cookie and chooses what a request sends as browsers do: RFC
// 6265, and draft-ietf-httpbis-rfc6265bis where browsers have moved on (cookies
// without a name, the prefixes __Host- and __Secure-, secure cookies that plain
// http cannot overwrite, a lifetime of 400 days at most). SameSite is not
// looked at: whatever a crawler asks for, it asks for itself, as a person does
// who types an address.
//
// The order of the cookies is that in which they were made; when each was used
// is not kept, so that sending cookies changes nothing. A cookie that the server
// sets again with the same value and much the same life leaves the string as it
// is, so requests of one session mostly share one string.
//
// What a job does with it is left to downloadermw.Cookies; how the string
// travels, to the scheduler. [RFC 6265]: https://www.rfc-editor.org/rfc/rfc6265
package cookies
