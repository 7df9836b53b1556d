package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/skitterhq/skitter/shared/topology"
)

// plainRegion is the region that a bucket is made in without saying so; it
// must not be named. Source: S3 API Reference, CreateBucket.
const plainRegion = "us-east-1"

// abandonedDays is after how many days the parts of an upload are deleted that
// was never completed.
const abandonedDays = 7

func (p *provisioner) createBucket(ctx context.Context) error {
	name := p.stack.BucketName()
	if err := p.makeBucket(ctx, name); err != nil {
		return p.bucketFailure("create bucket "+name, err)
	}
	steps := []struct {
		do  string
		run func(ctx context.Context, name string) error
	}{
		{"close to the public", p.closeBucket},
		{"encrypt", p.encryptBucket},
		{"let objects expire in", p.expireObjects},
	}
	for _, step := range steps {
		if err := step.run(ctx, name); err != nil && !p.unknown(err) {
			return p.bucketFailure(step.do+" bucket "+name, err)
		}
	}
	return nil
}

func (p *provisioner) makeBucket(ctx context.Context, name string) error {
	there, err := p.hasBucket(ctx, name)
	if err != nil || there {
		return err
	}
	in := &s3.CreateBucketInput{Bucket: &name}
	if p.region != plainRegion && p.region != "" {
		in.CreateBucketConfiguration = &s3types.CreateBucketConfiguration{LocationConstraint: s3types.BucketLocationConstraint(p.region)}
	}
	_, err = p.s3.CreateBucket(ctx, in)
	var ours *s3types.BucketAlreadyOwnedByYou
	var taken *s3types.BucketAlreadyExists
	switch {
	case errors.As(err, &ours):
	case errors.As(err, &taken):
		return fmt.Errorf("the name belongs to another account; choose another: %w", err)
	case err != nil:
		return err
	}
	return until(ctx, func(ctx context.Context) (bool, error) { return p.hasBucket(ctx, name) })
}

func (p *provisioner) hasBucket(ctx context.Context, name string) (bool, error) {
	_, err := p.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &name})
	switch code(err) {
	case "NotFound", "NoSuchBucket":
		return false, nil
	case "Forbidden", "AccessDenied":
		return false, fmt.Errorf("it belongs to another account, or these credentials may not use it: %w", err)
	}
	return err == nil, err
}

func (p *provisioner) closeBucket(ctx context.Context, name string) error {
	yes := awssdk.Bool(true)
	_, err := p.s3.PutPublicAccessBlock(ctx, &s3.PutPublicAccessBlockInput{
		Bucket: &name,
		PublicAccessBlockConfiguration: &s3types.PublicAccessBlockConfiguration{
			BlockPublicAcls: yes, BlockPublicPolicy: yes, IgnorePublicAcls: yes, RestrictPublicBuckets: yes,
		},
	})
	return err
}

func (p *provisioner) encryptBucket(ctx context.Context, name string) error {
	_, err := p.s3.PutBucketEncryption(ctx, &s3.PutBucketEncryptionInput{
		Bucket: &name,
		ServerSideEncryptionConfiguration: &s3types.ServerSideEncryptionConfiguration{
			Rules: []s3types.ServerSideEncryptionRule{{
				ApplyServerSideEncryptionByDefault: &s3types.ServerSideEncryptionByDefault{SSEAlgorithm: s3types.ServerSideEncryptionAes256},
			}},
		},
	})
	return err
}

func (p *provisioner) expireObjects(ctx context.Context, name string) error {
	_, err := p.s3.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{
		Bucket:                 &name,
		LifecycleConfiguration: &s3types.BucketLifecycleConfiguration{Rules: lifecycle(p.stack.Prefixes)},
	})
	return err
}

// lifecycle has a rule for each prefix whose objects expire, and one for
// uploads that were never completed.
func lifecycle(prefixes []topology.Prefix) []s3types.LifecycleRule {
	rules := []s3types.LifecycleRule{{
		ID: awssdk.String("uploads"), Status: s3types.ExpirationStatusEnabled,
		Filter:                         &s3types.LifecycleRuleFilter{Prefix: awssdk.String("")},
		AbortIncompleteMultipartUpload: &s3types.AbortIncompleteMultipartUpload{DaysAfterInitiation: awssdk.Int32(abandonedDays)},
	}}
	for _, prefix := range prefixes {
		if prefix.Expires == 0 {
			continue
		}
		const day = 24 * time.Hour
		days := int32((prefix.Expires + day - 1) / day)
		rules = append(rules, s3types.LifecycleRule{
			ID: awssdk.String("expire-" + prefix.Name), Status: s3types.ExpirationStatusEnabled,
			Filter:     &s3types.LifecycleRuleFilter{Prefix: awssdk.String(prefix.Name)},
			Expiration: &s3types.LifecycleExpiration{Days: &days},
		})
	}
	return rules
}

func (p *provisioner) deleteBucket(ctx context.Context) error {
	name := p.stack.BucketName()
	there, err := p.hasBucket(ctx, name)
	if err == nil && there {
		err = p.emptyBucket(ctx, name)
	}
	if err == nil && there {
		_, err = p.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &name})
	}
	if err != nil {
		return p.bucketFailure("delete bucket "+name, err)
	}
	return nil
}

// emptyBucket deletes all objects, and uploads that were not completed: they
// keep a bucket from being deleted.
func (p *provisioner) emptyBucket(ctx context.Context, name string) error {
	pages := s3.NewListObjectsV2Paginator(p.s3, &s3.ListObjectsV2Input{Bucket: &name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		if err := p.deleteObjects(ctx, name, page.Contents); err != nil {
			return err
		}
	}
	uploads := s3.NewListMultipartUploadsPaginator(p.s3, &s3.ListMultipartUploadsInput{Bucket: &name})
	for uploads.HasMorePages() {
		page, err := uploads.NextPage(ctx)
		if p.unknown(err) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, u := range page.Uploads {
			if _, err := p.s3.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &name, Key: u.Key, UploadId: u.UploadId}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *provisioner) deleteObjects(ctx context.Context, name string, objects []s3types.Object) error {
	for part := range slices.Chunk(objects, 1000) {
		in := &s3.DeleteObjectsInput{Bucket: &name, Delete: &s3types.Delete{Quiet: awssdk.Bool(true)}}
		for _, o := range part {
			in.Delete.Objects = append(in.Delete.Objects, s3types.ObjectIdentifier{Key: o.Key})
		}
		out, err := p.s3.DeleteObjects(ctx, in)
		if err != nil {
			return err
		}
		if len(out.Errors) > 0 {
			e := out.Errors[0]
			return fmt.Errorf("%d objects are left, such as %s: %s: %s", len(out.Errors), awssdk.ToString(e.Key), awssdk.ToString(e.Code), awssdk.ToString(e.Message))
		}
	}
	return nil
}
