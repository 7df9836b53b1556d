package weburl

import (
	"net/url"
	"strings"
)

// NetURL returns u for an http.Request, so that net/http sends exactly
// [URL.RequestTarget] in the request line and [URL.Host] in the Host header.
// net/url refuses or rewrites some URLs that browsers send as they are
// ("/100%"); for them the path goes into Opaque.
//
// One case is sent in absolute form, which servers must take (RFC 9112, 3.2.2):
// a path that starts with "//" and that net/url would rewrite.
//
// User and password are left out; a request carries them as an Authorization
// header or not at all. So is the fragment.
func (u URL) NetURL() *url.URL {
	n := &url.URL{
		Scheme:     u.Scheme(),
		Host:       u.Host(),
		RawQuery:   u.Query(),
		ForceQuery: u.hasQuery() && u.Query() == "",
	}
	path := u.Path()
	if !u.hasAuthority() {
		n.Opaque = path
		return n
	}
	if plain, err := url.PathUnescape(path); err == nil {
		n.Path = plain
		if n.EscapedPath() != path {
			n.RawPath = path
		}
		if n.EscapedPath() == path {
			return n
		}
	}
	n.Path, n.RawPath, n.Opaque = "", "", path
	if strings.HasPrefix(path, "//") {
		n.Opaque = "//" + n.Host + path
	}
	return n
}

// ProxyNetURL is NetURL for a request that goes to an HTTP proxy. net/http does
// not write Opaque in the absolute form that a proxy needs, so it is written
// here. An https request goes through the proxy as a tunnel and needs nothing.
func (u URL) ProxyNetURL() *url.URL {
	n := u.NetURL()
	if n.Scheme == "http" && strings.HasPrefix(n.Opaque, "/") {
		n.Opaque = "//" + n.Host + u.Path()
	}
	return n
}
