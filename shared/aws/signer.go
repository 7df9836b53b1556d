package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
)

// A Signer signs requests to S3 with Signature Version 4. It reads region and
// credentials when it is first asked, from where AWS's own tools do:
// environment, profile, or the machine's role.
type Signer struct {
	load   func() (awssdk.Config, error)
	now    func() time.Time
	signer *v4.Signer
}

// NewSigner returns a signer. It reads nothing yet.
func NewSigner(now func() time.Time) *Signer {
	return SignerOf(func(ctx context.Context) (awssdk.Config, error) { return config.LoadDefaultConfig(ctx) }, now)
}

// SignerOf returns a signer with a configuration that is loaded when it is
// first asked.
func SignerOf(load func(context.Context) (awssdk.Config, error), now func() time.Time) *Signer {
	return &Signer{
		// What one request's context ends must not be the answer to the others.
		load: sync.OnceValues(func() (awssdk.Config, error) { return load(context.Background()) }),
		now:  now,
		signer: v4.NewSigner(func(o *v4.SignerOptions) {
			o.DisableURIPathEscaping = true // S3 signs the path as it is sent
		}),
	}
}

// Region is the configured region. There is no default.
func (s *Signer) Region(context.Context) (string, error) {
	cfg, err := s.load()
	if err != nil {
		return "", fmt.Errorf("AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		return "", errors.New("AWS configuration: no region; set AWS_REGION_NAME")
	}
	return cfg.Region, nil
}

// Sign returns a request's headers with those of its signature. Host, Range and
// the headers of AWS itself are signed; what a proxy may change is not.
func (s *Signer) Sign(ctx context.Context, method, address, region string, headers http.Header, body []byte) (http.Header, error) {
	cfg, err := s.load()
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	if cfg.Credentials == nil {
		return nil, errors.New("AWS configuration: no credentials")
	}
	credentials, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("AWS credentials: %w", err)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address cannot be signed")
	}
	signed := headers.Clone()
	if signed == nil {
		signed = http.Header{}
	}
	signed.Del("Authorization")
	signed.Del("Cookie") // of a host, which a bucket is not
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	signed.Set("X-Amz-Content-Sha256", hash)

	r := &http.Request{Method: method, URL: u, Host: u.Host, Header: http.Header{}}
	for name, values := range signed {
		if name == "Range" || strings.HasPrefix(name, "X-Amz-") {
			r.Header[name] = slices.Clone(values)
		}
	}
	if err := s.signer.SignHTTP(ctx, credentials, r, hash, "s3", region, s.now()); err != nil {
		return nil, fmt.Errorf("signing for S3: %w", err)
	}
	maps.Copy(signed, r.Header)
	return signed, nil
}
