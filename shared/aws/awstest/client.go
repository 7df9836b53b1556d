package awstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// Endpoint is the address that Config gives; nothing listens there.
const Endpoint = "http://aws.test"

// Config returns the configuration of SDK clients whose calls are carried out
// by b on the calling goroutine. The clients try three times, as they do by
// default, but without waiting in between. S3 clients need UsePathStyle.
func (b *Backend) Config() awssdk.Config {
	endpoint := Endpoint
	return awssdk.Config{
		Region:       Region,
		BaseEndpoint: &endpoint,
		HTTPClient:   direct{b},
		Credentials: awssdk.CredentialsProviderFunc(func(context.Context) (awssdk.Credentials, error) {
			return awssdk.Credentials{AccessKeyID: "test", SecretAccessKey: "test", Source: "awstest"}, nil
		}),
		Retryer: func() awssdk.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
}

// direct is an HTTP client that calls a Backend.
type direct struct{ b *Backend }

// Do implements the SDK's HTTPClient.
func (d direct) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	var raw []byte
	if r.Body != nil {
		var err error
		raw, err = io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	a, _, err := d.b.serve(r, raw)
	if err != nil {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	length := int64(len(a.body))
	if r.Method == http.MethodHead {
		_, _ = fmt.Sscan(a.header.Get("Content-Length"), &length) // no header, no length
		a.body = nil
	}
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: length, Request: r,
	}, nil
}
