package aws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/skitterhq/skitter/shared/blob"
)

// An s3Client is what the blobs use of S3.
type s3Client interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	DeleteObject(context.Context, *s3.DeleteObjectInput, ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
	DeleteObjects(context.Context, *s3.DeleteObjectsInput, ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error)
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
	CreateMultipartUpload(context.Context, *s3.CreateMultipartUploadInput, ...func(*s3.Options)) (*s3.CreateMultipartUploadOutput, error)
	UploadPart(context.Context, *s3.UploadPartInput, ...func(*s3.Options)) (*s3.UploadPartOutput, error)
	CompleteMultipartUpload(context.Context, *s3.CompleteMultipartUploadInput, ...func(*s3.Options)) (*s3.CompleteMultipartUploadOutput, error)
	AbortMultipartUpload(context.Context, *s3.AbortMultipartUploadInput, ...func(*s3.Options)) (*s3.AbortMultipartUploadOutput, error)
}

// Blobs are the objects of one bucket.
type Blobs struct {
	bucket string
	client s3Client
}

// Blobs returns those of the stack's bucket: a [blob.Store].
func (s *Store) Blobs() *Blobs { return s.blobs }

// Bucket returns those of any bucket, with the stack's credentials and region.
func (s *Store) Bucket(name string) *Blobs { return &Blobs{bucket: name, client: s.blobs.client} }

// fail says what could not be done.
func (b *Blobs) fail(do, key string, err error) error {
	if apiCode(err) == "NoSuchBucket" {
		return fmt.Errorf("%s blob %s: bucket %s does not exist; deploy the stack, or run skitter up: %w", do, key, b.bucket, err)
	}
	return fmt.Errorf("%s blob %s in bucket %s: %w", do, key, b.bucket, err)
}

// apiCode is the code of a service's error, empty for others.
func apiCode(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// Put implements [blob.Store].
func (b *Blobs) Put(ctx context.Context, key string, data []byte) error {
	if err := blob.CheckKey(key); err != nil {
		return err
	}
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.bucket, Key: &key, Body: bytes.NewReader(data)})
	if err != nil {
		return b.fail("put", key, err)
	}
	return nil
}

// readTries is how often a blob is asked for whose answer breaks off. The SDK
// tries again only until the answer begins.
const readTries = 3

// Get implements [blob.Store].
func (b *Blobs) Get(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	if err := blob.CheckKey(key); err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, fmt.Errorf("get blob %s: offset %d is less than zero", key, offset)
	}
	for try := 1; ; try++ {
		data, err := b.get(ctx, key, byteRange(offset, length))
		var broken *brokenOff
		switch {
		case err == nil && length == 0:
			return nil, nil
		case err == nil:
			return data, nil
		case apiCode(err) == "InvalidRange":
			return nil, nil
		case apiCode(err) == "NoSuchKey" || apiCode(err) == "NotFound" || unlisted(err):
			return nil, fmt.Errorf("%w: %s", blob.ErrNotFound, key)
		case errors.As(err, &broken) && try < readTries && ctx.Err() == nil:
		default:
			return nil, b.fail("get", key, err)
		}
	}
}

// unlisted reports whether S3 says that a role may not know that nothing is
// there: to read an object it needs s3:GetObject, to hear of none s3:ListBucket.
// Source: Amazon S3 API Reference, GetObject, "Permissions".
func unlisted(err error) bool {
	return apiCode(err) == "AccessDenied" && strings.Contains(err.Error(), "s3:ListBucket")
}

// byteRange is the Range header for a part; nil for all. There is none of no
// bytes, so it asks for one then.
func byteRange(offset, length int64) *string {
	switch {
	case length >= 0:
		return awssdk.String(fmt.Sprintf("bytes=%d-%d", offset, offset+max(length, 1)-1))
	case offset > 0:
		return awssdk.String(fmt.Sprintf("bytes=%d-", offset))
	default:
		return nil
	}
}

// brokenOff is an answer that ended before its end.
type brokenOff struct{ error }

func (e *brokenOff) Unwrap() error { return e.error }

func (b *Blobs) get(ctx context.Context, key string, part *string) ([]byte, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.bucket, Key: &key, Range: part})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	var data bytes.Buffer
	if n := awssdk.ToInt64(out.ContentLength); n > 0 {
		data.Grow(int(n) + bytes.MinRead)
	}
	if _, err := io.Copy(&data, out.Body); err != nil {
		return nil, &brokenOff{err}
	}
	return data.Bytes(), nil
}

// Delete implements [blob.Store].
func (b *Blobs) Delete(ctx context.Context, key string) error {
	if err := blob.CheckKey(key); err != nil {
		return err
	}
	if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: &key}); err != nil {
		return b.fail("delete", key, err)
	}
	return nil
}

// maxKeys is how many keys one call lists or deletes. Source: S3 API
// Reference, ListObjectsV2 and DeleteObjects.
const maxKeys = 1000

// List implements [blob.Store].
func (b *Blobs) List(ctx context.Context, prefix, after string, limit int) ([]string, error) {
	var keys []string
	for more := begins(prefix); more; {
		want := maxKeys
		if limit > 0 {
			want = min(limit-len(keys), maxKeys)
		}
		page, last, err := b.list(ctx, prefix, after, want)
		if err != nil {
			return nil, err
		}
		keys = append(keys, page...)
		after, more = last, last != "" && (limit <= 0 || len(keys) < limit)
	}
	return keys, nil
}

// list makes one call for keys after a key. What comes last is where the next
// call goes on; it is empty if there are no more.
func (b *Blobs) list(ctx context.Context, prefix, after string, limit int) (keys []string, last string, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &b.bucket, MaxKeys: awssdk.Int32(int32(limit))}
	if prefix != "" {
		in.Prefix = &prefix
	}
	if start := plain(after); start != "" {
		in.StartAfter = &start
	}
	out, err := b.client.ListObjectsV2(ctx, in)
	if err != nil {
		return nil, "", b.fail("list", prefix, err)
	}
	for _, o := range out.Contents {
		last = awssdk.ToString(o.Key)
		if last > after {
			keys = append(keys, last)
		}
	}
	if !awssdk.ToBool(out.IsTruncated) {
		last = ""
	}
	return keys, last, nil
}

// begins reports whether a key can begin with a prefix.
func begins(prefix string) bool {
	return prefix == "" || blob.CheckKey(prefix) == nil || blob.CheckKey(prefix+"x") == nil
}

// plain is what of the start of a list can be sent: up to the first byte that
// no key has. What stands between is read, and left out.
func plain(after string) string {
	i := strings.IndexFunc(after, func(r rune) bool { return r <= ' ' || r > '~' })
	if i < 0 {
		i = len(after)
	}
	return after[:min(i, blob.MaxKey)]
}
