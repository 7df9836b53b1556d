package handlers_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
)

// echo answers with the URL that it is asked for, and the signature.
var echo = downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
	return &crawl.Response{
		URL: req.URL, Status: 200, Headers: http.Header{"Content-Type": {req.Headers.Get("Authorization")}},
		Body: []byte(req.URL), Request: req,
	}, nil
})

// A signer signs with the region.
type signer struct{ err error }

func (s signer) Region(context.Context) (string, error) { return "eu-north-1", s.err }

func (s signer) Sign(_ context.Context, method, _, region string, h http.Header, _ []byte) (http.Header, error) {
	signed := h.Clone()
	if signed == nil {
		signed = http.Header{}
	}
	signed.Set("Authorization", method+" "+region)
	return signed, s.err
}

func TestS3(t *testing.T) {
	tests := []struct {
		url, want string
		settings  map[string]any
	}{
		{url: "s3://bucket/key", want: " https://bucket.s3.amazonaws.com/key"},
		{url: "s3://bucket/a/b%20c.html?versionId=1#f", want: " https://bucket.s3.amazonaws.com/a/b%20c.html?versionId=1"},
		{url: "s3://bucket/a+b&c=d:e@f,g;h!i'j(k)*$é", want: " https://bucket.s3.amazonaws.com/a%2Bb%26c%3Dd%3Ae%40f%2Cg%3Bh%21i%27j%28k%29%2A%24%C3%A9"},
		{url: "s3://bucket/100%25%3F%23", want: " https://bucket.s3.amazonaws.com/100%25%3F%23"},
		{url: "s3://bucket//a//b/", want: " https://bucket.s3.amazonaws.com//a//b/"},
		{url: "s3://my.bucket/key", want: " https://s3.amazonaws.com/my.bucket/key"},
		{url: "s3://Old_Bucket/key", want: " https://s3.amazonaws.com/Old_Bucket/key"},
		{url: "s3://bucket/key", settings: map[string]any{"AWS_REGION_NAME": "eu-west-1"}, want: " https://bucket.s3.eu-west-1.amazonaws.com/key"},
		{url: "s3://my.bucket/key", settings: map[string]any{"AWS_REGION_NAME": "cn-north-1"}, want: " https://s3.cn-north-1.amazonaws.com.cn/my.bucket/key"},
		{url: "s3://bucket/key", settings: map[string]any{"AWS_SIGN_REQUESTS": true}, want: "GET eu-north-1 https://bucket.s3.eu-north-1.amazonaws.com/key"},
		{
			url: "s3://bucket/key", settings: map[string]any{"AWS_SIGN_REQUESTS": true, "AWS_REGION_NAME": "us-west-2"},
			want: "GET us-west-2 https://bucket.s3.us-west-2.amazonaws.com/key",
		},
		{
			url: "s3://bucket/key", settings: map[string]any{"AWS_SIGN_REQUESTS": true, "AWS_ENDPOINT_URL": "http://localhost:4566"},
			want: "GET eu-north-1 http://localhost:4566/bucket/key",
		},
		{url: "s3://bucket/key", settings: map[string]any{"AWS_ENDPOINT_URL": "http://minio:9000/"}, want: " http://minio:9000/bucket/key"},
		{url: "s3://bucket", want: "bad-url"},
		{url: "s3://bucket/", want: "bad-url"},
		{url: "s3:///key", want: "bad-url"},
		{url: "s3://ab/key", want: "bad-url"},
		{url: "s3://key:secret@bucket/key", want: "bad-url"},
		{url: "s3://bucket:80/key", want: "bad-url"},
		{url: "s3:key", want: "bad-url"},
	}
	for _, test := range tests {
		h, err := handlers.S3(with(t, test.settings), echo, signer{})
		if err != nil {
			t.Fatal(err)
		}
		if got := told(t, h, test.url); got != test.want {
			t.Errorf("%s: %s, want %s", test.url, got, test.want)
		}
	}
}

func TestS3AnswersTheRequestThatItWasAsked(t *testing.T) {
	h, err := handlers.S3(with(t, map[string]any{"AWS_SIGN_REQUESTS": true}), echo, signer{})
	if err != nil {
		t.Fatal(err)
	}
	req := &crawl.Request{URL: "s3://bucket/key"}
	resp, err := h.Fetch(t.Context(), req)
	if err != nil || resp.Request != req || req.Headers.Get("Authorization") != "" {
		t.Errorf("the signature is kept in the request: %v, %v", resp, err)
	}
}

func TestS3WithoutCredentialsIsANamedFailure(t *testing.T) {
	h, err := handlers.S3(with(t, map[string]any{"AWS_SIGN_REQUESTS": true}), echo, signer{errors.New("no profile")})
	if err != nil {
		t.Fatal(err)
	}
	if got := told(t, h, "s3://bucket/key"); got != "credentials" {
		t.Errorf("got %s", got)
	}
}

func TestS3SaysWhatIsWrongWithItsSettings(t *testing.T) {
	for endpoint, want := range map[string]string{
		"minio:9000":           "want the address of a service",
		"ftp://x":              "want the address of a service",
		"https://x/bucket":     "want the address of a service",
		"https://u:secret@x":   "no user or password",
		"http://minio:9000":    "https, or of this machine",
		"http://127.0.0.1:456": "",
		"http://[::1]:456":     "",
		"https://s3.example":   "",
	} {
		set := with(t, map[string]any{"AWS_SIGN_REQUESTS": true, "AWS_ENDPOINT_URL": endpoint})
		_, err := handlers.S3(set, echo, signer{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: error %v, want %q", endpoint, err, want)
		}
	}
	if _, err := handlers.S3(with(t, map[string]any{"AWS_SIGN_REQUESTS": true}), echo, nil); err == nil {
		t.Error("nobody signs, and there is no error")
	}
}
