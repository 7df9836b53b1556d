package handlers

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"sync"

	"github.com/skitterhq/skitter/shared/settings"
)

const (
	tlsSessions = 256 // TLS sessions that are remembered, for a shorter handshake
	tlsConfigs  = 32  // sets of TLS settings that a process remembers sessions of
)

// tlsSettings are what connections of TLS must have in common to be used for
// each other's requests.
type tlsSettings struct {
	verify   bool
	min, max uint16
	ciphers  string // their numbers, as text
	http2    bool
}

// tlsTable holds what the sets of settings of a process became. It is bounded:
// jobs of a process are few, but may each differ.
type tlsTable struct {
	roots *x509.CertPool

	mu      sync.Mutex
	configs map[tlsSettings]*tls.Config
}

// of returns the configuration of a job, without a server's name.
func (t *tlsTable) of(s settings.Settings) (tlsSettings, *tls.Config) {
	key := tlsSettings{
		verify: s.DownloadVerifyCertificates, min: s.DownloadTLSMinVersion, max: s.DownloadTLSMaxVersion,
		ciphers: fmt.Sprint(s.DownloaderClientTLSCiphers), http2: s.HTTP2Enabled,
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	config := t.configs[key]
	if config == nil {
		if len(t.configs) >= tlsConfigs {
			clear(t.configs)
		}
		config = newTLS(s, t.roots)
		if t.configs == nil {
			t.configs = make(map[tlsSettings]*tls.Config)
		}
		t.configs[key] = config
	}
	return key, config
}

func newTLS(s settings.Settings, roots *x509.CertPool) *tls.Config {
	config := &tls.Config{
		RootCAs:      roots,
		MinVersion:   s.DownloadTLSMinVersion,
		MaxVersion:   s.DownloadTLSMaxVersion,
		CipherSuites: s.DownloaderClientTLSCiphers,
		NextProtos:   []string{"h2", "http/1.1"},
		// Some old servers ask for a client's certificate only once they
		// know the path, by renegotiating.
		Renegotiation:      tls.RenegotiateOnceAsClient,
		ClientSessionCache: tls.NewLRUClientSessionCache(tlsSessions),
	}
	if !s.HTTP2Enabled {
		config.NextProtos = config.NextProtos[1:]
	}
	if s.DownloadVerifyCertificates {
		return config
	}
	// Servers without a good certificate are likely to have old versions and
	// ciphers too.
	config.InsecureSkipVerify = true
	if config.MinVersion == 0 {
		config.MinVersion = tls.VersionTLS10
	}
	if config.CipherSuites == nil {
		config.CipherSuites = settings.AllCiphers()
	}
	return config
}

// forProxy is the configuration for the way to a proxy: it speaks HTTP/1 there.
func forProxy(config *tls.Config) *tls.Config {
	config = config.Clone()
	config.NextProtos = []string{"http/1.1"}
	return config
}
