package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"github.com/skitterhq/skitter/shared/topology"
)

// abandonedDays is after how many days the parts of an upload are deleted that
// was never completed.
const abandonedDays = 7

func newBucket(s awscdk.Stack, t topology.Stack, o Options) awss3.Bucket {
	rules := []*awss3.LifecycleRule{{
		Id: jsii.String("uploads"), AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(abandonedDays)),
	}}
	for _, prefix := range t.Prefixes {
		if prefix.Expires == 0 {
			continue
		}
		const day = 24 * time.Hour
		rules = append(rules, &awss3.LifecycleRule{
			Id: jsii.String("expire-" + prefix.Name), Prefix: jsii.String(prefix.Name),
			Expiration: awscdk.Duration_Days(jsii.Number(int((prefix.Expires + day - 1) / day))),
		})
	}
	bucket := awss3.NewBucket(s, jsii.String("Bucket"), &awss3.BucketProps{
		BucketName:        jsii.String(t.BucketName()),
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		LifecycleRules:    &rules,
		RemovalPolicy:     removal(o),
	})
	if o.Events {
		// CDK's own switch deploys a function in Python, which does the same.
		own := bucket.Node().DefaultChild().(awss3.CfnBucket)
		own.AddPropertyOverride(jsii.String("NotificationConfiguration.EventBridgeConfiguration.EventBridgeEnabled"), true)
	}
	return bucket
}
