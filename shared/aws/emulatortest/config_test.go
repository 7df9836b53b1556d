package emulatortest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// closing is a body that cannot be read when it is closed, as the SDK's.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Read(p []byte) (int, error) {
	if c.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return c.Reader.Read(p)
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestABodyIsReadAfterTheAnswer closes the SDK's body in the middle of the
// round trip.
func TestABodyIsReadAfterTheAnswer(t *testing.T) {
	sdks := &closing{Reader: strings.NewReader("the body")}
	var got []byte
	var err error
	b := ownBody{roundTripper(func(req *http.Request) (*http.Response, error) {
		sdks.Close()
		got, err = io.ReadAll(req.Body)
		return &http.Response{}, nil
	})}
	req, reqErr := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1", sdks)
	if reqErr != nil {
		t.Fatal(reqErr)
	}
	b.RoundTrip(req)
	if string(got) != "the body" || err != nil || req.Body != io.ReadCloser(sdks) {
		t.Errorf("read %q, %v", got, err)
	}
}
