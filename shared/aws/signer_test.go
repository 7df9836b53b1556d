package aws_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/skitterhq/skitter/shared/aws"
)

// The examples of the Amazon S3 API Reference, "Authenticating requests:
// signature calculations for the Authorization header".
func TestSignerSignsAsAmazonsExamples(t *testing.T) {
	load := func(context.Context) (awssdk.Config, error) {
		return awssdk.Config{Credentials: credentials.NewStaticCredentialsProvider(
			"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "")}, nil
	}
	s := aws.SignerOf(load, func() time.Time { return time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC) })
	for _, test := range []struct {
		path    string
		headers http.Header
		want    string
	}{
		{"/test.txt", http.Header{"Range": {"bytes=0-9"}}, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"/?lifecycle", nil, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"/?max-keys=2&prefix=J", http.Header{"User-Agent": {"x"}, "Accept": {"y"}}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		h, err := s.Sign(t.Context(), http.MethodGet, "https://examplebucket.s3.amazonaws.com"+test.path, "us-east-1", test.headers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Get("Authorization"); !strings.HasSuffix(got, "Signature="+test.want) {
			t.Errorf("%s: %s, want the signature %s", test.path, got, test.want)
		}
		for name := range test.headers {
			if h.Get(name) != test.headers.Get(name) {
				t.Errorf("%s: the header %s is not as it was", test.path, name)
			}
		}
	}
}

func TestSignerSaysWhatIsMissing(t *testing.T) {
	load := func(cfg awssdk.Config, err error) *aws.Signer {
		return aws.SignerOf(func(context.Context) (awssdk.Config, error) { return cfg, err }, time.Now)
	}
	if _, err := load(awssdk.Config{}, nil).Region(t.Context()); err == nil || !strings.Contains(err.Error(), "AWS_REGION_NAME") {
		t.Errorf("no region: %v", err)
	}
	if _, err := load(awssdk.Config{}, errors.New("broken profile")).Region(t.Context()); err == nil {
		t.Error("a broken profile is no error")
	}
	if _, err := load(awssdk.Config{}, nil).Sign(t.Context(), "GET", "https://a/", "r", nil, nil); err == nil {
		t.Error("no credentials are no error")
	}
}
