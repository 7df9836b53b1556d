package aws

import (
	"context"
	"fmt"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// deleteTries is how often keys are tried that a call answers for with an
// error of theirs.
const deleteTries = 5

// DeletePrefix implements [blob.Store].
func (b *Blobs) DeletePrefix(ctx context.Context, prefix string) error {
	if !begins(prefix) {
		return ctx.Err()
	}
	for after := ""; ; {
		keys, last, err := b.list(ctx, prefix, after, maxKeys)
		if err != nil {
			return fmt.Errorf("delete the blobs of prefix %q: %w", prefix, err)
		}
		if err := b.deleteKeys(ctx, keys); err != nil {
			return fmt.Errorf("delete the blobs of prefix %q: %w", prefix, err)
		}
		if last == "" {
			return nil
		}
		after = last
	}
}

// deleteKeys deletes up to a thousand keys, and again those that failed.
func (b *Blobs) deleteKeys(ctx context.Context, keys []string) error {
	for try := 1; len(keys) > 0; try++ {
		in := &s3.DeleteObjectsInput{Bucket: &b.bucket, Delete: &s3types.Delete{Quiet: awssdk.Bool(true)}}
		for i := range keys {
			in.Delete.Objects = append(in.Delete.Objects, s3types.ObjectIdentifier{Key: &keys[i]})
		}
		out, err := b.client.DeleteObjects(ctx, in)
		if err != nil {
			return err
		}
		left, why := keysLeft(out.Errors)
		if len(left) > 0 && (try == deleteTries || ctx.Err() != nil) {
			return fmt.Errorf("%d of %d keys are left: %w", len(left), len(keys), why)
		}
		keys = left
	}
	return nil
}

// keysLeft are the keys that were not deleted, and why the last of them was
// not.
func keysLeft(errs []s3types.Error) (keys []string, why error) {
	for _, e := range errs {
		if code := awssdk.ToString(e.Code); code != "NoSuchKey" {
			keys = append(keys, awssdk.ToString(e.Key))
			why = fmt.Errorf("%s: %s: %s", awssdk.ToString(e.Key), code, awssdk.ToString(e.Message))
		}
	}
	return keys, why
}
