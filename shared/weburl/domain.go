package weburl

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// RegisteredDomain returns the part of a hostname that someone registered: the
// public suffix and one label, as in "example.co.uk" for "www.example.co.uk".
// It is in lower case and punycode. Suffixes under which companies let others
// have names count as public: a.github.io and b.github.io are two domains.
//
// A host that has no such part is its own domain: an IP address, a single
// label, a public suffix itself, and what is no hostname. host has no port.
//
// The list is that of golang.org/x/net/publicsuffix.
func RegisteredDomain(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if _, err := netip.ParseAddr(bare); err == nil {
		return host
	}
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host
	}
	return domain
}
