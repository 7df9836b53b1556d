package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/skitterhq/skitter/shared/topology"
)

// newQueues makes a stack's queues: the one for dead letters, and those that
// give up to it.
func newQueues(s awscdk.Stack, t topology.Stack) map[string]awssqs.Queue {
	queues := map[string]awssqs.Queue{}
	dead := newQueue(s, t, t.Queue(topology.QueueDead), &awssqs.QueueProps{RedriveAllowPolicy: giveUp(s, t)})
	queues[topology.QueueDead] = dead
	for _, q := range t.Queues {
		if q.MaxReceives == 0 {
			continue
		}
		queues[q.Name] = newQueue(s, t, q, &awssqs.QueueProps{
			DeadLetterQueue: &awssqs.DeadLetterQueue{Queue: dead, MaxReceiveCount: jsii.Number(q.MaxReceives)},
		})
	}
	return queues
}

func newQueue(s awscdk.Stack, t topology.Stack, q topology.Queue, props *awssqs.QueueProps) awssqs.Queue {
	props.QueueName = jsii.String(t.QueueName(q.Name))
	props.VisibilityTimeout = duration(q.Visibility)
	props.RetentionPeriod = duration(q.Retention)
	props.MaxMessageSizeBytes = jsii.Number(topology.MaxMessage)
	props.Encryption = awssqs.QueueEncryption_SQS_MANAGED
	props.EnforceSSL = jsii.Bool(true)
	props.RemovalPolicy = awscdk.RemovalPolicy_DESTROY
	return awssqs.NewQueue(s, jsii.String("Queue-"+q.Name), props)
}

// giveUp lets a stack's own queues give up to its dead-letter queue, and no
// others. They are named by ARN, since they name that queue in turn.
func giveUp(s awscdk.Stack, t topology.Stack) *awssqs.RedriveAllowPolicy {
	var sources []awssqs.IQueue
	for _, q := range t.Queues {
		if q.MaxReceives == 0 {
			continue
		}
		arn := s.FormatArn(&awscdk.ArnComponents{Service: jsii.String("sqs"), Resource: jsii.String(t.QueueName(q.Name))})
		sources = append(sources, awssqs.Queue_FromQueueArn(s, jsii.String("Source-"+q.Name), arn))
	}
	return &awssqs.RedriveAllowPolicy{RedrivePermission: awssqs.RedrivePermission_BY_QUEUE, SourceQueues: &sources}
}

// newLost makes the queue for events that were not worked. It is apart from the
// dead-letter queue, since what Lambda and EventBridge write into it is no
// message of a crawl.
func newLost(s awscdk.Stack) awssqs.Queue {
	return awssqs.NewQueue(s, jsii.String("LostEvents"), &awssqs.QueueProps{
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)),
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
		RemovalPolicy:   awscdk.RemovalPolicy_DESTROY,
	})
}

func duration(d time.Duration) awscdk.Duration {
	return awscdk.Duration_Seconds(jsii.Number(d.Seconds()))
}
