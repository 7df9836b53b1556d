package provision

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/skitterhq/skitter/shared/aws/emulatortest"
	"github.com/skitterhq/skitter/shared/topology"
)

// recorder is an HTTP client that notes each operation that changes something,
// and may answer for the service.
type recorder struct {
	client awssdk.HTTPClient
	answer func(op, body string) *http.Response

	mu      sync.Mutex
	changes []string
}

func (r *recorder) Do(req *http.Request) (*http.Response, error) {
	body := ""
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		body, req.Body = string(b), io.NopCloser(bytes.NewReader(b))
	}
	_, op, json := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	if !json {
		op = req.Method + " ?" + req.URL.RawQuery
	}
	if r.answer != nil {
		if resp := r.answer(op, body); resp != nil {
			resp.Request = req
			return resp, nil
		}
	}
	if !strings.HasPrefix(op, "Get") && !strings.HasPrefix(op, "Describe") && !strings.HasPrefix(op, "HEAD") && !strings.HasPrefix(op, "GET") {
		r.mu.Lock()
		r.changes = append(r.changes, op)
		r.mu.Unlock()
	}
	return r.client.Do(req)
}

func jsonAnswer(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(body)),
	}
}

func recorded(cfg awssdk.Config) (awssdk.Config, *recorder) {
	r := &recorder{client: cfg.HTTPClient}
	cfg.HTTPClient = r
	return cfg, r
}

// queueAttributes are all of a queue.
func queueAttributes(t *testing.T, p *provisioner, name string) map[string]string {
	t.Helper()
	url, err := p.queueURL(t.Context(), p.stack.QueueName(name))
	if err != nil || url == "" {
		t.Fatalf("queue %s: %q (%v)", name, url, err)
	}
	out, err := p.sqs.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes
}

func TestCreateTwiceChangesNothing(t *testing.T) { // EMU-05
	cfg, r := recorded(emulatortest.Moto(t))
	stack := topology.Default("twice")
	if err := Create(t.Context(), cfg, stack); err != nil {
		t.Fatal(err)
	}
	p := newProvisioner(cfg, stack)
	for _, q := range stack.Queues {
		got := queueAttributes(t, p, q.Name)
		dead := queueAttributes(t, p, topology.QueueDead)["QueueArn"]
		if wrong := different(attributes(q, dead), got); len(wrong) > 0 {
			t.Errorf("queue %s: want %v, all are %v", q.Name, wrong, got)
		}
	}
	r.changes = nil
	if err := Create(t.Context(), cfg, stack); err != nil {
		t.Fatal(err)
	}
	// A bucket's configuration is put whole, and is then as it was.
	changes := slices.DeleteFunc(r.changes, func(op string) bool { return strings.HasPrefix(op, "PUT ?") && op != "PUT ?" })
	if len(changes) > 0 {
		t.Errorf("the second run changed something: %q", changes)
	}
}

func TestTablesAreAsTheTopologySays(t *testing.T) {
	for name, emulator := range map[string]func(testing.TB) awssdk.Config{"moto": emulatortest.Moto, "dynalite": emulatortest.Dynalite} {
		t.Run(name, func(t *testing.T) {
			stack := topology.Default("tables")
			p := newProvisioner(emulator(t), stack)
			for range 2 {
				if err := p.createTables(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, want := range stack.Tables {
				is, err := p.describe(t.Context(), stack.TableName(want.Name))
				if err != nil || is == nil {
					t.Fatalf("table %s: %v (%v)", want.Name, is, err)
				}
				if !sameKeys(is.KeySchema, keySchema(want.Partition, want.Sort)) || is.TableStatus != dbtypes.TableStatusActive || len(is.GlobalSecondaryIndexes) != len(want.Indexes) {
					t.Errorf("table %s is %+v", want.Name, is)
				}
			}
			if name == "moto" {
				wantExpiry(t, p, stack.TableName(topology.TableItems))
			}
			if err := p.deleteTables(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// wantExpiry fails if a table's rows do not expire, or its past is not kept.
func wantExpiry(t *testing.T, p *provisioner, name string) {
	t.Helper()
	ttl, err := p.rows.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil || awssdk.ToString(ttl.TimeToLiveDescription.AttributeName) != topology.TTL {
		t.Errorf("rows expire by %+v (%v)", ttl, err)
	}
	past, err := p.rows.DescribeContinuousBackups(t.Context(), &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
	if err != nil || past.ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus != "ENABLED" {
		t.Errorf("the past is %+v (%v)", past, err)
	}
}

func TestWhatIsThereIsBroughtUpToDate(t *testing.T) {
	cfg, r := recorded(emulatortest.Moto(t))
	stack := topology.Default("drift")
	lacking := stack
	lacking.Tables = slices.Clone(stack.Tables)
	for i := range lacking.Tables {
		lacking.Tables[i].Indexes = nil
	}
	if err := Create(t.Context(), cfg, lacking.Scaled(60)); err != nil {
		t.Fatal(err)
	}
	r.changes = nil
	if err := Create(t.Context(), cfg, stack); err != nil {
		t.Fatal(err)
	}
	p := newProvisioner(cfg, stack)
	if got := queueAttributes(t, p, topology.QueuePage)["VisibilityTimeout"]; got != "360" {
		t.Errorf("the visibility time-out is %s s, want 360", got)
	}
	is, err := p.describe(t.Context(), stack.TableName(topology.TableJobs))
	if err != nil || len(is.GlobalSecondaryIndexes) != 1 {
		t.Errorf("the jobs have %+v (%v), want their index", is.GlobalSecondaryIndexes, err)
	}
	if n := len(slices.DeleteFunc(slices.Clone(r.changes), func(op string) bool { return op != "SetQueueAttributes" })); n != len(stack.Queues) {
		t.Errorf("%d queues were changed, want %d: %q", n, len(stack.Queues), r.changes)
	}
	other := stack
	other.Tables = slices.Clone(stack.Tables)
	other.Tables[0].Sort.Name = "another"
	if err := Create(t.Context(), cfg, other); err == nil || !strings.Contains(err.Error(), "create table drift-frontier at http") || !strings.Contains(err.Error(), "another key") {
		t.Errorf("a table with another key: %v", err)
	}
}

func TestDeleteLeavesNothing(t *testing.T) {
	cfg := emulatortest.Moto(t)
	stack := topology.Default("removed")
	if err := Create(t.Context(), cfg, stack); err != nil {
		t.Fatal(err)
	}
	p := newProvisioner(cfg, stack)
	bucket := stack.BucketName()
	for i := range 3 {
		if _, err := p.s3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: awssdk.String(fmt.Sprint(i)), Body: strings.NewReader("x")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.s3.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &bucket, Key: awssdk.String("k")}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Delete(t.Context(), cfg, stack); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range stack.Queues {
		if url, err := p.queueURL(t.Context(), stack.QueueName(q.Name)); err != nil || url != "" {
			t.Errorf("queue %s is left at %q (%v)", q.Name, url, err)
		}
	}
	for _, table := range stack.Tables {
		if is, err := p.describe(t.Context(), stack.TableName(table.Name)); err != nil || is != nil {
			t.Errorf("table %s is left (%v)", table.Name, err)
		}
	}
	if there, err := p.hasBucket(t.Context(), bucket); err != nil || there {
		t.Errorf("the bucket is left: %t (%v)", there, err)
	}
}

func TestTheBucketForgetsByAge(t *testing.T) {
	days := map[string]int32{}
	for _, rule := range lifecycle(topology.Default("t").Prefixes) {
		if rule.Expiration != nil {
			days[*rule.Filter.Prefix] = *rule.Expiration.Days
		}
	}
	want := map[string]int32{"requests/": 120, "pages/": 120, "messages/": 15, "dead/": 120}
	if !maps.Equal(days, want) {
		t.Errorf("objects expire after %v days, want %v", days, want)
	}
}

// An emulator that knows neither messages of 1 MiB nor encryption gets a queue
// without them.
func TestWhatAnEmulatorRefusesOfAQueueIsLeftOut(t *testing.T) {
	cfg, r := recorded(emulatortest.Moto(t))
	r.answer = func(op, body string) *http.Response {
		if (op == "CreateQueue" || op == "SetQueueAttributes") && (strings.Contains(body, "MaximumMessageSize") || strings.Contains(body, "SqsManagedSse")) {
			return jsonAnswer(400, `{"__type":"com.amazonaws.sqs#InvalidAttributeValue","message":"too large"}`)
		}
		return nil
	}
	stack := topology.Default("refusing")
	p := newProvisioner(cfg, stack)
	for range 2 {
		if err := p.createQueues(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := queueAttributes(t, p, topology.QueuePage); got["VisibilityTimeout"] != "360" || !strings.Contains(got["RedrivePolicy"], "refusing-dead") {
		t.Errorf("the queue has %v", got)
	}
}

// elsewhere is the configuration of clients of an endpoint.
func elsewhere(url string) awssdk.Config {
	return awssdk.Config{
		Region: "us-east-1", BaseEndpoint: &url,
		Credentials: awssdk.CredentialsProviderFunc(func(context.Context) (awssdk.Credentials, error) {
			return awssdk.Credentials{AccessKeyID: "wrong", SecretAccessKey: "wrong"}, nil
		}),
	}
}

func TestAWrongEndpointFailsSoonInOneLine(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	refusing := func(code string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"__type":"com.amazon.coral.service#%s","message":"The security token included in the request is invalid."}`, code)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>\n<p>hello\n") }))
	t.Cleanup(html.Close)
	tests := map[string]struct{ url, want string }{
		"a closed port":       {closed, "nothing answers there"},
		"wrong credentials":   {refusing("InvalidClientTokenId"), "the credentials are refused (InvalidClientTokenId: The security token"},
		"wrong credentials 2": {refusing("UnrecognizedClientException"), "the credentials are refused (UnrecognizedClientException: The security token"},
		"no AWS at all":       {html.URL, "what answers there does not speak AWS's protocol"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for do, run := range map[string]func(context.Context, awssdk.Config, topology.Stack) error{"create": Create, "delete": Delete} {
				begun := time.Now()
				err := run(t.Context(), elsewhere(test.url), topology.Default("wrong"))
				if err == nil || !strings.Contains(err.Error(), "look for queue wrong-dead at "+test.url+": ") || !strings.Contains(err.Error(), test.want) {
					t.Fatalf("%s: %v", do, err)
				}
				t.Log(err)
				if strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
					t.Errorf("%s: %d bytes or more lines than one: %v", do, len(err.Error()), err)
				}
				if took := time.Since(begun); took > 10*time.Second {
					t.Errorf("%s took %s", do, took)
				}
			}
		})
	}
}

func TestAServerThatDoesNotAnswerIsLeft(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := newProvisioner(elsewhere("http://"+l.Addr().String()), topology.Default("silent"))
	if p.patience >= 10*time.Second {
		t.Errorf("the first calls may take %s", p.patience)
	}
	p.patience = 50 * time.Millisecond
	if err := p.reach(t.Context()); err == nil || !strings.Contains(err.Error(), "no answer came in time") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
}

func TestEachServiceIsNamedWhereItIs(t *testing.T) {
	cfg, r := recorded(emulatortest.Moto(t))
	stack := topology.Default("named")
	r.answer = func(op, _ string) *http.Response {
		if op == "DescribeTable" {
			return jsonAnswer(400, `{"__type":"com.amazon.coral.service#UnrecognizedClientException","message":"The security token is invalid."}`)
		}
		return nil
	}
	p := newProvisioner(cfg, stack)
	p.rows = dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = awssdk.String("http://rows.test") })
	if err := p.reach(t.Context()); err == nil || !strings.Contains(err.Error(), "look for table named-frontier at http://rows.test: the credentials are refused") {
		t.Errorf("error %v", err)
	}
}
