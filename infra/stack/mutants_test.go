package stack

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/infra/check"
	"github.com/skitterhq/skitter/shared/topology"
)

var everything = check.Options{Alarms: true, Events: true}

// A mutant takes a property from a template.
type mutant struct {
	property string
	does     string
	change   func(m *mutation)
}

// mutants has one or more for each property that a crawl relies on.
var mutants = []mutant{
	{"recursive-loop", "is not set", func(m *mutation) { m.drop("Lambda::Function", "skitter-fetch", "RecursiveLoop") }},
	{"recursive-loop", "ends the chain", func(m *mutation) { m.set("Lambda::Function", "skitter-control", "RecursiveLoop", "Terminate") }},
	{"code", "another processor", func(m *mutation) {
		m.set("Lambda::Function", "skitter-parse", "Architectures", []any{"x86_64"})
	}},
	{"code", "another time-out", func(m *mutation) { m.set("Lambda::Function", "skitter-pipeline", "Timeout", 30.0) }},
	{"environment", "another stack", func(m *mutation) {
		m.set("Lambda::Function", "skitter-fetch", "Environment.Variables.SKITTER_STACK", "other")
	}},
	{"environment", "another bucket", func(m *mutation) {
		m.set("Lambda::Function", "skitter-fetch", "Environment.Variables.SKITTER_BUCKET", "other")
	}},
	{"environment", "a scale for tests", func(m *mutation) {
		m.set("Lambda::Function", "skitter-fetch", "Environment.Variables.SKITTER_TIME_SCALE", "60")
	}},
	{"address-guard", "is open", func(m *mutation) {
		m.set("Lambda::Function", "skitter-fetch", "Environment.Variables."+topology.EnvAllowAddresses, "10.0.0.0/8")
	}},
	{"address-guard", "a VPC", func(m *mutation) {
		m.set("Lambda::Function", "skitter-fetch", "VpcConfig", map[string]any{"SubnetIds": []any{"subnet-1"}})
	}},
	{"logs", "text", func(m *mutation) { m.set("Lambda::Function", "skitter-fetch", "LoggingConfig.LogFormat", "Text") }},
	{"logs", "for ever", func(m *mutation) { m.drop("Logs::LogGroup", "skitter-parse", "RetentionInDays") }},
	{"reserved-concurrency", "too little", func(m *mutation) {
		m.set("Lambda::Function", "skitter-fetch", "ReservedConcurrentExecutions", 349.0)
	}},

	{"queues", "keeps for too short", func(m *mutation) { m.set("SQS::Queue", `"skitter-page"`, "MessageRetentionPeriod", 60.0) }},
	{"queues", "is not there", func(m *mutation) { m.remove("SQS::Queue", `"skitter-request-low"`) }},
	{"queues", "small messages", func(m *mutation) { m.set("SQS::Queue", `"skitter-page"`, "MaximumMessageSize", 262144.0) }},
	{"visibility", "too short", func(m *mutation) { m.set("SQS::Queue", `"skitter-item"`, "VisibilityTimeout", 360.0) }},
	{"visibility", "time-out too long", func(m *mutation) { m.set("Lambda::Function", "skitter-fetch", "Timeout", 76.0) }},
	{"redrive", "never", func(m *mutation) { m.drop("SQS::Queue", `"skitter-request"`, "RedrivePolicy") }},
	{"redrive", "too early", func(m *mutation) { m.set("SQS::Queue", `"skitter-item"`, "RedrivePolicy.maxReceiveCount", 3.0) }},
	{"dead-letter-queue", "forgets first", func(m *mutation) {
		m.set("SQS::Queue", `"skitter-dead"`, "MessageRetentionPeriod", 4.0*24*3600)
	}},
	{"dead-letter-queue", "takes from all", func(m *mutation) { m.drop("SQS::Queue", `"skitter-dead"`, "RedriveAllowPolicy") }},
	{"dead-letter-queue", "takes not from all of its own", func(m *mutation) {
		p := m.one("SQS::Queue", `"skitter-dead"`)["RedriveAllowPolicy"].(map[string]any)
		p["sourceQueueArns"] = p["sourceQueueArns"].([]any)[1:]
	}},
	{"encrypted-queues", "is not", func(m *mutation) { m.set("SQS::Queue", `"skitter-page"`, "SqsManagedSseEnabled", false) }},
	{"tls-queues", "no policy", func(m *mutation) { m.remove("SQS::QueuePolicy", "Queuepage") }},
	{"tls-queues", "allows", func(m *mutation) {
		m.statement("SQS::QueuePolicy", "Queuepage", "sqs:*")["Effect"] = "Allow"
	}},

	{"sources", "is not there", func(m *mutation) { m.remove("Lambda::EventSourceMapping", "Queuerequesthigh") }},
	{"sources", "single messages", func(m *mutation) { m.set("Lambda::EventSourceMapping", "Queuerequesthigh", "BatchSize", 1.0) }},
	{"sources", "no window", func(m *mutation) {
		m.drop("Lambda::EventSourceMapping", "Queueitem", "MaximumBatchingWindowInSeconds")
	}},
	{"sources", "a filter", func(m *mutation) {
		m.set("Lambda::EventSourceMapping", "Queueitem", "FilterCriteria", map[string]any{"Filters": []any{}})
	}},
	{"partial-batch", "is not set", func(m *mutation) {
		m.drop("Lambda::EventSourceMapping", "Queuepage", "FunctionResponseTypes")
	}},
	{"concurrency", "no limit", func(m *mutation) { m.drop("Lambda::EventSourceMapping", "Queuepage", "ScalingConfig") }},
	{"concurrency", "another", func(m *mutation) {
		m.set("Lambda::EventSourceMapping", "Queuepage", "ScalingConfig.MaximumConcurrency", 1000.0)
	}},

	{"tables", "another key", func(m *mutation) {
		m.set("DynamoDB::Table", "skitter-frontier", "KeySchema", []any{map[string]any{"AttributeName": "job", "KeyType": "HASH"}})
	}},
	{"tables", "another type", func(m *mutation) {
		m.set("DynamoDB::Table", "skitter-hosts", "AttributeDefinitions", []any{map[string]any{"AttributeName": "pk", "AttributeType": "B"}})
	}},
	{"tables", "no index", func(m *mutation) { m.drop("DynamoDB::Table", "skitter-jobs", "GlobalSecondaryIndexes") }},
	{"tables", "provisioned", func(m *mutation) { m.drop("DynamoDB::Table", "skitter-hosts", "BillingMode") }},
	{"ttl", "is not set", func(m *mutation) { m.drop("DynamoDB::Table", "skitter-frontier", "TimeToLiveSpecification") }},
	{"ttl", "another attribute", func(m *mutation) {
		m.set("DynamoDB::Table", "skitter-hosts", "TimeToLiveSpecification.AttributeName", "ttl")
	}},
	{"recovery", "is not set", func(m *mutation) { m.drop("DynamoDB::Table", "skitter-items", "PointInTimeRecoverySpecification") }},
	{"bucket", "open", func(m *mutation) { m.set("S3::Bucket", "", "PublicAccessBlockConfiguration.BlockPublicPolicy", false) }},
	{"bucket", "not encrypted", func(m *mutation) { m.drop("S3::Bucket", "", "BucketEncryption") }},
	{"bucket", "in the clear", func(m *mutation) { m.remove("S3::BucketPolicy", "") }},
	{"lifecycle", "keeps all", func(m *mutation) { m.drop("S3::Bucket", "", "LifecycleConfiguration") }},
	{"lifecycle", "deletes feeds", func(m *mutation) {
		l := m.one("S3::Bucket", "")["LifecycleConfiguration"].(map[string]any)
		l["Rules"] = append(l["Rules"].([]any), map[string]any{"Prefix": "feeds/", "Status": "Enabled", "ExpirationInDays": 30.0})
	}},
	{"lifecycle", "keeps uploads", func(m *mutation) {
		l := m.one("S3::Bucket", "")["LifecycleConfiguration"].(map[string]any)
		l["Rules"] = l["Rules"].([]any)[1:]
	}},

	{"own-roles", "shared", func(m *mutation) {
		m.set("Lambda::Function", "skitter-fetch", "Role", m.one("Lambda::Function", "skitter-control")["Role"])
	}},
	{"own-roles", "AWS's policy", func(m *mutation) {
		m.set("IAM::Role", "stage fetch", "ManagedPolicyArns", []any{"arn:aws:iam::aws:policy/AmazonSQSFullAccess"})
	}},
	{"least-privilege", "any action", func(m *mutation) {
		m.statement("IAM::Role", "stage parse", "dynamodb:GetItem")["Action"] = "dynamodb:*"
	}},
	{"least-privilege", "any resource", func(m *mutation) { m.statement("IAM::Role", "stage parse", "sqs:SendMessage")["Resource"] = "*" }},
	{"least-privilege", "the whole bucket", func(m *mutation) {
		s := m.statement("IAM::Role", "stage pipeline", "s3:PutObject")
		s["Resource"] = map[string]any{"Fn::Join": []any{"", []any{map[string]any{"Fn::GetAtt": []any{m.id("S3::Bucket", ""), "Arn"}}, "/*"}}}
	}},
	{"least-privilege", "scans", func(m *mutation) {
		s := m.statement("IAM::Role", "stage control", "dynamodb:BatchWriteItem")
		s["Action"] = append(s["Action"].([]any), "dynamodb:Scan")
	}},
	{"least-privilege", "fetch deletes", func(m *mutation) {
		s := m.statement("IAM::Role", "stage fetch", "s3:PutObject")
		s["Action"] = []any{"s3:PutObject", "s3:DeleteObject"}
	}},
	{"least-privilege", "parse writes items", func(m *mutation) {
		s := m.statement("IAM::Role", "stage parse", "dynamodb:BatchGetItem")
		s["Resource"] = []any{s["Resource"], map[string]any{"Fn::GetAtt": []any{m.id("DynamoDB::Table", "skitter-items"), "Arn"}}}
	}},
	{"least-privilege", "lists everything", func(m *mutation) {
		delete(m.statement("IAM::Role", "stage control", "s3:ListBucket"), "Condition")
	}},
	{"least-privilege", "lists any prefix", func(m *mutation) {
		m.statement("IAM::Role", "stage control", "s3:ListBucket")["Condition"] = map[string]any{"StringLike": map[string]any{"s3:prefix": "*"}}
	}},
	{"takes-and-sends", "fetch sends items", func(m *mutation) {
		s := m.statement("IAM::Role", "stage fetch", "sqs:SendMessage")
		s["Resource"] = append(s["Resource"].([]any), map[string]any{"Fn::GetAtt": []any{m.id("SQS::Queue", `"skitter-item"`), "Arn"}})
	}},
	{"takes-and-sends", "parse takes requests", func(m *mutation) {
		s := m.statement("IAM::Role", "stage parse", "sqs:ReceiveMessage")
		s["Resource"] = []any{s["Resource"], map[string]any{"Fn::GetAtt": []any{m.id("SQS::Queue", `"skitter-request"`), "Arn"}}}
	}},
	{"takes-and-sends", "pipeline cannot tell control", func(m *mutation) {
		s := m.statement("IAM::Role", "stage pipeline", "sqs:SendMessage")
		s["Resource"] = s["Resource"].([]any)[1:]
	}},
	{"url", "open", func(m *mutation) { m.set("Lambda::Url", "", "AuthType", "NONE") }},
	{"url", "none", func(m *mutation) { m.remove("Lambda::Url", "") }},
	{"url", "half a permission", func(m *mutation) {
		m.statement("IAM::ManagedPolicy", "", "lambda:InvokeFunction")["Action"] = "lambda:GetFunction"
	}},
	{"not-public", "everybody invokes", func(m *mutation) { m.set("Lambda::Permission", "CrawlRequested", "Principal", "*") }},
	{"not-public", "any rule", func(m *mutation) { m.drop("Lambda::Permission", "CrawlRequested", "SourceArn") }},
	{"not-public", "everybody sends", func(m *mutation) {
		s := m.statement("SQS::QueuePolicy", "Queuepage", "sqs:*")
		s["Effect"], s["Principal"] = "Allow", "*"
	}},

	{"sweep", "none", func(m *mutation) { m.remove("Scheduler::Schedule", "") }},
	{"sweep", "each hour", func(m *mutation) { m.set("Scheduler::Schedule", "", "ScheduleExpression", "rate(1 hour)") }},
	{"sweep", "off", func(m *mutation) { m.set("Scheduler::Schedule", "", "State", "DISABLED") }},
	{"schedules", "any group's role", func(m *mutation) {
		m.trust("SchedulesRole")["Condition"] = map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": "1"}}
	}},
	{"schedules", "may not invoke", func(m *mutation) { m.drop("IAM::Role", "by its schedules", "Policies") }},
	{"schedules", "default group", func(m *mutation) { m.drop("Scheduler::Schedule", "", "GroupName") }},
	{"rules", "no events", func(m *mutation) { m.remove("Events::Rule", "Crawl Requested") }},
	{"rules", "any object", func(m *mutation) { m.drop("Events::Rule", "Object Created", "EventPattern.detail.object") }},
	{"rules", "the bucket is silent", func(m *mutation) { m.drop("S3::Bucket", "", "NotificationConfiguration") }},
	{"rules", "may not invoke", func(m *mutation) { m.remove("Lambda::Permission", "ObjectCreated") }},
	{"lost-events", "are lost", func(m *mutation) { m.remove("Lambda::EventInvokeConfig", "") }},
	{"lost-events", "may not be sent", func(m *mutation) {
		m.statement("IAM::Role", "stage control", "Lose")["Resource"] = "arn:aws:sqs:us-east-1:1:other"
	}},
	{"alarms", "no dead letters", func(m *mutation) { m.remove("CloudWatch::Alarm", `"skitter-dead-letters-left"`) }},
	{"alarms", "no received ones", func(m *mutation) { m.remove("CloudWatch::Alarm", `"skitter-dead-letters"`) }},
	{"alarms", "no age", func(m *mutation) { m.remove("CloudWatch::Alarm", "skitter-age-page") }},
	{"alarms", "too late", func(m *mutation) { m.set("CloudWatch::Alarm", "skitter-age-page", "Threshold", 4.0*24*3600) }},
	{"alarms", "no errors", func(m *mutation) { m.remove("CloudWatch::Alarm", "skitter-errors-fetch") }},
	{"alarms", "no throttles", func(m *mutation) { m.remove("CloudWatch::Alarm", "skitter-throttles-fetch") }},
	{"alarms", "the other way round", func(m *mutation) {
		m.set("CloudWatch::Alarm", "skitter-throttles-fetch", "ComparisonOperator", "LessThanThreshold")
	}},
}

func TestEachPropertyIsMissedWhereItIsTaken(t *testing.T) {
	stack := topology.Default("skitter")
	if findings := check.Template(plain(t), stack, everything); len(findings) > 0 {
		t.Fatalf("the template as it is lacks %v", findings)
	}
	taken := map[string]bool{}
	for _, mu := range mutants {
		taken[mu.property] = true
		m := &mutation{t: t, template: plain(t)}
		mu.change(m)
		findings := check.Template(m.template, stack, everything)
		if !slices.ContainsFunc(findings, func(f check.Finding) bool { return f.Property == mu.property }) {
			t.Errorf("%s: %s: nothing is found but %v", mu.property, mu.does, findings)
		}
	}
	for _, name := range check.Properties() {
		if !taken[name] {
			t.Errorf("no mutant takes the property %s", name)
		}
	}
}

// A mutation changes a template. Resources are found by their type, after
// AWS::, and a text that is in them or in their ID.
type mutation struct {
	t        *testing.T
	template map[string]any
}

func (m *mutation) resources() map[string]any { return m.template["Resources"].(map[string]any) }

func (m *mutation) id(kind, with string) string {
	m.t.Helper()
	resources := m.resources()
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		r := resources[id].(map[string]any)
		if r["Type"] == "AWS::"+kind && (strings.Contains(id, with) || strings.Contains(asJSON(m.t, r["Properties"]), with)) {
			return id
		}
	}
	m.t.Fatalf("no %s with %s", kind, with)
	return ""
}

func (m *mutation) one(kind, with string) map[string]any {
	m.t.Helper()
	return m.resources()[m.id(kind, with)].(map[string]any)["Properties"].(map[string]any)
}

func (m *mutation) remove(kind, with string) {
	m.t.Helper()
	delete(m.resources(), m.id(kind, with))
}

// place is the map that a path ends in, and its last name.
func (m *mutation) place(kind, with, path string) (map[string]any, string) {
	m.t.Helper()
	at, names := m.one(kind, with), strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		next, ok := at[name].(map[string]any)
		if !ok {
			m.t.Fatalf("%s %s has no %s", kind, with, path)
		}
		at = next
	}
	return at, names[len(names)-1]
}

func (m *mutation) set(kind, with, path string, value any) {
	m.t.Helper()
	at, name := m.place(kind, with, path)
	at[name] = value
}

func (m *mutation) drop(kind, with, path string) {
	m.t.Helper()
	at, name := m.place(kind, with, path)
	if _, ok := at[name]; !ok {
		m.t.Fatalf("%s %s has no %s", kind, with, path)
	}
	delete(at, name)
}

// statement is one of a policy, by an action or its Sid.
func (m *mutation) statement(kind, with, has string) map[string]any {
	m.t.Helper()
	var documents []any
	props := m.one(kind, with)
	if policies, ok := props["Policies"].([]any); ok {
		for _, p := range policies {
			documents = append(documents, p.(map[string]any)["PolicyDocument"])
		}
	} else {
		documents = append(documents, props["PolicyDocument"])
	}
	for _, d := range documents {
		for _, s := range d.(map[string]any)["Statement"].([]any) {
			s := s.(map[string]any)
			if s["Sid"] == has || strings.Contains(asJSON(m.t, s["Action"]), `"`+has+`"`) {
				return s
			}
		}
	}
	m.t.Fatalf("%s %s has no statement with %s", kind, with, has)
	return nil
}

// trust is the statement that says who may take on a role.
func (m *mutation) trust(with string) map[string]any {
	m.t.Helper()
	return m.one("IAM::Role", with)["AssumeRolePolicyDocument"].(map[string]any)["Statement"].([]any)[0].(map[string]any)
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
