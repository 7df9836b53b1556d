package aws

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/skitterhq/skitter/shared/blob"
)

const (
	// partSize is the length in bytes of an upload's parts, and of what is
	// held in memory: 8 MiB. S3 wants 5 MiB or more of all parts but the
	// last.
	partSize = 8 << 20
	// maxParts is how many parts an upload has at most. Source of both:
	// Amazon S3 User Guide, "Multipart upload limits".
	maxParts = 10_000
	// abortTime is for how long an upload that failed is given up, also
	// after the caller has gone.
	abortTime = 30 * time.Second
)

// PutReader implements [blob.Store]. What is longer than 8 MiB is uploaded in
// parts, up to 78 GiB.
func (b *Blobs) PutReader(ctx context.Context, key string, r io.Reader) error {
	if err := blob.CheckKey(key); err != nil {
		return err
	}
	buffer := make([]byte, partSize)
	n, err := fill(buffer, r)
	switch {
	case err != nil:
		return fmt.Errorf("put blob %s: %w", key, err)
	case n < partSize:
		return b.Put(ctx, key, buffer[:n])
	}
	return b.upload(ctx, key, buffer, r)
}

// fill reads until the buffer is full or r has ended; only then it returns
// less. Unlike [io.ReadFull] it does not take an r that breaks off with
// [io.ErrUnexpectedEOF] for one that has ended.
func fill(buffer []byte, r io.Reader) (n int, err error) {
	for n < len(buffer) && err == nil {
		var got int
		got, err = r.Read(buffer[n:])
		n += got
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// upload sends a first part that is in the buffer, and all that r gives. An
// upload that is not completed changes nothing.
func (b *Blobs) upload(ctx context.Context, key string, buffer []byte, r io.Reader) error {
	out, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &b.bucket, Key: &key, ChecksumAlgorithm: s3types.ChecksumAlgorithmCrc32,
	})
	if err != nil {
		return b.fail("begin an upload of", key, err)
	}
	parts, err := b.sendParts(ctx, key, out.UploadId, buffer, r)
	if err == nil {
		_, err = b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: &b.bucket, Key: &key, UploadId: out.UploadId,
			MultipartUpload: &s3types.CompletedMultipartUpload{Parts: parts},
		})
	}
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	defer cancel()
	_, abortErr := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.bucket, Key: &key, UploadId: out.UploadId})
	if abortErr != nil {
		err = fmt.Errorf("%w (and its parts are left: %w)", err, abortErr)
	}
	return b.fail("upload", key, err)
}

// sendParts sends the buffer, then what r gives, a part at a time.
func (b *Blobs) sendParts(ctx context.Context, key string, upload *string, buffer []byte, r io.Reader) ([]s3types.CompletedPart, error) {
	var parts []s3types.CompletedPart
	for n := len(buffer); n > 0; {
		if len(parts) == maxParts {
			return nil, fmt.Errorf("longer than %d parts of %d bytes", maxParts, partSize)
		}
		number := awssdk.Int32(int32(len(parts) + 1))
		out, err := b.client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &b.bucket, Key: &key, UploadId: upload, PartNumber: number, Body: bytes.NewReader(buffer[:n]),
			ChecksumAlgorithm: s3types.ChecksumAlgorithmCrc32,
		})
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", *number, err)
		}
		parts = append(parts, s3types.CompletedPart{PartNumber: number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32})
		n, err = fill(buffer, r)
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}
