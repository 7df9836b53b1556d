package stack

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"github.com/skitterhq/skitter/shared/topology"
)

// feedWriter is the function that writes feeds, and that takes events.
const feedWriter = topology.Control

// feedPrefix is where feeds lie whose jobs say nothing else.
const feedPrefix = "feeds/"

// statements are what a function's role allows.
func statements(r *resources, f topology.Function, logs awslogs.LogGroup) *[]awsiam.PolicyStatement {
	a := accesses()[f.Name]
	list := []awsiam.PolicyStatement{
		allow("Log", actions("logs", "CreateLogStream", "PutLogEvents"), *logs.LogGroupArn()),
		allow("Take", actions("sqs", "ReceiveMessage", "DeleteMessage", "GetQueueAttributes", "GetQueueUrl"), r.queueARNs(sourcesOf(f))...),
		allow("Send", actions("sqs", "SendMessage", "GetQueueUrl"), r.queueARNs(a.Send)...),
	}
	for _, table := range r.Tables {
		if rows, ok := a.Tables[table.Name]; ok {
			list = append(list, allow("Rows"+table.Name, actions("dynamodb", rows...), *r.tables[table.Name].TableArn()))
		}
		for _, index := range a.Indexes[table.Name] {
			list = append(list, allow("Index"+index, actions("dynamodb", "Query"), *r.tables[table.Name].TableArn()+"/index/"+index))
		}
	}
	list = append(list,
		allow("Read", actions("s3", "GetObject"), r.objectARNs(a.Read)...),
		allow("Write", actions("s3", "PutObject"), r.objectARNs(a.Write)...),
	)
	if len(a.Delete) > 0 {
		find := allow("Find", actions("s3", "ListBucket"), *r.bucket.BucketArn())
		find.AddCondition(jsii.String("StringLike"), map[string]any{"s3:prefix": stars(a.Delete)})
		list = append(list, find, allow("Delete", actions("s3", "DeleteObject"), r.objectARNs(a.Delete)...))
	}
	if f.Name == feedWriter {
		list = append(list, allow("Lose", actions("sqs", "SendMessage"), *r.lost.QueueArn()))
		feeds := r.objectARNs([]string{feedPrefix})
		for _, name := range r.options.FeedBuckets {
			feeds = append(feeds, "arn:"+*awscdk.Aws_PARTITION()+":s3:::"+name+"/*")
		}
		// A feed that is cut short gives up what it has uploaded.
		list = append(list, allow("Feeds", actions("s3", "PutObject", "AbortMultipartUpload"), feeds...))
	}
	return &list
}

func allow(sid string, actions []string, resources ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid: jsii.String(sid), Effect: awsiam.Effect_ALLOW,
		Actions: jsii.Strings(actions...), Resources: jsii.Strings(resources...),
	})
}

func actions(service string, names ...string) []string {
	list := make([]string, 0, len(names))
	for _, name := range slices.Sorted(slices.Values(names)) {
		list = append(list, service+":"+name)
	}
	return list
}

func sourcesOf(f topology.Function) []string {
	var names []string
	for _, source := range f.Sources {
		names = append(names, source.Queue)
	}
	return names
}

func (r *resources) queueARNs(names []string) []string {
	arns := make([]string, 0, len(names))
	for _, name := range names {
		arns = append(arns, *r.queues[name].QueueArn())
	}
	return arns
}

func (r *resources) objectARNs(prefixes []string) []string {
	arns := make([]string, 0, len(prefixes))
	for _, prefix := range stars(prefixes) {
		arns = append(arns, *r.bucket.ArnForObjects(&prefix))
	}
	return arns
}

func stars(prefixes []string) []string {
	list := make([]string, 0, len(prefixes))
	for _, prefix := range prefixes {
		list = append(list, prefix+"*")
	}
	return list
}
