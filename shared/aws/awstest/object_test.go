package awstest_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/skitterhq/skitter/shared/aws/awstest"
)

func newBucket(t *testing.T, b *awstest.Backend, endpoint string) *s3.Client {
	t.Helper()
	client := s3.NewFromConfig(b.Config(), func(o *s3.Options) {
		o.UsePathStyle = true
		o.BaseEndpoint = &endpoint
	})
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: awssdk.String("bucket")}); err != nil {
		t.Fatal(err)
	}
	return client
}

// status is the HTTP status of an error.
func status(err error) int {
	var e *awshttp.ResponseError
	if errors.As(err, &e) {
		return e.HTTPStatusCode()
	}
	return 0
}

func put(t *testing.T, client *s3.Client, key, body string) {
	t.Helper()
	_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: awssdk.String("bucket"), Key: &key, Body: strings.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, client *s3.Client, key, rng string) (string, error) {
	t.Helper()
	in := &s3.GetObjectInput{Bucket: awssdk.String("bucket"), Key: &key}
	if rng != "" {
		in.Range = &rng
	}
	out, err := client.GetObject(t.Context(), in)
	if err != nil {
		return "", err
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), nil
}

// Over https the SDK frames what it streams, with the checksum behind it.
func TestObjectsOverBothFramings(t *testing.T) {
	for _, endpoint := range []string{"http://aws.test", "https://aws.test"} {
		client := newBucket(t, awstest.New(nil), endpoint)
		put(t, client, "a/b c+d=.txt", "hello")
		for rng, want := range map[string]string{"": "hello", "bytes=1-2": "el", "bytes=3-": "lo", "bytes=3-99": "lo", "bytes=-2": "lo"} {
			if got, err := get(t, client, "a/b c+d=.txt", rng); err != nil || got != want {
				t.Errorf("%s %q: %q, %v", endpoint, rng, got, err)
			}
		}
		if _, err := get(t, client, "a/b c+d=.txt", "bytes=5-"); status(err) != http.StatusRequestedRangeNotSatisfiable {
			t.Errorf("%s: beyond the end: %v", endpoint, err)
		}
		_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: awssdk.String("bucket"), Key: awssdk.String("a/b c+d=.txt"), Body: strings.NewReader("x"), IfNoneMatch: awssdk.String("*"),
		})
		if status(err) != http.StatusPreconditionFailed {
			t.Errorf("%s: put again: %v", endpoint, err)
		}
		var missing *types.NoSuchKey
		if _, err := get(t, client, "none", ""); !errors.As(err, &missing) {
			t.Errorf("%s: unknown key: %v", endpoint, err)
		}
		var notFound *types.NotFound
		_, err = client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: awssdk.String("bucket"), Key: awssdk.String("none")})
		if !errors.As(err, &notFound) {
			t.Errorf("%s: head of an unknown key: %v", endpoint, err)
		}
		head, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: awssdk.String("bucket"), Key: awssdk.String("a/b c+d=.txt")})
		if err != nil || *head.ContentLength != 5 {
			t.Errorf("%s: head: %+v, %v", endpoint, head, err)
		}
	}
}

func TestUploadsInParts(t *testing.T) {
	b := awstest.New(nil)
	client := newBucket(t, b, "http://aws.test")
	begin := func() *string {
		out, err := client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: awssdk.String("bucket"), Key: awssdk.String("k")})
		if err != nil {
			t.Fatal(err)
		}
		return out.UploadId
	}
	complete := func(id *string, sizes ...int) error {
		var parts []types.CompletedPart
		for i, size := range sizes {
			n := int32(i + 1)
			out, err := client.UploadPart(t.Context(), &s3.UploadPartInput{
				Bucket: awssdk.String("bucket"), Key: awssdk.String("k"), UploadId: id, PartNumber: &n,
				Body: bytes.NewReader(bytes.Repeat([]byte{'a' + byte(i)}, size)),
			})
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, types.CompletedPart{ETag: out.ETag, PartNumber: &n})
		}
		_, err := client.CompleteMultipartUpload(t.Context(), &s3.CompleteMultipartUploadInput{
			Bucket: awssdk.String("bucket"), Key: awssdk.String("k"), UploadId: id, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
		return err
	}
	small := begin()
	if err := complete(small, 10, 10); err == nil || !strings.Contains(err.Error(), "EntityTooSmall") {
		t.Errorf("small parts: %v", err)
	}
	uploads, err := client.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: awssdk.String("bucket")})
	if err != nil || len(uploads.Uploads) != 1 || *uploads.Uploads[0].UploadId != *small {
		t.Errorf("%+v, %v", uploads, err)
	}
	if err := complete(begin(), 5<<20, 3); err != nil {
		t.Fatal(err)
	}
	if got, err := get(t, client, "k", "bytes=5242879-"); err != nil || got != "abbb" {
		t.Errorf("%q, %v", got, err)
	}
	_, err = client.AbortMultipartUpload(t.Context(), &s3.AbortMultipartUploadInput{Bucket: awssdk.String("bucket"), Key: awssdk.String("k"), UploadId: small})
	if err != nil || b.Uploads("bucket") != 0 {
		t.Errorf("abort: %v, %d left", err, b.Uploads("bucket"))
	}
}

// keysOf are the keys and common prefixes that a listing finds, page by page.
func keysOf(t *testing.T, client *s3.Client, in s3.ListObjectsV2Input) string {
	t.Helper()
	in.Bucket = awssdk.String("bucket")
	var found []string
	for {
		out, err := client.ListObjectsV2(t.Context(), &in)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range out.Contents {
			found = append(found, *o.Key)
		}
		for _, p := range out.CommonPrefixes {
			found = append(found, *p.Prefix)
		}
		if in.ContinuationToken = out.NextContinuationToken; !*out.IsTruncated {
			return strings.Join(found, " ")
		}
	}
}

func TestListings(t *testing.T) {
	b := awstest.New(nil)
	client := newBucket(t, b, awstest.Endpoint)
	for _, key := range []string{"b/2", "a", "b/1", "c/x/1", "b", "c/x/2", "d&<>"} {
		put(t, client, key, key)
	}
	for _, size := range []int32{1, 2, 1000} {
		for want, in := range map[string]s3.ListObjectsV2Input{
			"a b b/1 b/2 c/x/1 c/x/2 d&<>": {},
			"b b/1 b/2":                    {Prefix: awssdk.String("b")},
			"b/2 c/x/1 c/x/2 d&<>":         {StartAfter: awssdk.String("b/1")},
			"b/2":                          {StartAfter: awssdk.String("b/1"), Prefix: awssdk.String("b/")},
			"c/x/":                         {Prefix: awssdk.String("c/"), Delimiter: awssdk.String("x/")},
			"":                             {Prefix: awssdk.String("z")},
		} {
			in.MaxKeys = &size
			if got := keysOf(t, client, in); got != want {
				t.Errorf("%d a page: %q, want %q", size, got, want)
			}
		}
	}
	if got := keysOf(t, client, s3.ListObjectsV2Input{Delimiter: awssdk.String("/")}); got != "a b d&<> b/ c/" {
		t.Error(got)
	}
	_, err := client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: awssdk.String("bucket")})
	if code(err) != "BucketNotEmpty" {
		t.Error(err)
	}
	var all []types.ObjectIdentifier
	for _, key := range append(b.Objects("bucket"), "unknown") {
		all = append(all, types.ObjectIdentifier{Key: &key})
	}
	out, err := client.DeleteObjects(t.Context(), &s3.DeleteObjectsInput{Bucket: awssdk.String("bucket"), Delete: &types.Delete{Objects: all}})
	if err != nil || len(out.Deleted) != len(all) || len(b.Objects("bucket")) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: awssdk.String("bucket")}); err != nil {
		t.Error(err)
	}
	_, err = client.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: awssdk.String("bucket")})
	var missing *types.NotFound
	if !errors.As(err, &missing) {
		t.Errorf("head of a bucket that is gone: %v", err)
	}
}

func TestBucketsKeepTheirSettings(t *testing.T) {
	client := newBucket(t, awstest.New(nil), awstest.Endpoint)
	name := awssdk.String("bucket")
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: name}); err != nil {
		t.Errorf("create again: %v", err)
	}
	_, err := client.GetBucketLifecycleConfiguration(t.Context(), &s3.GetBucketLifecycleConfigurationInput{Bucket: name})
	if code(err) != "NoSuchLifecycleConfiguration" {
		t.Error(err)
	}
	_, err = client.PutBucketLifecycleConfiguration(t.Context(), &s3.PutBucketLifecycleConfigurationInput{Bucket: name, LifecycleConfiguration: &types.BucketLifecycleConfiguration{
		Rules: []types.LifecycleRule{{ID: awssdk.String("r"), Status: "Enabled", Filter: &types.LifecycleRuleFilter{Prefix: awssdk.String("p/")}, Expiration: &types.LifecycleExpiration{Days: awssdk.Int32(7)}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.GetBucketLifecycleConfiguration(t.Context(), &s3.GetBucketLifecycleConfigurationInput{Bucket: name})
	if err != nil || len(out.Rules) != 1 || *out.Rules[0].Expiration.Days != 7 {
		t.Errorf("%+v, %v", out, err)
	}
	_, err = client.PutBucketEncryption(t.Context(), &s3.PutBucketEncryptionInput{Bucket: name, ServerSideEncryptionConfiguration: &types.ServerSideEncryptionConfiguration{
		Rules: []types.ServerSideEncryptionRule{{ApplyServerSideEncryptionByDefault: &types.ServerSideEncryptionByDefault{SSEAlgorithm: "AES256"}}},
	}})
	if err != nil {
		t.Error(err)
	}
	_, err = client.PutPublicAccessBlock(t.Context(), &s3.PutPublicAccessBlockInput{Bucket: name, PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{BlockPublicAcls: awssdk.Bool(true)}})
	if err != nil {
		t.Error(err)
	}
	if _, err := client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: name, Policy: awssdk.String("{}")}); err != nil {
		t.Error(err)
	}
	policy, err := client.GetBucketPolicy(t.Context(), &s3.GetBucketPolicyInput{Bucket: name})
	if err != nil || *policy.Policy != "{}" {
		t.Errorf("%+v, %v", policy, err)
	}
	_, err = client.PutBucketNotificationConfiguration(t.Context(), &s3.PutBucketNotificationConfigurationInput{Bucket: name, NotificationConfiguration: &types.NotificationConfiguration{EventBridgeConfiguration: &types.EventBridgeConfiguration{}}})
	if err != nil {
		t.Error(err)
	}
	if _, err := client.GetBucketNotificationConfiguration(t.Context(), &s3.GetBucketNotificationConfigurationInput{Bucket: name}); err != nil {
		t.Error(err)
	}
}

func TestDamagedBodiesAreRefused(t *testing.T) {
	client := newBucket(t, awstest.New(nil), awstest.Endpoint)
	for name, in := range map[string]*s3.PutObjectInput{
		"CRC32": {ChecksumCRC32: awssdk.String("AAAAAA==")}, "CRC64": {ChecksumCRC64NVME: awssdk.String("AAAAAAAAAAA=")}, "MD5": {ContentMD5: awssdk.String("AAAAAAAAAAAAAAAAAAAAAA==")},
	} {
		in.Bucket, in.Key, in.Body = awssdk.String("bucket"), awssdk.String("k"), strings.NewReader("hello")
		if _, err := client.PutObject(t.Context(), in); code(err) != "BadDigest" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: awssdk.String("bucket"), Key: awssdk.String("k"), Body: strings.NewReader("hello"), ChecksumAlgorithm: "CRC64NVME",
	})
	if err != nil {
		t.Errorf("right CRC64: %v", err)
	}
}
