// Package stack is what is deployed: the queues, tables, functions and bucket
// of package topology as one CloudFormation stack, and what makes them safe to
// run: roles, alarms, schedules, rules and a URL.
//
// Names, sizes and times are the topology's; what a deployment may choose
// itself are [Options].
package stack

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"github.com/skitterhq/skitter/infra/check"
	"github.com/skitterhq/skitter/shared/topology"
)

// A Config is how an app is built.
type Config struct {
	// Dist is the folder that has the binaries, one folder a function.
	Dist string
	// Out is where the cloud assembly is written; empty leaves it to CDK.
	Out string
	// Context are values by name, those of [Options] among them.
	Context map[string]string
	// Validate has CDK check the template for what CloudFormation would refuse,
	// and cdk-nag for what is unsafe.
	Validate bool
}

// flagsJSON are CDK's feature flags. They are here and not in cdk.json, which
// the CLI alone reads, so that tests and CLI see the same template.
//
//go:embed flags.json
var flagsJSON []byte

// An App is a CDK app with one stack.
type App struct {
	CDK   awscdk.App
	Stack awscdk.Stack
	// Topology is that of the stack, with the options applied.
	Topology topology.Stack
	Options  Options
}

// New builds an app. The error names what is wrong with the options.
func New(c Config) (*App, error) {
	values := map[string]any{}
	if err := json.Unmarshal(flagsJSON, &values); err != nil {
		return nil, fmt.Errorf("feature flags: %w", err)
	}
	for name, value := range c.Context {
		values[name] = value
	}
	props := &awscdk.AppProps{
		Context: &values, AnalyticsReporting: jsii.Bool(false), BuiltinCloudFormationValidation: &c.Validate,
	}
	if c.Out != "" {
		props.Outdir = &c.Out
	}
	app := &App{CDK: awscdk.NewApp(props)}
	options, err := ReadOptions(func(name string) string {
		if value := app.CDK.Node().TryGetContext(&name); value != nil {
			return fmt.Sprint(value)
		}
		return ""
	})
	if err != nil {
		return nil, err
	}
	app.Options = options
	app.Topology = options.apply(topology.Default(options.Name))
	if err := app.Topology.Validate(); err != nil {
		return nil, err
	}
	app.Stack = build(app.CDK, app.Topology, options, c.Dist)
	if c.Validate {
		awscdk.Aspects_Of(app.CDK).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{}), nil)
	}
	return app, nil
}

// apply puts what the options change into a topology.
func (o Options) apply(s topology.Stack) topology.Stack {
	functions := s.Functions
	s.Functions = nil
	for _, f := range functions {
		if mb, ok := o.Memory[f.Name]; ok {
			f.Memory = mb
		}
		s.Functions = append(s.Functions, f)
	}
	return s
}

// resources are what the functions work on.
type resources struct {
	topology.Stack
	options Options

	queues map[string]awssqs.Queue
	tables map[string]awsdynamodb.Table
	bucket awss3.Bucket
	// lost takes events that control could not be invoked for.
	lost awssqs.Queue
}

func build(app awscdk.App, t topology.Stack, o Options, dist string) awscdk.Stack {
	s := awscdk.NewStack(app, jsii.String(t.Name), &awscdk.StackProps{
		Description: jsii.String("Skitter: a crawler"), TerminationProtection: &o.Prod,
	})
	awscdk.Tags_Of(s).Add(jsii.String("service"), jsii.String("skitter"), nil)
	awscdk.Tags_Of(s).Add(jsii.String("stack"), &t.Name, nil)
	t.Bucket = fmt.Sprintf("%s-%s-%s", t.Name, *s.Account(), *s.Region())
	r := &resources{Stack: t, options: o}
	r.queues = newQueues(s, t)
	r.lost = newLost(s)
	r.tables = newTables(s, t, o)
	r.bucket = newBucket(s, t, o)
	stages := map[string]*stage{}
	for _, f := range t.Functions {
		stages[f.Name] = newStage(s, r, f, dist)
	}
	control := stages[topology.Control].function
	takeEvents(s, r, control)
	newURL(s, t, control)
	newSchedules(s, t, control)
	if o.Events {
		newRules(s, r, control)
	}
	if o.Alarms {
		newAlarms(s, r, stages)
	}
	if o.Dashboard {
		newDashboard(s, r, stages)
	}
	output(s, "Bucket", *r.bucket.BucketName(), "Where feeds lie, and objects start jobs (SKITTER_BUCKET)")
	output(s, "Stack", t.Name, "The stack's name (SKITTER_STACK)")
	accept(r, stages)
	return s
}

func output(s awscdk.Stack, name, value, description string) {
	awscdk.NewCfnOutput(s, jsii.String(name+"Output"), &awscdk.CfnOutputProps{Value: &value, Description: &description}).
		OverrideLogicalId(&name)
}

// removal is what becomes of data when the stack is deleted.
func removal(o Options) awscdk.RemovalPolicy {
	if o.Prod {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}

// texts is a map as CDK takes it.
func texts(m map[string]string) *map[string]*string {
	out := map[string]*string{}
	for key, value := range m {
		out[key] = jsii.String(value)
	}
	return &out
}

// Synth writes the cloud assembly and returns the stack's template, held against
// what a crawl relies on.
func (a *App) Synth() (map[string]any, error) {
	assembly := a.CDK.Synth(nil)
	data, err := os.ReadFile(filepath.Join(*assembly.Directory(), *a.Stack.TemplateFile()))
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	var template map[string]any
	if err := json.Unmarshal(data, &template); err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	var errs []error
	for _, f := range check.Template(template, a.Topology, check.Options{Alarms: a.Options.Alarms, Events: a.Options.Events}) {
		errs = append(errs, errors.New(f.String()))
	}
	return template, errors.Join(errs...)
}
