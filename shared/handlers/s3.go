package handlers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A Signer signs requests to S3 with the credentials that the process has.
// Package aws has one. It is safe for concurrent use.
type Signer interface {
	// Region is the region that credentials are configured for.
	Region(ctx context.Context) (string, error)
	// Sign returns the headers that make a request a signed one.
	Sign(ctx context.Context, method, url, region string, headers http.Header, body []byte) (http.Header, error)
}

// S3 fetches s3://BUCKET/KEY from S3's own address of the bucket over https, by
// way of web; a query, as in ?versionId=…, goes along. The key is written as in
// a URL: %3F for a question mark, %25 for a percent sign.
//
// Requests are anonymous, so objects that anybody may read are read, unless
// AWS_SIGN_REQUESTS has them signed (Signature Version 4): signer must then be
// there. Settings: AWS_SIGN_REQUESTS, AWS_REGION_NAME, AWS_ENDPOINT_URL.
//
// The response's URL is the https one that answered. What is no bucket and key
// fails as "bad-url", credentials that cannot be had as "credentials".
func S3(s settings.Settings, web downloader.Handler, signer Signer) (downloader.Handler, error) {
	h := &s3{web: web, region: s.AWSRegionName}
	if s.AWSSignRequests {
		if h.signer = signer; signer == nil {
			return nil, errors.New("setting AWS_SIGN_REQUESTS: there are no credentials of AWS here")
		}
	}
	if s.AWSEndpointURL == "" {
		return h, nil
	}
	endpoint, err := weburl.Parse(s.AWSEndpointURL)
	if err != nil || endpoint.Scheme() != "http" && endpoint.Scheme() != "https" || endpoint.RequestTarget() != "/" {
		return nil, errors.New("setting AWS_ENDPOINT_URL: want the address of a service, as in https://s3.example.com or http://127.0.0.1:4566")
	}
	if user, _ := endpoint.User(); user != "" {
		return nil, errors.New("setting AWS_ENDPOINT_URL: no user or password belongs in it")
	}
	if h.signer != nil && endpoint.Scheme() == "http" && !isLoopback(endpoint.Hostname()) {
		return nil, errors.New("setting AWS_ENDPOINT_URL: with AWS_SIGN_REQUESTS it is one of https, or of this machine, since whoever reads a signed request can repeat it")
	}
	h.endpoint = strings.TrimSuffix(endpoint.String(), "/")
	return h, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

type s3 struct {
	web      downloader.Handler
	signer   Signer // nil signs nothing
	region   string // "" is not known
	endpoint string // "" is AWS
}

func (h *s3) Fetch(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
	inner := req.Clone()
	inner.DontObeyRobotsTxt = true // an API has no robots.txt, nor its delay
	region := h.region
	var err error
	if h.signer != nil && region == "" {
		if region, err = h.signer.Region(ctx); err != nil {
			return nil, h.unsigned(ctx, req, err)
		}
	}
	if inner.URL, err = h.address(req.URL, region); err != nil {
		return nil, failure(req, ReasonBadURL, err)
	}
	if h.signer != nil {
		signed, err := h.signer.Sign(ctx, inner.HTTPMethod(), inner.URL, region, inner.Headers, inner.Body)
		if err != nil {
			return nil, h.unsigned(ctx, req, err)
		}
		inner.Headers = signed
	}
	resp, err := h.web.Fetch(ctx, inner)
	var failed *crawl.Failure
	if errors.As(err, &failed) {
		failed.Request = req
	}
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// unsigned is the failure of a request that could not be signed.
func (h *s3) unsigned(ctx context.Context, req *crawl.Request, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("signing a request to S3: %w", ctx.Err())
	}
	return failure(req, ReasonCredentials, err)
}

// address is the https URL of an object. The bucket is the host, as AWS wants
// it, but where its name is none that a certificate of AWS holds for, or at
// somebody else's endpoint, the first part of the path.
func (h *s3) address(raw, region string) (string, error) {
	u, err := weburl.Parse(raw)
	if err != nil {
		return "", err
	}
	bucket := u.Host()
	if user, _ := u.User(); user != "" {
		return "", errors.New("want s3://BUCKET/KEY: no credentials belong in it")
	}
	if !isBucket(bucket) {
		return "", errors.New("want s3://BUCKET/KEY: a bucket's name has 3 to 255 letters, digits, dots, hyphens and underscores")
	}
	key := strings.TrimPrefix(u.Path(), "/")
	if key == "" {
		return "", errors.New("want s3://BUCKET/KEY: there is no key")
	}
	path := objectPath(key)
	if query := u.Query(); query != "" {
		path += "?" + query
	}
	switch {
	case h.endpoint != "":
		return h.endpoint + "/" + bucket + "/" + path, nil
	case isHostLabel(bucket):
		return "https://" + bucket + "." + awsHost(region) + "/" + path, nil
	}
	return "https://" + awsHost(region) + "/" + bucket + "/" + path, nil
}

// awsHost is S3's host in a region; without one it is that of the whole world,
// which sends on to where the bucket is. Source: AWS General Reference, "Amazon
// S3 endpoints and quotas".
func awsHost(region string) string {
	switch {
	case region == "":
		return "s3.amazonaws.com"
	case strings.HasPrefix(region, "cn-"):
		return "s3." + region + ".amazonaws.com.cn"
	}
	return "s3." + region + ".amazonaws.com"
}

// isBucket allows what old buckets may be called, too. Source: Amazon S3 User
// Guide, "General purpose bucket naming rules".
func isBucket(name string) bool {
	return len(name) >= 3 && len(name) <= 255 && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_", r))
	})
}

// isHostLabel reports whether a bucket's name can stand before S3's host: the
// certificate is good for one label there.
func isHostLabel(name string) bool {
	return len(name) <= 63 && name[0] != '-' && name[len(name)-1] != '-' && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-')
	})
}

// objectPath is a key as S3 wants it: each byte escaped that is not a letter, a
// digit, a slash or one of "-._~". So a plus is one, where S3 would else take it
// for a blank. Source: Amazon S3 API Reference, "Signature calculations".
func objectPath(key string) string {
	var b strings.Builder
	for _, c := range percentDecoded(key) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
