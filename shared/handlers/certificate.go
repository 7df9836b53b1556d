package handlers

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"

	"github.com/skitterhq/skitter/shared/crawl"
)

// certificate is what a server showed of itself, nil if it showed nothing.
func certificate(state tls.ConnectionState) *crawl.Certificate {
	if len(state.PeerCertificates) == 0 {
		return nil
	}
	leaf := state.PeerCertificates[0]
	sum := sha256.Sum256(leaf.Raw)
	return &crawl.Certificate{
		Subject: leaf.Subject.String(), Issuer: leaf.Issuer.String(),
		NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter,
		SHA256: hex.EncodeToString(sum[:]),
	}
}
