package handlers

import (
	"fmt"
	"net/netip"
	"strings"
)

// A Guard lets requests go to the public internet only: no address of the
// machine, of its network or of the cloud's services for it (metadata,
// credentials, the Lambda Runtime API). Its method [Guard.Check] is for
// [Options]: there it sees the address itself, after the name was resolved and
// for each connection, so that no spelling, name or redirect leads round it.
//
// The zero value is good. It is safe for concurrent use.
type Guard struct {
	// Allow are networks that are let pass although they are not public, as
	// for crawling one's own machine. See [ParseNetworks].
	Allow []netip.Prefix

	// Forbid are refused always, even inside Allow. The port of a loopback
	// address is refused on every address of the loopback network, and on
	// the unspecified one: what listens there may listen on all of them.
	Forbid []netip.AddrPort
}

// Check returns an error that says what kind of address addr is, if no request
// may go there. An IPv6 address that holds an IPv4 one is judged by that.
func (g *Guard) Check(addr netip.AddrPort) error {
	ip := plain(addr.Addr())
	if !ip.IsValid() {
		return fmt.Errorf("address %q is none", addr.String())
	}
	inner := translated(ip)
	for _, f := range g.Forbid {
		if f.Port() == addr.Port() && (sameHost(plain(f.Addr()), ip) || sameHost(plain(f.Addr()), inner)) {
			return fmt.Errorf("address %s is forbidden to every request", addr)
		}
	}
	if within(g.Allow, ip) {
		return nil
	}
	kind := special(ip)
	if inner != ip {
		if within(g.Allow, inner) {
			return nil
		}
		kind = special(inner)
	}
	if kind != "" {
		return fmt.Errorf("address %s is not of the public internet: %s", addr.Addr(), kind)
	}
	return nil
}

// CheckProxy is [Guard.Check] for the address of a proxy that a request goes
// through. Who runs the crawl has chosen it, so it may stand in a network of
// one's own; what is forbidden to every request is so to proxies.
func (g *Guard) CheckProxy(addr netip.AddrPort) error {
	return (&Guard{Allow: everywhere, Forbid: g.Forbid}).Check(addr)
}

var everywhere = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// plain is an address without its zone, and the IPv4 address that an
// IPv4-mapped one means.
func plain(ip netip.Addr) netip.Addr { return ip.WithZone("").Unmap() }

// nat64 is the well-known prefix that a NAT64 gateway makes an IPv4 connection
// of: it is how a subnet without IPv4 reaches public IPv4 servers. Source: RFC
// 6052, section 2.1; Amazon VPC User Guide, "DNS64 and NAT64".
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// translated is the IPv4 address that a NAT64 gateway makes of ip, else ip.
func translated(ip netip.Addr) netip.Addr {
	if !nat64.Contains(ip) {
		return ip
	}
	b := ip.As16()
	return netip.AddrFrom4([4]byte(b[12:]))
}

// sameHost reports whether who listens on a may be reached by b.
func sameHost(a, b netip.Addr) bool {
	own := func(ip netip.Addr) bool { return ip.IsLoopback() || ip.IsUnspecified() }
	return a == b || own(a) && own(b)
}

func within(networks []netip.Prefix, ip netip.Addr) bool {
	for _, n := range networks {
		if n.Contains(ip) {
			return true
		}
	}
	return false
}

// special says what kind of address ip is, "" if it is one of the public
// internet.
func special(ip netip.Addr) string {
	for _, n := range specials {
		if n.prefix.Contains(ip) {
			return n.kind
		}
	}
	if ip.Is6() && !globalUnicast.Contains(ip) {
		return "outside of IPv6's global unicast space"
	}
	return ""
}

// globalUnicast is all that is given out for IPv6; what stands outside is
// local, reserved or history. Source: IANA, "Internet Protocol Version 6
// Address Space"; RFC 4291, section 2.4.
var globalUnicast = netip.MustParsePrefix("2000::/3")

type network struct {
	prefix netip.Prefix
	kind   string
}

// specials are the networks that are not of the public internet, with those
// that carry packets to an IPv4 address inside (6to4, Teredo), whose relays
// are gone. Sources: IANA's special-purpose address registries for IPv4 and
// IPv6 (RFC 6890), as of 2026; RFC 5771 and RFC 4291 for multicast; Amazon EC2
// User Guide, "Instance metadata".
var specials = []network{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network (RFC 791)"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private (RFC 1918)"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared by carriers (RFC 6598)"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback (RFC 1122)"},
	// The metadata of EC2 is at 169.254.169.254, a task's credentials are at
	// 169.254.170.2.
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local (RFC 3927)"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private (RFC 1918)"},
	{netip.MustParsePrefix("192.0.0.0/24"), "protocol assignments (RFC 6890)"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation (RFC 5737)"},
	{netip.MustParsePrefix("192.31.196.0/24"), "AS112 (RFC 7535)"},
	{netip.MustParsePrefix("192.52.193.0/24"), "automatic multicast tunneling (RFC 7450)"},
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relays (RFC 7526)"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private (RFC 1918)"},
	{netip.MustParsePrefix("192.175.48.0/24"), "AS112 (RFC 7534)"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking (RFC 2544)"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation (RFC 5737)"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation (RFC 5737)"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast (RFC 5771)"},
	{netip.MustParsePrefix("255.255.255.255/32"), "broadcast (RFC 8190)"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved (RFC 1112)"},

	{netip.MustParsePrefix("::/128"), "unspecified (RFC 4291)"},
	{netip.MustParsePrefix("::1/128"), "loopback (RFC 4291)"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "local translation (RFC 8215)"},
	{netip.MustParsePrefix("100::/64"), "discard (RFC 6666)"},
	// Teredo, benchmarking and the overlays of ORCHID are part of it.
	{netip.MustParsePrefix("2001::/23"), "protocol assignments (RFC 2928)"},
	{netip.MustParsePrefix("2001:db8::/32"), "documentation (RFC 3849)"},
	{netip.MustParsePrefix("2002::/16"), "6to4 (RFC 3056)"},
	{netip.MustParsePrefix("2620:4f:8000::/48"), "AS112 (RFC 7534)"},
	{netip.MustParsePrefix("3fff::/20"), "documentation (RFC 9637)"},
	// The metadata of EC2 is at fd00:ec2::254 too.
	{netip.MustParsePrefix("fc00::/7"), "unique local (RFC 4193)"},
	{netip.MustParsePrefix("fe80::/10"), "link-local (RFC 4291)"},
	{netip.MustParsePrefix("fec0::/10"), "site-local (RFC 3879)"},
	{netip.MustParsePrefix("ff00::/8"), "multicast (RFC 4291)"},
}

// ParseNetworks reads a list of networks with commas between, such as
// "127.0.0.0/8, ::1/128"; an address without length is a network of one. An
// empty list has none.
func ParseNetworks(list string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for field := range strings.SplitSeq(list, ",") {
		field = strings.TrimSpace(field)
		if field == "" {
			continue
		}
		n, err := parseNetwork(field)
		if err != nil {
			return nil, fmt.Errorf("read the network %q: %w", field, err)
		}
		networks = append(networks, n)
	}
	return networks, nil
}

func parseNetwork(field string) (netip.Prefix, error) {
	if !strings.Contains(field, "/") {
		ip, err := netip.ParseAddr(field)
		if err != nil {
			return netip.Prefix{}, err
		}
		if ip.Zone() != "" {
			return netip.Prefix{}, fmt.Errorf("a network has no zone")
		}
		ip = ip.Unmap()
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	n, err := netip.ParsePrefix(field)
	if err != nil {
		return netip.Prefix{}, err
	}
	if n.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("write the IPv4 network in IPv4's own way")
	}
	return n.Masked(), nil
}
