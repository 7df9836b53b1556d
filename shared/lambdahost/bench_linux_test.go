package lambdahost_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/sys/unix"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/meter"
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
	defer debug.SetGCPercent(debug.SetGCPercent(300)) // as Main does
	for b.Loop() {
		client := new(counting)
		s := newMemoryStack(b, spiders.Project(), func(c awssdk.HTTPClient) awssdk.HTTPClient { client.client = c; return client })
		spent, batches := make(map[string]time.Duration), make(map[string]int)
		s.around = func(function string, invoke func()) {
			before, outside := cpuTime(b, unix.RUSAGE_SELF), client.spent.Load()
			invoke()
			spent[function] += cpuTime(b, unix.RUSAGE_SELF) - before - time.Duration(client.spent.Load()-outside)
			batches[function]++
		}
		job, _, err := s.cloud.Create(b.Context(), engine.Order{Project: "default", Spec: crawl.JobSpec{
			Spider: "shop", StartURLs: []string{site + "/p/0"},
			Settings: map[string]string{"DOWNLOAD_DELAY": "0", "CONCURRENT_REQUESTS_PER_DOMAIN": "16", "LOG_LEVEL": "ERROR"},
		}})
		if err != nil {
			b.Fatal(err)
		}
		for !s.ended(b, job.UID) {
			s.step(b)
		}
		report(b, s, job.UID, spent, batches)
	}
}

func report(b *testing.B, s *memoryStack, uid crawl.JobUID, spent map[string]time.Duration, batches map[string]int) {
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
		stages += spent[f]
		b.ReportMetric(float64(spent[f].Microseconds())/1000/pages, f+"-ms/page")
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
	for _, f := range slices.Sorted(maps.Keys(batches)) {
		fmt.Printf("%s: %d invocations, %s CPU\n", f, batches[f], spent[f].Round(time.Millisecond))
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
