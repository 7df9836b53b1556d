package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/topology"
)

// sweep: control looks after the jobs each minute; without it what got lost
// stays lost.
func sweep(v *view) {
	control := v.function(topology.Control)
	for _, r := range v.of("Scheduler::Schedule") {
		if r.get("Target.Input") != `{"skitter":"sweep"}` {
			continue
		}
		v.want(r, "ScheduleExpression", fmt.Sprintf("rate(%d minute)", int(v.Times.Sweep.Minutes())))
		v.want(r, "FlexibleTimeWindow.Mode", "OFF")
		if !points(r.get("Target.Arn"), control.id) {
			v.bad("%s is not for control", r.id)
		}
		if state := r.get("State"); state != nil && state != "ENABLED" {
			v.bad("%s is switched off", r.id)
		}
		return
	}
	v.bad("no schedule has control sweep")
}

// schedules: a group and a role are there for them, which no other group can
// use.
func schedules(v *view) {
	control := v.function(topology.Control)
	groups := v.of("Scheduler::ScheduleGroup")
	if len(groups) != 1 {
		v.bad("there are %d groups of schedules", len(groups))
		return
	}
	v.want(groups[0], "Name", v.Name)
	for _, r := range v.of("Scheduler::Schedule") {
		if !points(r.get("GroupName"), groups[0].id) {
			v.bad("%s is not in the stack's group", r.id)
		}
		i := slices.IndexFunc(v.of("IAM::Role"), func(role resource) bool { return points(r.get("Target.RoleArn"), role.id) })
		if i < 0 {
			v.bad("%s has no role of the stack", r.id)
			continue
		}
		role := v.of("IAM::Role")[i]
		if !mayDo(v.allowed(role), "lambda:InvokeFunction", control.id) {
			v.bad("%s may not invoke control", role.id)
		}
		trust := statements(role.id, role.get("AssumeRolePolicyDocument"))
		if len(trust) != 1 || !strings.Contains(text(get(trust[0].condition, "StringEquals.aws:SourceArn")), ":schedule-group/"+v.Name+`"`) {
			v.bad("%s can be used by schedules of others", role.id)
		}
	}
}

// rules: events and objects start jobs.
func rules(v *view) {
	control, bucket := v.function(topology.Control), v.theBucket()
	v.want(bucket, "NotificationConfiguration.EventBridgeConfiguration.EventBridgeEnabled", true)
	for _, kind := range []string{"Crawl Requested", "Object Created"} {
		i := slices.IndexFunc(v.of("Events::Rule"), func(r resource) bool { return text(r.get("EventPattern.detail-type")) == text([]any{kind}) })
		if i < 0 {
			v.bad("no rule is for events %s", kind)
			continue
		}
		r := v.of("Events::Rule")[i]
		if !mentions(r.get("Targets"), control.id) {
			v.bad("%s does not tell control", r.id)
		}
		if !slices.ContainsFunc(v.of("Lambda::Permission"), func(p resource) bool {
			return points(p.get("SourceArn"), r.id) && points(p.get("FunctionName"), control.id)
		}) {
			v.bad("%s may not invoke control", r.id)
		}
		if kind == "Object Created" {
			v.want(r, "EventPattern.source", []any{"aws.s3"})
			v.want(r, "EventPattern.detail.object.key", []any{map[string]any{"prefix": "start/"}})
			if !mentions(r.get("EventPattern.detail.bucket"), bucket.id) {
				v.bad("%s is for all buckets", r.id)
			}
		}
	}
}

// lostEvents: an event that control fails at is kept.
func lostEvents(v *view) {
	control := v.function(topology.Control)
	for _, r := range v.of("Lambda::EventInvokeConfig") {
		if !points(r.get("FunctionName"), control.id) {
			continue
		}
		for _, q := range v.of("SQS::Queue") {
			if points(r.get("DestinationConfig.OnFailure.Destination"), q.id) {
				if !mayDo(v.allowed(v.role(control)), "sqs:SendMessage", q.id) {
					v.bad("control may not send to %s", q.id)
				}
				return
			}
		}
	}
	v.bad("what control fails at is lost")
}

// alarms: somebody hears of dead letters, of work that waits for too long, of
// functions that fail or are throttled.
func alarms(v *view) {
	dead := v.queue(topology.QueueDead)
	v.alarm("ApproximateNumberOfMessagesVisible", dead.id)
	v.alarm("NumberOfMessagesReceived", dead.id)
	for _, q := range v.Queues {
		if q.Name == topology.QueueDead {
			continue
		}
		queue := v.queue(q.Name)
		if a := v.alarm("ApproximateAgeOfOldestMessage", queue.id); a.number("Threshold") >= queue.number("MessageRetentionPeriod") {
			v.bad("%s comes after %s has forgotten", a.id, queue.id)
		}
	}
	for _, f := range v.Functions {
		function := v.function(f.Name)
		v.alarm("Errors", function.id)
		v.alarm("Throttles", function.id)
	}
}

// alarm is the one on a metric of a resource.
func (v *view) alarm(metric, id string) resource {
	for _, r := range v.of("CloudWatch::Alarm") {
		if r.get("MetricName") == metric && mentions(r.get("Dimensions"), id) {
			if operator, _ := r.get("ComparisonOperator").(string); !strings.HasPrefix(operator, "GreaterThan") {
				v.bad("%s is for %s", r.id, operator)
			}
			return r
		}
	}
	v.bad("no alarm is on %s of %s", metric, id)
	return resource{id: "missing alarm"}
}
