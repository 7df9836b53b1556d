package stack

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/jsii-runtime-go"

	"github.com/skitterhq/skitter/shared/topology"
)

// crawlRequested is the detail-type of events that start a job.
const crawlRequested = "Crawl Requested"

// startPrefix is where an object starts a job that is put there.
const startPrefix = "start/"

// sweepInput is what control is told each minute.
const sweepInput = `{"skitter":"sweep"}`

// takeEvents says what becomes of an event that control fails at: Lambda tries
// it twice more, and then it goes to the queue of lost events. Control's role
// allows it, since Lambda checks that at once.
func takeEvents(s awscdk.Stack, r *resources, control awslambda.Function) {
	awslambda.NewCfnEventInvokeConfig(s, jsii.String("Events"), &awslambda.CfnEventInvokeConfigProps{
		FunctionName: control.FunctionName(), Qualifier: jsii.String("$LATEST"),
		MaximumRetryAttempts: jsii.Number(2), MaximumEventAgeInSeconds: jsii.Number(time.Hour.Seconds()),
		DestinationConfig: &awslambda.CfnEventInvokeConfig_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventInvokeConfig_OnFailureProperty{Destination: r.lost.QueueArn()},
		},
	})
}

// newURL gives control its URL, for callers whom IAM knows, and a policy to
// attach to them. A call needs both actions. Source: AWS Lambda Developer
// Guide, "Control access to Lambda function URLs".
func newURL(s awscdk.Stack, t topology.Stack, control awslambda.Function) {
	url := control.AddFunctionUrl(&awslambda.FunctionUrlOptions{AuthType: awslambda.FunctionUrlAuthType_AWS_IAM})
	invoke := allow("InvokeByURL", []string{"lambda:InvokeFunction"}, *control.FunctionArn())
	invoke.AddCondition(jsii.String("Bool"), map[string]any{"lambda:InvokedViaFunctionUrl": "true"})
	call := allow("Call", []string{"lambda:InvokeFunctionUrl"}, *control.FunctionArn())
	call.AddCondition(jsii.String("StringEquals"), map[string]any{"lambda:FunctionUrlAuthType": "AWS_IAM"})
	callers := awsiam.NewManagedPolicy(s, jsii.String("Callers"), &awsiam.ManagedPolicyProps{
		Description: jsii.String("To call the job service of Skitter's stack " + t.Name),
		Statements:  &[]awsiam.PolicyStatement{call, invoke},
	})
	output(s, "URL", *url.Url(), "The job service; calls are signed (AWS_IAM)")
	output(s, "CallersPolicy", *callers.ManagedPolicyArn(), "To attach to whoever may call the job service")
}

// newSchedules makes the group that a stack's schedules are in, the role that
// they invoke control with, and the sweep.
func newSchedules(s awscdk.Stack, t topology.Stack, control awslambda.Function) {
	group := awsscheduler.NewCfnScheduleGroup(s, jsii.String("Schedules"), &awsscheduler.CfnScheduleGroupProps{Name: &t.Name})
	groupARN := s.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("scheduler"), Resource: jsii.String("schedule-group"), ResourceName: &t.Name,
	})
	role := awsiam.NewRole(s, jsii.String("SchedulesRole"), &awsiam.RoleProps{
		Description: jsii.String("To invoke control of Skitter's stack " + t.Name + " by its schedules"),
		// Schedules of this group alone can use it. Source: EventBridge
		// Scheduler User Guide, "Confused deputy prevention".
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{"StringEquals": map[string]any{
				"aws:SourceAccount": *s.Account(), "aws:SourceArn": *groupARN,
			}},
		}),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"invoke": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
				allow("Invoke", []string{"lambda:InvokeFunction"}, *control.FunctionArn()),
			}}),
		},
	})
	awsscheduler.NewCfnSchedule(s, jsii.String("Sweep"), &awsscheduler.CfnScheduleProps{
		Name: jsii.String(t.Name + "-sweep"), GroupName: group.Ref(),
		Description:        jsii.String("Has Skitter look after its jobs"),
		ScheduleExpression: jsii.String(fmt.Sprintf("rate(%d minute)", int(t.Times.Sweep.Minutes()))),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn: control.FunctionArn(), RoleArn: role.RoleArn(), Input: jsii.String(sweepInput),
			// One that is late is no better than the next. Both are the least
			// that there is. Source: EventBridge Scheduler API Reference,
			// RetryPolicy.
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
				MaximumEventAgeInSeconds: jsii.Number(60), MaximumRetryAttempts: jsii.Number(0),
			},
		},
	})
	output(s, "ScheduleGroup", *group.Ref(), "The group for schedules that start jobs")
	output(s, "ScheduleRole", *role.RoleArn(), "The role for schedules that start jobs")
	output(s, "ControlFunction", *control.FunctionArn(), "The target for schedules that start jobs")
}

// newRules has control told of events that ask for a job, and of objects that
// do.
func newRules(s awscdk.Stack, r *resources, control awslambda.Function) {
	target := func() *[]awsevents.IRuleTarget {
		return &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(control, &awseventstargets.LambdaFunctionProps{
			DeadLetterQueue: r.lost, MaxEventAge: awscdk.Duration_Hours(jsii.Number(1)), RetryAttempts: jsii.Number(10),
		})}
	}
	awsevents.NewRule(s, jsii.String("CrawlRequested"), &awsevents.RuleProps{
		Description:  jsii.String("An event starts a job"),
		EventPattern: &awsevents.EventPattern{Account: jsii.Strings(*s.Account()), DetailType: jsii.Strings(crawlRequested)},
		Targets:      target(),
	})
	awsevents.NewRule(s, jsii.String("ObjectCreated"), &awsevents.RuleProps{
		Description: jsii.String("An object under start/ starts a job"),
		EventPattern: &awsevents.EventPattern{
			Source: jsii.Strings("aws.s3"), DetailType: jsii.Strings("Object Created"),
			Detail: &map[string]any{
				"bucket": map[string]any{"name": []any{*r.bucket.BucketName()}},
				"object": map[string]any{"key": []any{map[string]any{"prefix": startPrefix}}},
			},
		},
		Targets: target(),
	})
}
