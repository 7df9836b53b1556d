// Package events_test keeps the sample events of this folder true: it makes
// each anew and compares. Run go test ./events -update to write them.
package events_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/api"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/topology"
)

var update = flag.Bool("update", false, "write the samples")

// fields are a JSON object's, in their order.
type fields []field

type field struct {
	name  string
	value any
}

// MarshalJSON writes an object.
func (f fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for k, one := range f {
		if k > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(one.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(one.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func TestFilesAreTrue(t *testing.T) {
	all := samples(t)
	for name, sample := range all {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(sample); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if *update {
			if err := os.WriteFile(name, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want.String(), string(read(t, name))); diff != "" {
			t.Errorf("%s is not what would be written; run go test ./events -update: mismatch (-want, +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(all)), files(t)); diff != "" {
		t.Errorf("files: mismatch (-want, +got):\n%s", diff)
	}
}

var row = regexp.MustCompile("(?m)^\\| `([^`]+\\.json)` \\| .* \\| `([a-z]+)` \\|$")

func TestTheTableNamesEachFile(t *testing.T) {
	var named []string
	for _, m := range row.FindAllStringSubmatch(string(read(t, "README.md")), -1) {
		named = append(named, m[1])
		if !strings.HasPrefix(m[1], m[2]+"-") {
			t.Errorf("%s goes to %s", m[1], m[2])
		}
	}
	slices.Sort(named)
	if diff := cmp.Diff(files(t), named); diff != "" {
		t.Errorf("README.md: mismatch (-files, +named):\n%s", diff)
	}
}

func TestMessages(t *testing.T) {
	for name, c := range map[string]struct {
		kind    message.Kind
		queue   string
		payload any
	}{
		"fetch-request.json":       {message.KindRequest, topology.QueueRequest, new(message.Request)},
		"parse-page.json":          {message.KindPage, topology.QueuePage, new(message.Page)},
		"pipeline-item.json":       {message.KindItem, topology.QueueItem, new(message.Item)},
		"control-message.json":     {message.KindControl, topology.QueueControl, new(message.Control)},
		"control-dead-letter.json": {message.KindPage, topology.QueueDead, new(message.Page)},
	} {
		ev := decode[events.SQSEvent](t, name)
		if len(ev.Records) != 1 {
			t.Fatalf("%s: %d records", name, len(ev.Records))
		}
		r := ev.Records[0]
		h, payload, err := message.ReadHeader([]byte(r.Body))
		if err != nil || h.Kind != c.kind || h.Job != job || h.Unit.IsZero() {
			t.Errorf("%s: header %+v, %v", name, h, err)
		}
		if err := message.Decode(payload, c.payload); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if sum := md5.Sum([]byte(r.Body)); r.Md5OfBody != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: md5OfBody %s", name, r.Md5OfBody)
		}
		if r.EventSource != "aws:sqs" || !strings.HasSuffix(r.EventSourceARN, ":"+stack.QueueName(c.queue)) {
			t.Errorf("%s: source %s %s", name, r.EventSource, r.EventSourceARN)
		}
		if r.Attributes["MessageGroupId"] != string(job) {
			t.Errorf("%s: attributes %v", name, r.Attributes)
		}
		if from := r.Attributes["DeadLetterQueueSourceArn"]; (from != "") != (c.queue == topology.QueueDead) {
			t.Errorf("%s: DeadLetterQueueSourceArn %q", name, from)
		}
	}
}

// The page gives what the spider looks for.
func TestThePageIsWhole(t *testing.T) {
	_, payload, err := message.ReadHeader([]byte(decode[events.SQSEvent](t, "parse-page.json").Records[0].Body))
	if err != nil {
		t.Fatal(err)
	}
	var p message.Page
	if err := message.Decode(payload, &p); err != nil {
		t.Fatal(err)
	}
	body, err := message.NewPacker().Unpack(p.Body, p.Body.Data)
	if err != nil || string(body) != html || p.Body.Size != len(html) || p.Response.Status != http.StatusOK {
		t.Errorf("body %q, size %d, status %d, %v", body, p.Body.Size, p.Response.Status, err)
	}
}

func TestSchedulesAndTheBus(t *testing.T) {
	type wish struct {
		Skitter, Schedule, Spider string
		Time                      time.Time
		Args, Settings            map[string]string
		StartURLs                 []string `json:"start_urls"`
	}
	if got := decode[wish](t, "control-sweep.json"); got.Skitter != "sweep" {
		t.Errorf("sweep: %+v", got)
	}
	want := wish{
		Spider: "quotes", Args: map[string]string{"tag": "walks"}, Settings: map[string]string{"DOWNLOAD_DELAY": "0"},
		StartURLs: []string{page},
	}
	ev := decode[events.EventBridgeEvent](t, "control-bus.json")
	var asked wish
	if err := json.Unmarshal(ev.Detail, &asked); err != nil || ev.DetailType != "Crawl Requested" || ev.ID == "" || !ev.Time.Equal(sent) {
		t.Errorf("bus: %+v, %v", ev, err)
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("bus: mismatch (-want, +got):\n%s", diff)
	}
	want.Skitter, want.Schedule, want.Time = "start", "daily-quotes", sent
	if diff := cmp.Diff(want, decode[wish](t, "control-scheduled.json")); diff != "" {
		t.Errorf("scheduled: mismatch (-want, +got):\n%s", diff)
	}
}

func TestObjectCreated(t *testing.T) {
	ev := decode[events.EventBridgeEvent](t, "control-object-created.json")
	var d struct {
		Bucket struct{ Name string }
		Object struct{ Key, Sequencer string }
	}
	if err := json.Unmarshal(ev.Detail, &d); err != nil {
		t.Fatal(err)
	}
	if ev.Source != "aws.s3" || ev.DetailType != "Object Created" || d.Bucket.Name != stack.BucketName() || d.Object.Sequencer == "" {
		t.Errorf("event %+v, detail %+v", ev, d)
	}
	if !slices.ContainsFunc(stack.Prefixes, func(p topology.Prefix) bool { return strings.HasPrefix(d.Object.Key, p.Name) }) {
		t.Errorf("key %s is in no folder of the bucket", d.Object.Key)
	}
}

// Each call gets its answer of the API, in the order in which a user makes
// them.
func TestURLCalls(t *testing.T) {
	rows := memory.NewJobs(nil)
	h := api.New(api.Config{
		Engine: starter{rows}, Jobs: rows, Project: "default", Version: "r1", Spiders: []string{"quotes"},
		NodeName: "node-1", Log: slog.New(slog.DiscardHandler),
	})
	calls := []struct{ name, want string }{
		{"daemonstatus", `"running":0`},
		{"schedule", `"jobid":"quotes-1"`},
		{"schedule-base64", `"jobid":"quotes-1"`},
		{"status", `"currstate":"running"`},
		{"listjobs", `"id":"quotes-1"`},
		{"cancel", `"prevstate":"running"`},
		{"listspiders", `"spiders":["quotes"]`},
		{"listprojects", `"projects":["default"]`},
		{"listversions", `"versions":["r1"]`},
		{"addversion", `"status":"error"`},
		{"delversion", `"status":"error"`},
		{"delproject", `"status":"error"`},
	}
	for _, c := range calls {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httpRequest(t, decode[events.LambdaFunctionURLRequest](t, "control-url-"+c.name+".json")))
		if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s; want %s", c.name, w.Code, body, c.want)
		}
	}
	if len(calls) != len(urlCalls()) {
		t.Errorf("%d calls tried of %d", len(calls), len(urlCalls()))
	}
}

// httpRequest is the request that an event tells of.
func httpRequest(t *testing.T, ev events.LambdaFunctionURLRequest) *http.Request {
	t.Helper()
	body := ev.Body
	if ev.IsBase64Encoded {
		raw, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			t.Fatal(err)
		}
		body = string(raw)
	}
	call := ev.RequestContext.HTTP
	if ev.Version != "2.0" || call.Path != ev.RawPath || ev.RequestContext.Authorizer.IAM.UserARN == "" {
		t.Errorf("event %+v", ev)
	}
	r := httptest.NewRequest(call.Method, "https://"+ev.RequestContext.DomainName+ev.RawPath+"?"+ev.RawQueryString, strings.NewReader(body))
	for name, value := range ev.Headers {
		r.Header.Set(name, value)
	}
	return r
}

// starter starts and stops jobs in a store alone.
type starter struct{ *memory.Jobs }

func (s starter) Create(ctx context.Context, o engine.Order) (crawl.Job, bool, error) {
	return s.Jobs.Create(ctx, crawl.Job{UID: job, Project: o.Project, Name: o.Name, Spider: o.Spec.Spider, State: crawl.JobRunning})
}

func (s starter) Stop(context.Context, crawl.JobUID, string) error { return nil }

func (s starter) Runtime(context.Context, crawl.Job) (*engine.Runtime, error) {
	return new(engine.Runtime), nil
}

func files(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("*.json")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decode[T any](t *testing.T, name string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(read(t, name), &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}
