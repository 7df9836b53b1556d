package deploytest

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/jsii-runtime-go"

	"github.com/skitterhq/skitter/infra/stack"
	"github.com/skitterhq/skitter/infra/stack/stacktest"
	"github.com/skitterhq/skitter/shared/topology"
)

const (
	name = "skitter"
	// account and region are those of moto, and bucket the name that a stack's
	// bucket has there.
	account = "123456789012"
	region  = "us-east-1"
	bucket  = name + "-" + account + "-" + region
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// TestWhatIsDeployedIsWhatIsProvisioned compares the two ways to a stack, each
// at a moto of its own.
func TestWhatIsDeployedIsWhatIsProvisioned(t *testing.T) {
	if testing.Short() {
		t.Skip("a deployment takes a quarter of a minute")
	}
	cli := filepath.Join("..", "node_modules", ".bin", "cdk")
	needed(t, cli, "npm ci in infra/")
	deployed, provisioned := startMoto(t), startMoto(t)
	var both sync.WaitGroup
	both.Go(func() {
		env := append(provisioned.environment(), "AWS_ENDPOINT_URL="+provisioned.url)
		run(t, "../..", env, "go", "run", "./shared/aws/provision/provisiontest", "-endpoint", provisioned.url, "-stack", name, "-bucket", bucket)
	})
	template := deploy(t, cli, deployed)
	both.Wait()
	s := topology.Default(name)
	s.Bucket = bucket
	t.Run("queues", func(t *testing.T) { sameQueues(t, s, deployed, provisioned) })
	t.Run("tables", func(t *testing.T) { sameTables(t, s, deployed, provisioned, template) })
	t.Run("bucket", func(t *testing.T) { sameBucket(t, s, deployed, provisioned, template) })
	t.Run("functions", func(t *testing.T) { functions(t, s, deployed) })
	t.Run("sources", func(t *testing.T) { sources(t, s, deployed) })
}

// deploy deploys the stack as make deploy does, and returns its template.
func deploy(t *testing.T, cli string, m moto) map[string]any {
	t.Helper()
	out := t.TempDir()
	app, err := stack.New(stack.Config{Dist: stacktest.Dist(t), Out: out, Context: map[string]string{"name": name}})
	if err != nil {
		t.Fatal(err)
	}
	template, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	run(t, ".", m.environment(), cli, "bootstrap", "--app", out, "--no-notices", "aws://"+account+"/"+region)
	run(t, ".", m.environment(), cli, "deploy", "--app", out, "--no-notices", "--require-approval", "never")
	return template
}

func sameQueues(t *testing.T, s topology.Stack, deployed, provisioned moto) {
	for _, q := range s.Queues {
		a, b := attributes(t, deployed, s.QueueName(q.Name)), attributes(t, provisioned, s.QueueName(q.Name))
		if !reflect.DeepEqual(a, b) {
			t.Errorf("queue %s: deployed %v, provisioned %v", q.Name, a, b)
		}
	}
	// What is lost on its way to control has a queue of its own, whose name is
	// CloudFormation's.
	if a, b := queues(t, deployed), queues(t, provisioned); len(a) != len(b)+1 {
		t.Errorf("deployed are %v, provisioned %v", a, b)
	}
}

func queues(t *testing.T, m moto) []any {
	t.Helper()
	urls, _ := m.call(t, "sqs", "AmazonSQS.ListQueues", map[string]any{})["QueueUrls"].([]any)
	return urls
}

// attributes are those of a queue that somebody chose.
func attributes(t *testing.T, m moto, queue string) map[string]any {
	t.Helper()
	all := m.call(t, "sqs", "AmazonSQS.GetQueueAttributes", map[string]any{
		"QueueUrl": m.url + "/" + account + "/" + queue, "AttributeNames": []string{"All"},
	})["Attributes"].(map[string]any)
	maps.DeleteFunc(all, func(name string, _ any) bool {
		return strings.HasPrefix(name, "Approximate") || strings.HasSuffix(name, "Timestamp")
	})
	if policy, ok := all["RedrivePolicy"].(string); ok {
		var fields map[string]any
		if err := json.Unmarshal([]byte(policy), &fields); err != nil {
			t.Fatal(err)
		}
		all["RedrivePolicy"] = fmt.Sprint(fields) // a number or its text is the same
	}
	return all
}

func sameTables(t *testing.T, s topology.Stack, deployed, provisioned moto, template map[string]any) {
	for _, table := range s.Tables {
		a, b := describe(t, deployed, s.TableName(table.Name)), describe(t, provisioned, s.TableName(table.Name))
		if !reflect.DeepEqual(a, b) {
			t.Errorf("table %s: deployed %v, provisioned %v", table.Name, a, b)
		}
		// moto leaves these out of a CloudFormation stack.
		props := find(t, template, "AWS::DynamoDB::Table", "TableName", s.TableName(table.Name))
		in := map[string]any{"TableName": s.TableName(table.Name)}
		ttl := provisioned.call(t, "dynamodb", dynamo+"DescribeTimeToLive", in)["TimeToLiveDescription"].(map[string]any)
		want := props["TimeToLiveSpecification"].(map[string]any)
		if ttl["AttributeName"] != want["AttributeName"] || ttl["TimeToLiveStatus"] != "ENABLED" || want["Enabled"] != true {
			t.Errorf("table %s: rows expire by %v in the template, by %v where it is provisioned", table.Name, want, ttl)
		}
		past := fmt.Sprint(provisioned.call(t, "dynamodb", dynamo+"DescribeContinuousBackups", in))
		if kept := props["PointInTimeRecoverySpecification"] != nil; kept != strings.Contains(past, "PointInTimeRecoveryStatus:ENABLED") {
			t.Errorf("table %s: its past is kept by the template: %v; where it is provisioned: %s", table.Name, kept, past)
		}
	}
	if a, b := tables(t, deployed), tables(t, provisioned); !reflect.DeepEqual(a, b) {
		t.Errorf("deployed are %v, provisioned %v", a, b)
	}
}

const dynamo = "DynamoDB_20120810."

func tables(t *testing.T, m moto) any {
	t.Helper()
	names := m.call(t, "dynamodb", dynamo+"ListTables", map[string]any{})["TableNames"].([]any)
	slices.SortFunc(names, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	return names
}

func describe(t *testing.T, m moto, table string) map[string]any {
	t.Helper()
	all := m.call(t, "dynamodb", dynamo+"DescribeTable", map[string]any{"TableName": table})["Table"].(map[string]any)
	delete(all, "CreationDateTime")
	delete(all, "TableId")
	return all
}

func sameBucket(t *testing.T, s topology.Stack, deployed, provisioned moto, template map[string]any) {
	const algorithm = "<SSEAlgorithm>AES256</SSEAlgorithm>"
	for kind, m := range map[string]moto{"deployed": deployed, "provisioned": provisioned} {
		if got := m.get(t, "s3", "/"+bucket+"?encryption"); !strings.Contains(got, algorithm) {
			t.Errorf("%s: the bucket's encryption is %s", kind, got)
		}
	}
	// moto leaves these out of a CloudFormation stack.
	props := find(t, template, "AWS::S3::Bucket", "", "")
	block := provisioned.get(t, "s3", "/"+bucket+"?publicAccessBlock")
	for name, value := range props["PublicAccessBlockConfiguration"].(map[string]any) {
		if want := fmt.Sprintf("<%s>%v</%s>", name, value, name); !strings.Contains(strings.ToLower(block), strings.ToLower(want)) {
			t.Errorf("the template has %s, where it is provisioned there is %s", want, block)
		}
	}
	var rules []map[string]any
	for _, rule := range props["LifecycleConfiguration"].(map[string]any)["Rules"].([]any) {
		rules = append(rules, rule.(map[string]any))
	}
	if got, want := provisionedRules(t, provisioned), templateRules(rules); !reflect.DeepEqual(got, want) {
		t.Errorf("the template has the rules %v, where it is provisioned there are %v", want, got)
	}
}

// A rule of a bucket says after how many days objects go, and uploads that were
// not completed.
type rule struct {
	Prefix          string
	Expires, Aborts int
}

func templateRules(rules []map[string]any) map[string]rule {
	all := map[string]rule{}
	for _, r := range rules {
		prefix, _ := r["Prefix"].(string)
		days, _ := r["ExpirationInDays"].(float64)
		abort, _ := r["AbortIncompleteMultipartUpload"].(map[string]any)
		aborts, _ := abort["DaysAfterInitiation"].(float64)
		all[r["Id"].(string)] = rule{prefix, int(days), int(aborts)}
	}
	return all
}

func provisionedRules(t *testing.T, m moto) map[string]rule {
	t.Helper()
	var answer struct {
		Rule []struct {
			ID     string `xml:"ID"`
			Prefix string `xml:"Filter>Prefix"`
			Days   int    `xml:"Expiration>Days"`
			Aborts int    `xml:"AbortIncompleteMultipartUpload>DaysAfterInitiation"`
		} `xml:"Rule"`
	}
	if err := xml.Unmarshal([]byte(m.get(t, "s3", "/"+bucket+"?lifecycle")), &answer); err != nil {
		t.Fatal(err)
	}
	all := map[string]rule{}
	for _, r := range answer.Rule {
		all[r.ID] = rule{r.Prefix, r.Days, r.Aborts}
	}
	return all
}

// find are the properties of the resource of a type that a property names.
func find(t *testing.T, template map[string]any, kind, property, name string) map[string]any {
	t.Helper()
	for _, r := range template["Resources"].(map[string]any) {
		r := r.(map[string]any)
		if r["Type"] != kind {
			continue
		}
		if props := r["Properties"].(map[string]any); property == "" || props[property] == name {
			return props
		}
	}
	t.Fatalf("no %s %s", kind, name)
	return nil
}

// functions compares what Lambda would run with the topology.
func functions(t *testing.T, s topology.Stack, m moto) {
	var answer struct {
		Functions []struct {
			FunctionName, Handler, Runtime string
			MemorySize, Timeout            int
			Environment                    struct{ Variables map[string]string }
		}
	}
	decode(t, m.get(t, "lambda", "/2015-03-31/functions/"), &answer)
	if len(answer.Functions) != len(s.Functions) {
		t.Errorf("there are %d functions", len(answer.Functions))
	}
	for _, f := range answer.Functions {
		want := s.Function(strings.TrimPrefix(f.FunctionName, name+"-"))
		if f.MemorySize != want.Memory || time.Duration(f.Timeout)*time.Second != want.Timeout || f.Handler != "bootstrap" || f.Runtime != "provided.al2023" {
			t.Errorf("function %+v, want %+v", f, want)
		}
		if !maps.Equal(f.Environment.Variables, s.Environment()) {
			t.Errorf("function %s has the variables %v, want %v", f.FunctionName, f.Environment.Variables, s.Environment())
		}
		found, err := topology.FromEnvironment(func(name string) string { return f.Environment.Variables[name] })
		if err != nil || found.BucketName() != bucket {
			t.Errorf("function %s finds the bucket %s (%v)", f.FunctionName, found.BucketName(), err)
		}
	}
}

// sources compares what feeds the functions with the topology.
func sources(t *testing.T, s topology.Stack, m moto) {
	var answer struct {
		EventSourceMappings []struct {
			EventSourceArn, FunctionArn               string
			BatchSize, MaximumBatchingWindowInSeconds int
			FunctionResponseTypes                     []string
			ScalingConfig                             struct{ MaximumConcurrency int }
		}
	}
	decode(t, m.get(t, "lambda", "/2015-03-31/event-source-mappings/"), &answer)
	n := 0
	for _, f := range s.Functions {
		for _, source := range f.Sources {
			n++
			found := false
			for _, is := range answer.EventSourceMappings {
				if !strings.HasSuffix(is.EventSourceArn, ":"+s.QueueName(source.Queue)) || !strings.HasSuffix(is.FunctionArn, ":"+s.FunctionName(f.Name)) {
					continue
				}
				found = true
				if is.BatchSize != source.Batch || time.Duration(is.MaximumBatchingWindowInSeconds)*time.Second != source.Window ||
					is.ScalingConfig.MaximumConcurrency != source.Concurrency || fmt.Sprint(is.FunctionResponseTypes) != "[ReportBatchItemFailures]" {
					t.Errorf("source %+v, want %+v", is, source)
				}
			}
			if !found {
				t.Errorf("nothing feeds %s from %s", f.Name, source.Queue)
			}
		}
	}
	if len(answer.EventSourceMappings) != n {
		t.Errorf("there are %d sources, not %d", len(answer.EventSourceMappings), n)
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
