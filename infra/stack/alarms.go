package stack

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/skitterhq/skitter/shared/topology"
)

// An alarm says when a metric is bad.
type alarm struct {
	name, description string
	metric            awscloudwatch.IMetric
	threshold         float64
	// of periods, bad must be bad.
	periods, bad float64
}

// newAlarms makes the alarms, and sends them to the topic if there is one.
func newAlarms(s awscdk.Stack, r *resources, stages map[string]*stage) {
	var topic awssns.ITopic
	if arn := r.options.AlarmTopic; arn != "" {
		topic = awssns.Topic_FromTopicArn(s, jsii.String("AlarmTopic"), &arn)
	}
	alarms := queueAlarms(r)
	for _, f := range r.Functions {
		alarms = append(alarms, functionAlarms(stages[f.Name])...)
	}
	for _, a := range alarms {
		made := awscloudwatch.NewAlarm(s, jsii.String("Alarm-"+a.name), &awscloudwatch.AlarmProps{
			AlarmName: jsii.String(r.Name + "-" + a.name), AlarmDescription: jsii.String(a.description),
			Metric: a.metric, Threshold: &a.threshold, EvaluationPeriods: &a.periods, DatapointsToAlarm: &a.bad,
			ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
			TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
		})
		if topic != nil {
			made.AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
		}
	}
}

// lateWork is at what age work is late: a quarter of the time after which SQS
// forgets it. A large crawl has messages that wait for hours.
func lateWork(q topology.Queue) time.Duration { return q.Retention / 4 }

func queueAlarms(r *resources) []alarm {
	dead := r.queues[topology.QueueDead]
	alarms := []alarm{
		{
			// Control takes them at once, so that the queue's depth misses
			// most; and what a redrive moves is not counted as sent.
			name: "dead-letters", description: "Messages were given up on: see skitter dead list.",
			metric: dead.MetricNumberOfMessagesReceived(every(5*time.Minute, "Sum")), threshold: 1, periods: 1, bad: 1,
		},
		{
			name: "dead-letters-left", description: "Dead letters lie in their queue, and control does not account for them.",
			metric: dead.MetricApproximateNumberOfMessagesVisible(every(5*time.Minute, "Maximum")), threshold: 1, periods: 3, bad: 3,
		},
		{
			name: "lost-events", description: "Schedules, events or objects asked for a job that was not started: look into the queue of lost events.",
			metric: r.lost.MetricApproximateNumberOfMessagesVisible(every(5*time.Minute, "Maximum")), threshold: 1, periods: 1, bad: 1,
		},
	}
	for _, q := range r.Queues {
		if q.Name == topology.QueueDead {
			continue
		}
		late := lateWork(q)
		if q.Name == topology.QueueControl {
			// Whatever is done about jobs is short; a message may be held back
			// for the longest delay, and then fail once.
			late = r.Times.Quiet
		}
		alarms = append(alarms, alarm{
			name: "age-" + q.Name, description: fmt.Sprintf("The oldest message of queue %s waits for %s or more.", q.Name, late),
			metric:    r.queues[q.Name].MetricApproximateAgeOfOldestMessage(every(5*time.Minute, "Maximum")),
			threshold: late.Seconds(), periods: 3, bad: 3,
		})
	}
	return alarms
}

func functionAlarms(st *stage) []alarm {
	return []alarm{
		{
			name: "errors-" + st.Name, description: fmt.Sprintf("Function %s fails again and again: see its log.", st.Name),
			metric: st.function.MetricErrors(every(5*time.Minute, "Sum")), threshold: 1, periods: 3, bad: 2,
		},
		{
			name: "throttles-" + st.Name, description: fmt.Sprintf("Function %s is throttled: the account's concurrency is used up.", st.Name),
			metric: st.function.MetricThrottles(every(5*time.Minute, "Sum")), threshold: 1, periods: 3, bad: 2,
		},
	}
}

func every(period time.Duration, statistic string) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{Period: duration(period), Statistic: &statistic}
}
