package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// accept notes which findings of cdk-nag are accepted, and why. Any other ends
// the synthesis.
func accept(r *resources, stages map[string]*stage) {
	acceptOne(r.bucket, "AwsSolutions-S1",
		"The functions alone use the bucket, and CloudTrail's data events tell who did; a bucket for access logs would have to be paid for and looked after.")
	acceptOne(r.lost, "AwsSolutions-SQS3",
		"It is a dead-letter queue itself: of EventBridge's rules and of Lambda's asynchronous invocations, which cdk-nag does not look at.")
	for _, t := range r.Tables {
		if !t.Recovery {
			acceptTable(r.tables[t.Name])
		}
	}
	for _, f := range r.Functions {
		acceptOne(stages[f.Name].role, "AwsSolutions-IAM5",
			"Objects are named as they are made; each function has its own folders of the stack's own bucket.",
			&cdknag.RegexAppliesTo{Regex: jsii.String(`/^Resource::<Bucket[0-9A-F]+\.Arn>\/[a-z]+\/\*$/`)})
	}
	if len(r.options.FeedBuckets) > 0 {
		acceptOne(stages[feedWriter].role, "AwsSolutions-IAM5",
			"Whoever deploys names the buckets that feeds may be written to; jobs name the objects.",
			&cdknag.RegexAppliesTo{Regex: jsii.String(`/^Resource::arn:<AWS::Partition>:s3:::[a-z0-9.-]+\/\*$/`)})
	}
}

func acceptTable(table awsdynamodb.Table) {
	acceptOne(table, "AwsSolutions-DDB3",
		"What is in it is of use for a job's time only, or is asked for again from the web; its past is worth no money.")
}

func acceptOne(scope constructs.IConstruct, rule, reason string, appliesTo ...any) {
	suppression := &cdknag.NagPackSuppression{Id: &rule, Reason: &reason}
	if len(appliesTo) > 0 {
		suppression.AppliesTo = &appliesTo
	}
	cdknag.NagSuppressions_AddResourceSuppressions(scope, &[]*cdknag.NagPackSuppression{suppression}, jsii.Bool(true))
}
