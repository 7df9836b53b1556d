package emulatortest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
)

// region is any: the emulators have them all.
const region = "us-east-1"

func configFor(url string) awssdk.Config {
	return awssdk.Config{
		Region:       region,
		BaseEndpoint: awssdk.String(url),
		HTTPClient:   client,
		Credentials: awssdk.CredentialsProviderFunc(func(context.Context) (awssdk.Credentials, error) {
			return awssdk.Credentials{AccessKeyID: "emulator", SecretAccessKey: "emulator", Source: "emulatortest"}, nil
		}),
	}
}

// client goes to the emulators straight, whatever proxy the environment names.
var client = &http.Client{
	Transport: ownBody{&http.Transport{MaxIdleConnsPerHost: 64}},
	// Under many tests at once moto answers in seconds.
	Timeout: time.Minute,
}

// ownBody gives the transport its own copy of each request's body. The SDK
// closes the body as soon as it has the answer, and where the server is quick
// that costs the connection while the answer is read.
type ownBody struct{ transport http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b ownBody) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return b.transport.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if err := req.Body.Close(); err != nil {
		return nil, err
	}
	own := *req
	own.Body = io.NopCloser(bytes.NewReader(body))
	own.ContentLength = int64(len(body))
	own.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return b.transport.RoundTrip(&own)
}
