package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// metricNamespace is where the functions write their own metrics.
const metricNamespace = "Skitter"

// newDashboard shows what a stack does: how much waits, how much is worked, what
// fails, and what it costs in units. It has at most 50 metrics: three such
// dashboards an account are free. Source: Amazon CloudWatch pricing.
func newDashboard(s awscdk.Stack, r *resources, stages map[string]*stage) {
	var waiting, ages, invocations, durations, errors, throttles []awscloudwatch.IMetric
	for _, q := range r.Queues {
		waiting = append(waiting, r.queues[q.Name].MetricApproximateNumberOfMessagesVisible(labelled(q.Name, "Maximum")))
		ages = append(ages, r.queues[q.Name].MetricApproximateAgeOfOldestMessage(labelled(q.Name, "Maximum")))
	}
	for _, f := range r.Functions {
		function := stages[f.Name].function
		invocations = append(invocations, function.MetricInvocations(labelled(f.Name, "Sum")))
		durations = append(durations, function.MetricDuration(labelled(f.Name, "p99")))
		errors = append(errors, function.MetricErrors(labelled(f.Name, "Sum")))
		throttles = append(throttles, function.MetricThrottles(labelled(f.Name, "Sum")))
	}
	awscloudwatch.NewDashboard(s, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: &r.Name,
		Widgets: &[]*[]awscloudwatch.IWidget{
			{graph("Messages waiting", waiting), graph("Age of the oldest message (s)", ages)},
			{graph("Messages worked", r.own("Messages")), graph("Messages that came again", r.own("Redelivered"))},
			{graph("Invocations", invocations), graph("Duration, p99 (ms)", durations)},
			{graph("Errors", errors), graph("Throttles", throttles)},
			{graph("SQS requests", r.own("SQSRequests")), graph("DynamoDB write units", r.own("WriteUnits")), graph("DynamoDB read units", r.own("ReadUnits"))},
		},
	})
}

// own is a metric that the functions write themselves, a line a function.
func (r *resources) own(name string) []awscloudwatch.IMetric {
	var list []awscloudwatch.IMetric
	for _, f := range r.Functions {
		list = append(list, awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String(metricNamespace), MetricName: &name, Label: &f.Name,
			DimensionsMap: texts(map[string]string{"Stack": r.Name, "Function": f.Name}),
			Period:        duration(time.Minute), Statistic: jsii.String("Sum"),
		}))
	}
	return list
}

func labelled(label, statistic string) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{Period: duration(time.Minute), Statistic: &statistic, Label: &label}
}

func graph(title string, metrics []awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Title: &title, Left: &metrics, Width: jsii.Number(8)})
}
