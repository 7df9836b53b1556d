package aws

import (
	"bytes"
	"io"
	"net/http"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
)

// ownBody is an HTTP client that gives net/http its own copy of each request's
// body. The SDK closes the body as soon as it has the answer; a server on this
// machine can answer before net/http has seen the body's end, and then the
// connection is closed while the answer is read: a ReceiveMessage is lost, and
// its messages stay hidden until their visibility time-out.
type ownBody struct{ client awssdk.HTTPClient }

func (c ownBody) Do(req *http.Request) (*http.Response, error) {
	client := c.client
	if client == nil {
		client = http.DefaultClient
	}
	if req.Body == nil || req.Body == http.NoBody {
		return client.Do(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	own := *req
	own.Body = io.NopCloser(bytes.NewReader(body))
	own.ContentLength = int64(len(body))
	own.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return client.Do(&own)
}

// ForClient is a configuration that a client of the SDK can be made with: at an
// emulator it has an HTTP client that bears a quick server.
func ForClient(cfg awssdk.Config) awssdk.Config {
	cfg = cfg.Copy()
	if isLocal(cfg) {
		cfg.HTTPClient = ownBody{cfg.HTTPClient}
	}
	return cfg
}
