package stack

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/jsii-runtime-go"

	"github.com/skitterhq/skitter/infra/stack/stacktest"
	"github.com/skitterhq/skitter/shared/topology"
)

var update = flag.Bool("update", false, "write the golden template anew")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// synth is the template of a stack with some options.
func synth(t *testing.T, context map[string]string) map[string]any {
	t.Helper()
	template, err := trySynth(t, context, false)
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func trySynth(t *testing.T, context map[string]string, validate bool) (template map[string]any, err error) {
	t.Helper()
	// CDK panics at what it refuses.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("CDK: %v", r)
		}
	}()
	app, err := New(Config{Dist: stacktest.Dist(t), Out: t.TempDir(), Context: context, Validate: validate})
	if err != nil {
		return nil, err
	}
	return app.Synth()
}

// plain is the template without options. It is made once: a test that changes
// it gets a copy.
func plain(t *testing.T) map[string]any {
	t.Helper()
	return clone(t, once(t))
}

var (
	plainOnce     sync.Once
	plainTemplate map[string]any
)

func once(t *testing.T) map[string]any {
	t.Helper()
	plainOnce.Do(func() { plainTemplate = synth(t, nil) })
	return plainTemplate
}

func clone(t *testing.T, template map[string]any) map[string]any {
	t.Helper()
	data, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

var assetHash = regexp.MustCompile(`[0-9a-f]{64}`)

// TestGolden shows what a change of the code, or of CDK, changes of what is
// deployed.
func TestGolden(t *testing.T) {
	for name, context := range map[string]map[string]string{
		"dev":  nil,
		"prod": {"name": "shop", "stage": "prod", "reserve": "true", "alarm-topic": "arn:aws:sns:us-east-1:000000000000:alarms", "warm": "frontier:20000/40000", "pollers": "request:2", "memory": "parse:3008"},
	} {
		data, err := json.MarshalIndent(synth(t, context), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got := assetHash.ReplaceAllString(string(data), "ASSET-HASH") + "\n"
		path := filepath.Join("testdata", name+".template.json")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is other than it was, first at %s; make infra/golden writes it anew", path, firstDifference(string(want), got))
		}
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: want %q, got %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("line %d, where one ends", min(len(a), len(b))+1)
}

func TestTwoRunsGiveTheSame(t *testing.T) {
	if first, second := synth(t, nil), synth(t, nil); fmt.Sprint(first) != fmt.Sprint(second) {
		t.Error("two runs give two templates")
	}
}

// properties are those of the resources of a type.
func properties(template map[string]any, kind string) []map[string]any {
	var list []map[string]any
	resources := template["Resources"].(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		if r := resources[id].(map[string]any); r["Type"] == kind {
			props, _ := r["Properties"].(map[string]any)
			list = append(list, props)
		}
	}
	return list
}

func TestProdKeepsDataAndDevDoesNot(t *testing.T) {
	for stage, policy := range map[string]string{"dev": "Delete", "prod": "Retain"} {
		template := synth(t, map[string]string{"stage": stage})
		for id, r := range template["Resources"].(map[string]any) {
			r := r.(map[string]any)
			if r["Type"] != "AWS::DynamoDB::Table" && r["Type"] != "AWS::S3::Bucket" {
				continue
			}
			if r["DeletionPolicy"] != policy || r["UpdateReplacePolicy"] != policy {
				t.Errorf("%s: %s is %v", stage, id, r["DeletionPolicy"])
			}
		}
		for _, table := range properties(template, "AWS::DynamoDB::Table") {
			if table["DeletionProtectionEnabled"] != (stage == "prod") {
				t.Errorf("%s: table %s can be deleted: %v", stage, table["TableName"], table["DeletionProtectionEnabled"])
			}
		}
	}
}

func TestOptionsChangeTheStack(t *testing.T) {
	template := synth(t, map[string]string{
		"name": "shop", "reserve": "true", "memory": "parse:3008", "warm": "jobs:13000/5000", "pollers": "request:3",
		"alarm-topic": "arn:aws:sns:us-east-1:000000000000:alarms", "log-days": "90", "feed-buckets": "one,two",
	})
	for _, f := range properties(template, "AWS::Lambda::Function") {
		want := topology.Default("shop").Function(strings.TrimPrefix(f["FunctionName"].(string), "shop-")).Concurrency()
		if f["ReservedConcurrentExecutions"] != float64(want) {
			t.Errorf("%s reserves %v, want %d", f["FunctionName"], f["ReservedConcurrentExecutions"], want)
		}
		if f["FunctionName"] == "shop-parse" && f["MemorySize"] != 3008.0 {
			t.Errorf("parse has %v MB", f["MemorySize"])
		}
	}
	for _, table := range properties(template, "AWS::DynamoDB::Table") {
		warm := fmt.Sprint(table["WarmThroughput"])
		if (warm == "map[ReadUnitsPerSecond:13000 WriteUnitsPerSecond:5000]") != (table["TableName"] == "shop-jobs") {
			t.Errorf("table %s is warm for %s", table["TableName"], warm)
		}
	}
	own := 0
	for _, m := range properties(template, "AWS::Lambda::EventSourceMapping") {
		if pollers, ok := m["ProvisionedPollerConfig"].(map[string]any); ok {
			own++
			if m["ScalingConfig"] != nil || pollers["MinimumPollers"] != 3.0 || pollers["MaximumPollers"] != 20.0 {
				t.Errorf("a queue's own pollers are %v", m)
			}
		}
	}
	if own != 1 {
		t.Errorf("%d queues have their own pollers", own)
	}
	for _, alarm := range properties(template, "AWS::CloudWatch::Alarm") {
		if fmt.Sprint(alarm["AlarmActions"]) != "[arn:aws:sns:us-east-1:000000000000:alarms]" {
			t.Errorf("alarm %s tells %v", alarm["AlarmName"], alarm["AlarmActions"])
		}
	}
	for _, group := range properties(template, "AWS::Logs::LogGroup") {
		if group["RetentionInDays"] != 90.0 {
			t.Errorf("log group %s keeps %v days", group["LogGroupName"], group["RetentionInDays"])
		}
	}
	if roles := fmt.Sprint(properties(template, "AWS::IAM::Role")); !strings.Contains(roles, ":s3:::one/*") || !strings.Contains(roles, ":s3:::two/*") {
		t.Error("no role may write feeds to the other buckets")
	}
}

func TestTheDashboardIsFree(t *testing.T) {
	body := fmt.Sprint(properties(plain(t), "AWS::CloudWatch::Dashboard"))
	if n := strings.Count(body, `"stat"`); n > 50 || n < 40 {
		t.Errorf("the dashboard has %d metrics; up to 50 are free", n)
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	template := synth(t, map[string]string{"alarms": "false", "dashboard": "false", "events": "false"})
	for _, kind := range []string{"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::Events::Rule"} {
		if list := properties(template, kind); len(list) > 0 {
			t.Errorf("there are %d of %s", len(list), kind)
		}
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"auth", "basic", "the function checks no passwords"},
		{"auth", "none", "the function checks no passwords"},
		{"stage", "production", "dev or prod"},
		{"reserve", "yes", "false or true"},
		{"memory", "fetch:lots", "whole number"},
		{"memory", "fetcher:1024", `no "fetcher"; there are control, fetch, parse, pipeline`},
		{"memory", "fetch", "control:VALUE"},
		{"memory", "fetch:64", "Lambda takes 128 to 10240"},
		{"warm", "jobs:100/100", "12000/4000 or more"},
		{"warm", "jobs:many", "READS/WRITES"},
		{"pollers", "request:1", "Lambda takes 2 to 200"},
		{"log-days", "31", "one of [1 3 5 7"},
		{"log-days", "month", "whole number"},
		{"alarm-topic", "me@example.com", "ARN"},
		{"name", "My_Stack", "lower-case"},
	} {
		_, err := trySynth(t, map[string]string{c.name: c.value}, false)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v; want %q", c.name, c.value, err, c.want)
		}
	}
}

// TestEveryOptionIsKnown compares the list of names with what is asked for.
func TestEveryOptionIsKnown(t *testing.T) {
	asked := map[string]bool{}
	if _, err := ReadOptions(func(name string) string { asked[name] = true; return "" }); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(asked)); !slices.Equal(got, optionNames) {
		t.Errorf("asked for %v, known are %v", got, optionNames)
	}
}

func TestValuesOfFlags(t *testing.T) {
	v := Values{}
	for text, want := range map[string]string{
		"stage=prod": "", "alarm-topic=arn:a=b": "", "stage": "NAME=VALUE", "stages=prod": "there is no option stages; there are alarm-topic, ",
	} {
		if err := v.Set(text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
	if want := (Values{"stage": "prod", "alarm-topic": "arn:a=b"}); !maps.Equal(v, want) {
		t.Errorf("flags gave %v, want %v", v, want)
	}
}

func TestReserveFitsIntoAnAccount(t *testing.T) {
	sum := 0
	for _, f := range topology.Default("any").Functions {
		sum += f.Concurrency()
	}
	if sum > 900 {
		t.Errorf("the functions reserve %d; an account has 1,000, and 100 of them cannot be reserved", sum)
	}
}

// TestNothingIsUnsafe runs CDK's and cdk-nag's own checks, which takes as long
// as all others together.
func TestNothingIsUnsafe(t *testing.T) {
	if testing.Short() {
		t.Skip("the checks of CDK and cdk-nag take a quarter of a minute; make synth has them too")
	}
	if _, err := trySynth(t, map[string]string{"stage": "prod", "feed-buckets": "one"}, true); err != nil {
		t.Error(err)
	}
}
