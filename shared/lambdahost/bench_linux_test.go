package lambdahost_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/sys/unix"

	"github.com/skitterhq/skitter/shared/assembly/cloud"
	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
	"github.com/skitterhq/skitter/spiders"
)

// BenchmarkShop crawls a shop with full batches, AWS's answers in memory, and
// reports CPU and billed units a page. SKITTER_BENCH_SITE is the shop's URL: it
// runs in another process. SKITTER_BENCH_DETAIL=1 prints units by operation.
func BenchmarkShop(b *testing.B) {
	site := os.Getenv("SKITTER_BENCH_SITE")
	if site == "" {
		b.Skip("SKITTER_BENCH_SITE names no shop; make bench/aws runs one")
	}
	for b.Loop() {
		s := newBenchStack(b)
		job, _, err := s.cloud.Create(b.Context(), engine.Order{Project: "bench", Spec: crawl.JobSpec{
			Spider: "shop", StartURLs: []string{site + "/p/0"},
			Settings: map[string]string{"DOWNLOAD_DELAY": "0", "CONCURRENT_REQUESTS_PER_DOMAIN": "16", "LOG_LEVEL": "ERROR"},
		}})
		if err != nil {
			b.Fatal(err)
		}
		for !s.ended(b, job.UID) {
			s.step(b)
		}
		s.report(b, job.UID)
	}
}

// A benchStack is a stack in memory whose queues are worked off one full batch
// after the other.
type benchStack struct {
	backend *awstest.Backend
	client  *counting
	stack   topology.Stack
	store   *aws.Store
	cloud   *cloud.Cloud
	meter   *meter.Meter
	hosts   map[string]*lambdahost.Host
	cpu     map[string]time.Duration
	batches map[string]int
}

func newBenchStack(b *testing.B) *benchStack {
	s := &benchStack{
		backend: awstest.New(time.Now), stack: topology.Default("bench"), meter: new(meter.Meter),
		hosts: make(map[string]*lambdahost.Host), cpu: make(map[string]time.Duration), batches: make(map[string]int),
	}
	cfg := s.backend.Config()
	s.client = &counting{client: cfg.HTTPClient}
	cfg.HTTPClient = s.client
	if err := provision.Create(b.Context(), cfg, s.stack); err != nil {
		b.Fatal(err)
	}
	s.store = aws.New(aws.Config{AWS: cfg, Stack: s.stack, Now: time.Now, Meter: s.meter})
	allow, err := handlers.ParseNetworks("127.0.0.0/8")
	if err != nil {
		b.Fatal(err)
	}
	guard := handlers.Guard{Allow: allow}
	for _, f := range s.stack.Functions {
		host, c, err := lambdahost.NewFunction(f.Name, lambdahost.Deployment{
			Store: s.store, Stack: s.stack, Project: spiders.Project(), Guard: guard.Check,
			API: func(*cloud.Cloud) http.Handler { return http.NotFoundHandler() },
			Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		})
		if err != nil {
			b.Fatal(err)
		}
		s.hosts[f.Name], s.cloud = host, c
	}
	return s
}

func (s *benchStack) ended(b *testing.B, uid crawl.JobUID) bool {
	messages := 0
	for _, q := range s.stack.Queues {
		messages += len(s.backend.Messages(s.stack.QueueName(q.Name)))
	}
	if messages > 0 {
		return false
	}
	job, err := s.cloud.Jobs.Get(b.Context(), uid)
	if err != nil {
		b.Fatal(err)
	}
	if !job.State.Ended() {
		b.Fatalf("the queues are empty, and the job is %s", job.State)
	}
	return true
}

// step works off one batch of the queue that is the fullest by its batches.
func (s *benchStack) step(b *testing.B) {
	type source struct {
		topology.Source
		function string
		fill     float64
	}
	var sources []source
	for _, f := range s.stack.Functions {
		for _, src := range f.Sources {
			n := len(s.backend.Messages(s.stack.QueueName(src.Queue)))
			sources = append(sources, source{src, f.Name, float64(n) / float64(src.Batch)})
		}
	}
	fullest := slices.MaxFunc(sources, func(x, y source) int { return cmp.Compare(x.fill, y.fill) })
	batch, err := s.store.Queue().Receive(b.Context(), queue.Name(fullest.Queue), "", fullest.Batch)
	if err != nil {
		b.Fatal(err)
	}
	if len(batch) == 0 {
		time.Sleep(10 * time.Millisecond) // what there is is delayed
		return
	}
	var ev events.SQSEvent
	receipts := make([]string, 0, len(batch))
	for _, d := range batch {
		receipts = append(receipts, d.Receipt)
		ev.Records = append(ev.Records, events.SQSMessage{
			MessageId: d.ID, ReceiptHandle: d.Receipt, Body: string(d.Body), EventSource: "aws:sqs",
			EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:" + s.stack.QueueName(fullest.Queue),
			Attributes:     map[string]string{"ApproximateReceiveCount": strconv.Itoa(d.Receives), "MessageGroupId": string(d.Job)},
		})
	}
	payload, err := json.Marshal(ev)
	if err != nil {
		b.Fatal(err)
	}
	s.invoke(b, fullest.function, payload)
	if err := s.store.Queue().Delete(b.Context(), queue.Name(fullest.Queue), receipts); err != nil {
		b.Fatal(err)
	}
}

func (s *benchStack) invoke(b *testing.B, function string, payload []byte) {
	ctx, cancel := context.WithTimeout(b.Context(), s.stack.Function(function).Timeout)
	defer cancel()
	before, outside := cpuTime(b, unix.RUSAGE_SELF), s.client.spent.Load()
	response, err := s.hosts[function].Invoke(ctx, payload)
	if err != nil {
		b.Fatal(err)
	}
	s.cpu[function] += cpuTime(b, unix.RUSAGE_SELF) - before - time.Duration(s.client.spent.Load()-outside)
	s.batches[function]++
	var answer events.SQSEventResponse
	if err := json.Unmarshal(response, &answer); err != nil || len(answer.BatchItemFailures) > 0 {
		b.Fatalf("function %s answered %s, %v", function, response, err)
	}
}

func (s *benchStack) report(b *testing.B, uid crawl.JobUID) {
	stats, err := s.cloud.ReadStats(b.Context(), uid)
	if err != nil {
		b.Fatal(err)
	}
	pages, _ := stats["response_received_count"].(float64)
	items, _ := stats["item_scraped_count"].(float64)
	if pages == 0 {
		b.Fatalf("no page was fetched: %v", stats)
	}
	var stages time.Duration
	for _, f := range []string{topology.Fetch, topology.Parse, topology.Pipeline} {
		stages += s.cpu[f]
		b.ReportMetric(float64(s.cpu[f].Microseconds())/1000/pages, f+"-ms/page")
	}
	b.ReportMetric(float64(stages.Microseconds())/1000/pages, "cpu-ms/page")
	counts := s.meter.Snapshot()
	for unit, n := range meter.Totals(counts) {
		b.ReportMetric(n/pages, string(unit)+"/page")
	}
	b.ReportMetric(pages, "pages")
	b.ReportMetric(items, "items")
	if os.Getenv("SKITTER_BENCH_DETAIL") == "" {
		return
	}
	fmt.Printf("%-10s %-24s %-22s %10s %8s\n", "service", "operation", "unit", "sum", "a page")
	for _, k := range slices.SortedFunc(maps.Keys(counts), func(x, y meter.Key) int {
		return cmp.Or(cmp.Compare(x.Unit, y.Unit), cmp.Compare(counts[y], counts[x]))
	}) {
		fmt.Printf("%-10s %-24s %-22s %10.1f %8.3f\n", k.Service, k.Operation, k.Unit, counts[k], counts[k]/pages)
	}
	for _, f := range slices.Sorted(maps.Keys(s.batches)) {
		fmt.Printf("%s: %d invocations, %s CPU\n", f, s.batches[f], s.cpu[f].Round(time.Millisecond))
	}
}

// counting measures the CPU time that is spent in the backend, which is not
// ours.
type counting struct {
	client awssdk.HTTPClient
	spent  atomic.Int64
}

func (c *counting) Do(req *http.Request) (*http.Response, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	resp, err := c.client.Do(req)
	c.spent.Add(int64(threadTime() - before))
	return resp, err
}

func threadTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func cpuTime(b *testing.B, who int) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(who, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
