package casetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// A ca signs the certificates of a network.
type ca struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pool *x509.CertPool
}

var authority = sync.OnceValue(func() *ca {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	a := &ca{key: key, pool: x509.NewCertPool()}
	template := certificateFor("the authority of the cases")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	if a.cert, err = a.sign(template, template, key); err != nil {
		panic(err)
	}
	a.pool.AddCert(a.cert)
	return a
})

func certificateFor(name string) *x509.Certificate {
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		// Virtual time begins in 2000.
		NotBefore: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	if ip := net.ParseIP(name); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{name}
	}
	return c
}

func (a *ca) sign(template, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &a.key.PublicKey, by)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate of a test: %w", err)
	}
	return x509.ParseCertificate(der)
}

// issue makes a good certificate of a name.
func (a *ca) issue(name string) (*tls.Certificate, error) {
	cert, err := a.sign(certificateFor(name), a.cert, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: a.key}, nil
}
