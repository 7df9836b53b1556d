package stack

import (
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/skitterhq/skitter/shared/topology"
)

// A stage is one function with its role, its logs, and what feeds it.
type stage struct {
	topology.Function
	scope    constructs.Construct
	role     awsiam.Role
	function awslambda.Function
}

func newStage(s awscdk.Stack, r *resources, f topology.Function, dist string) *stage {
	st := &stage{Function: f, scope: constructs.NewConstruct(s, jsii.String("Stage-"+f.Name))}
	logs := awslogs.NewLogGroup(st.scope, jsii.String("Logs"), &awslogs.LogGroupProps{
		LogGroupName:  jsii.String("/aws/lambda/" + r.FunctionName(f.Name)),
		Retention:     retentions[r.options.LogDays],
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	st.role = newRole(st, r, f, logs)
	props := &awslambda.FunctionProps{
		FunctionName:  jsii.String(r.FunctionName(f.Name)),
		Description:   jsii.String("Skitter's stage " + f.Name),
		Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:  awslambda.Architecture_ARM_64(),
		Handler:       jsii.String("bootstrap"),
		Code:          awslambda.Code_FromAsset(jsii.String(filepath.Join(dist, f.Name)), nil),
		MemorySize:    jsii.Number(f.Memory),
		Timeout:       duration(f.Timeout),
		Environment:   texts(r.Environment()),
		Role:          st.role,
		LogGroup:      logs,
		LoggingFormat: awslambda.LoggingFormat_JSON,
		// A page leads to requests and these to pages: without it Lambda ends
		// the chain after some 16 steps. Source: AWS Lambda Developer Guide,
		// "Lambda recursive loop detection".
		RecursiveLoop: awslambda.RecursiveLoop_ALLOW,
	}
	if r.options.Reserve {
		props.ReservedConcurrentExecutions = jsii.Number(r.concurrency(f))
	}
	st.function = awslambda.NewFunction(st.scope, jsii.String("Function"), props)
	for _, source := range f.Sources {
		st.takeFrom(r, source)
	}
	return st
}

// What the pollers of a queue's own can be. Source: AWS Lambda Developer Guide,
// "Using provisioned mode with an Amazon SQS event source mapping".
const (
	minPollers       = 2
	maxMinPollers    = 200
	pollerConcurrent = 10 // invocations that one poller has at a time
)

// mostPollers is how many pollers a source may have, to have its concurrency.
func mostPollers(source topology.Source, least int) int {
	return max(least, (source.Concurrency+pollerConcurrent-1)/pollerConcurrent, minPollers)
}

// concurrency is [topology.Function.Concurrency], with what pollers of a queue's
// own may invoke beyond it.
func (r *resources) concurrency(f topology.Function) int {
	n := f.Concurrency()
	for _, source := range f.Sources {
		if least, ok := r.options.Pollers[source.Queue]; ok {
			n += mostPollers(source, least)*pollerConcurrent - source.Concurrency
		}
	}
	return n
}

// takeFrom feeds the function from a queue.
func (st *stage) takeFrom(r *resources, source topology.Source) {
	props := &awslambda.EventSourceMappingProps{
		Target:         st.function,
		EventSourceArn: r.queues[source.Queue].QueueArn(),
		BatchSize:      jsii.Number(source.Batch),
		// Without it one message that fails brings its whole batch back.
		ReportBatchItemFailures: jsii.Bool(true),
	}
	if source.Window > 0 {
		props.MaxBatchingWindow = duration(source.Window)
	}
	if least, ok := r.options.Pollers[source.Queue]; ok {
		// Lambda takes only one of the two limits.
		props.ProvisionedPollerConfig = &awslambda.ProvisionedPollerConfig{
			MinimumPollers: jsii.Number(least), MaximumPollers: jsii.Number(mostPollers(source, least)),
		}
	} else {
		props.MaxConcurrency = jsii.Number(source.Concurrency)
	}
	awslambda.NewEventSourceMapping(st.scope, jsii.String("From-"+source.Queue), props)
}

// newRole makes a function's role. What it allows is part of the role itself:
// Lambda checks it when the queues are mapped, which may be before a policy of
// its own is attached.
func newRole(st *stage, r *resources, f topology.Function, logs awslogs.LogGroup) awsiam.Role {
	return awsiam.NewRole(st.scope, jsii.String("Role"), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		Description: jsii.String("What Skitter's stage " + f.Name + " may do"),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"stage": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: statements(r, f, logs)}),
		},
	})
}

// retentions are CDK's names for how many days logs are kept.
var retentions = map[int]awslogs.RetentionDays{
	1: awslogs.RetentionDays_ONE_DAY, 3: awslogs.RetentionDays_THREE_DAYS, 5: awslogs.RetentionDays_FIVE_DAYS,
	7: awslogs.RetentionDays_ONE_WEEK, 14: awslogs.RetentionDays_TWO_WEEKS, 30: awslogs.RetentionDays_ONE_MONTH,
	60: awslogs.RetentionDays_TWO_MONTHS, 90: awslogs.RetentionDays_THREE_MONTHS, 120: awslogs.RetentionDays_FOUR_MONTHS,
	150: awslogs.RetentionDays_FIVE_MONTHS, 180: awslogs.RetentionDays_SIX_MONTHS, 365: awslogs.RetentionDays_ONE_YEAR,
	400: awslogs.RetentionDays_THIRTEEN_MONTHS, 545: awslogs.RetentionDays_EIGHTEEN_MONTHS, 731: awslogs.RetentionDays_TWO_YEARS,
	1096: awslogs.RetentionDays_THREE_YEARS, 1827: awslogs.RetentionDays_FIVE_YEARS, 2192: awslogs.RetentionDays_SIX_YEARS,
	2557: awslogs.RetentionDays_SEVEN_YEARS, 2922: awslogs.RetentionDays_EIGHT_YEARS, 3288: awslogs.RetentionDays_NINE_YEARS,
	3653: awslogs.RetentionDays_TEN_YEARS,
}
