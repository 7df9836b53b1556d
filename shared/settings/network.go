package settings

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"strings"
)

// tlsVersions are the versions of TLS by their names, the oldest first.
var tlsVersions = [...]struct {
	name  string
	value uint16
}{
	{"TLSv1.0", tls.VersionTLS10}, {"TLSv1.1", tls.VersionTLS11}, {"TLSv1.2", tls.VersionTLS12}, {"TLSv1.3", tls.VersionTLS13},
}

// tlsVersion is a version of TLS, 0 where none is named. "TLSv1" is 1.0, as in
// OpenSSL.
func tlsVersion() kind[uint16] {
	return kind[uint16]{
		unit: "word",
		want: "one of TLSv1.0, TLSv1.1, TLSv1.2, TLSv1.3, or empty",
		read: func(v any) (uint16, bool) {
			if v == nil {
				return 0, true
			}
			if n, ok := v.(uint16); ok {
				return n, n == 0 || versionName(n) != ""
			}
			s := strings.TrimSpace(fmt.Sprint(v))
			number := strings.TrimPrefix(strings.ToUpper(s), "TLSV")
			if number == "1" {
				number = "1.0"
			}
			for _, version := range tlsVersions {
				if number == strings.TrimPrefix(version.name, "TLSv") {
					return version.value, true
				}
			}
			return 0, s == ""
		},
		write: versionName,
	}
}

func versionName(n uint16) string {
	for _, version := range tlsVersions {
		if version.value == n {
			return version.name
		}
	}
	return ""
}

// AllCiphers are the cipher suites that there are, those too that are no longer
// safe.
func AllCiphers() []uint16 {
	var ids []uint16
	for _, s := range knownCiphers() {
		ids = append(ids, s.ID)
	}
	return ids
}

func knownCiphers() []*tls.CipherSuite {
	return append(tls.CipherSuites(), tls.InsecureCipherSuites()...)
}

// ciphers is a list of cipher suites, nil for those by default.
func ciphers() kind[[]uint16] {
	known := knownCiphers()
	names := make([]string, len(known))
	for n, s := range known {
		names[n] = s.Name
	}
	return kind[[]uint16]{
		unit: "list",
		want: "DEFAULT, ALL, or a list with colons or commas of " + strings.Join(names, ", "),
		read: func(v any) ([]uint16, bool) {
			if ids, ok := v.([]uint16); ok {
				return ids, true
			}
			s, ok := joined(v)
			switch strings.ToUpper(s) {
			case "", "DEFAULT":
				return nil, ok
			case "ALL":
				return AllCiphers(), true
			}
			var ids []uint16
			for name := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ':' || r == ',' }) {
				id := cipherOf(known, strings.TrimSpace(name))
				if id == 0 {
					return nil, false
				}
				ids = append(ids, id)
			}
			return ids, ok && len(ids) > 0
		},
		write: func(ids []uint16) string {
			if len(ids) == 0 {
				return "DEFAULT"
			}
			parts := make([]string, len(ids))
			for n, id := range ids {
				parts[n] = tls.CipherSuiteName(id)
			}
			return strings.Join(parts, ":")
		},
	}
}

// joined is a text, or the texts of a list with colons between them.
func joined(v any) (string, bool) {
	list, isList := v.([]any)
	if !isList {
		return text().read(v)
	}
	parts := make([]string, len(list))
	for n, part := range list {
		s, ok := part.(string)
		if !ok {
			return "", false
		}
		parts[n] = s
	}
	return strings.Join(parts, ":"), true
}

func cipherOf(known []*tls.CipherSuite, name string) uint16 {
	for _, s := range known {
		if strings.EqualFold(s.Name, name) {
			return s.ID
		}
	}
	return 0
}

// address is an IP address, the zero value where none is named.
func address() kind[netip.Addr] {
	return kind[netip.Addr]{
		unit: "IP address",
		want: "an IP address, or empty",
		read: func(v any) (netip.Addr, bool) {
			if v == nil {
				return netip.Addr{}, true
			}
			if addr, ok := v.(netip.Addr); ok {
				return addr.Unmap(), true
			}
			s := strings.TrimSpace(fmt.Sprint(v))
			if s == "" {
				return netip.Addr{}, true
			}
			addr, err := netip.ParseAddr(s)
			return addr.Unmap(), err == nil
		},
		write: func(addr netip.Addr) string {
			if !addr.IsValid() {
				return ""
			}
			return addr.String()
		},
	}
}

// checkTogether finds settings that are good alone but not with each other.
func (s *Settings) checkTogether() error {
	if oldest, newest := s.DownloadTLSMinVersion, s.DownloadTLSMaxVersion; newest != 0 && oldest > newest {
		return fmt.Errorf("settings DOWNLOAD_TLS_MIN_VERSION and DOWNLOAD_TLS_MAX_VERSION: %s is above %s",
			versionName(oldest), versionName(newest))
	}
	return nil
}
