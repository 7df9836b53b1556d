package assembly_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/slots"
	"github.com/skitterhq/skitter/spiders"
)

const (
	benchHosts  = 1000 // addresses of the loopback network
	benchBody   = 2 << 10
	benchBatch  = 16 // CONCURRENT_REQUESTS
	benchRounds = 10
)

// BenchmarkDownloader compares the CPU of a request through the whole project's
// downloader (middlewares, turns at the hosts, handler) with that of a bare
// RoundTrip whose body is read, over the same hosts, in turns, so that the
// machine's mood is in both. The server is a process of its own.
//
//	go test ./shared/assembly -run XXX -bench Downloader -benchtime 100000x
func BenchmarkDownloader(b *testing.B) {
	port, dialled := serveHosts(b)
	urls := make([]string, benchHosts)
	for k := range urls {
		urls[k] = fmt.Sprintf("http://127.0.%d.%d:%s/page", 1+k/250, 1+k%250, port)
	}
	bare := &http.Transport{MaxIdleConns: 4 * benchHosts, MaxIdleConnsPerHost: benchBatch, DisableCompression: true}
	defer bare.CloseIdleConnections()
	rt := benchRuntime(b)

	each := max(b.N/benchRounds, benchHosts)
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Minute) // as an invocation has one
	defer cancel()
	fetch := [2]func(url string) error{
		func(url string) error { return bareFetch(b.Context(), bare, url) },
		func(url string) error {
			resp, err := rt.Download.Fetch(ctx, &crawl.Request{URL: url})
			if err == nil && len(resp.Body) != benchBody {
				err = fmt.Errorf("%d bytes", len(resp.Body))
			}
			return err
		},
	}
	var cpu [2]time.Duration
	var peak atomic.Int64
	for range benchRounds {
		for k, f := range fetch {
			runtime.GC()
			begun := cpuTime(b)
			inBatches(b, urls, each, f, &peak)
			cpu[k] += cpuTime(b) - begun
		}
	}
	requests := float64(each * benchRounds)
	b.ReportMetric(cpu[0].Seconds()*1e6/requests, "bare-cpu-µs/req")
	b.ReportMetric(cpu[1].Seconds()*1e6/requests, "cpu-µs/req")
	b.ReportMetric(cpu[1].Seconds()/cpu[0].Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(peak.Load()), "goroutines")
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	b.ReportMetric(float64(mem.HeapAlloc)/(1<<20), "heap-MB")
	conns := dialled()
	b.ReportMetric(float64(conns), "conns")
	// One of each kind a host, and some more where two of a batch met there.
	if conns > 2*benchHosts*5/4 {
		b.Errorf("%d connections were opened for %d hosts and %d requests: they are not reused", conns, benchHosts, 2*each*benchRounds)
	}
	if most := int64(4*2*benchHosts + 10*benchBatch); peak.Load() > most {
		b.Errorf("%d goroutines, more than %d", peak.Load(), most)
	}
}

// inBatches makes n requests, a batch at a time in flight.
func inBatches(b *testing.B, urls []string, n int, fetch func(string) error, peak *atomic.Int64) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range benchBatch {
		all.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= n {
					return
				}
				if err := fetch(urls[k%len(urls)]); err != nil {
					b.Error(err)
					return
				}
				if k%997 == 0 {
					peak.Store(max(peak.Load(), int64(runtime.NumGoroutine())))
				}
			}
		})
	}
	all.Wait()
}

func bareFetch(ctx context.Context, t *http.Transport, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && len(body) != benchBody {
		err = fmt.Errorf("%d bytes", len(body))
	}
	return err
}

// benchRuntime is a job of the project's with all its middlewares.
func benchRuntime(b *testing.B) *engine.Runtime {
	log := slog.New(slog.DiscardHandler)
	p := spiders.Project()
	registry, err := p.Registry()
	if err != nil {
		b.Fatal(err)
	}
	web, err := handlers.HTTP(handlers.Options{Logger: log, IdleConns: 4 * benchHosts})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(web.Close)
	builder := assembly.NewBuilder(assembly.Parts{
		Project: p, Registry: registry, Web: web, Now: time.Now, Log: log,
		Robots: downloadermw.NewRobots(memory.NewOrigins(time.Now), time.Now),
		Slots: slots.New(memory.NewSlotRows(), slots.Config{
			Slack: time.Second, Now: time.Now, Sleep: assembly.Sleep, Draw: rand.Float64, Wait: time.Minute,
		}),
	})
	rt, err := builder.Build(crawl.Job{UID: crawl.NewJobUID(), Name: "bench", Spider: "quotes"}, crawl.JobSpec{
		Spider: "quotes", Settings: map[string]string{"DOWNLOAD_DELAY": "0"},
	})
	if err != nil {
		b.Fatal(err)
	}
	return rt
}

// cpuTime is what this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serverEnv makes this test binary the benchmark's server.
const serverEnv = "SKITTER_BENCH_SERVER"

// serveHosts starts the server of all hosts in a process of its own. It returns
// its port and how many connections it has taken.
func serveHosts(b *testing.B) (port string, dialled func() int) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(free.Addr().String())
	free.Close()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestBenchmarkServer$")
	cmd.Env = append(os.Environ(), serverEnv+"="+port)
	var said bytes.Buffer
	cmd.Stderr = &said
	stop, err := cmd.StdinPipe() // it ends with us, whatever ends us
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stop.Close(); _ = cmd.Wait() })
	for range 200 {
		if resp, err := http.Get("http://127.0.0.1:" + port + "/conns"); err == nil {
			resp.Body.Close()
			return port, func() int { return connsOf(b, port) }
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.Fatalf("the server does not answer: %s", said.String())
	return "", nil
}

func connsOf(b *testing.B, port string) int {
	resp, err := http.Get("http://127.0.0.1:" + port + "/conns")
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var n int
	if _, err := fmt.Fscan(resp.Body, &n); err != nil {
		b.Fatal(err)
	}
	return n
}

// TestBenchmarkServer is no test: it is the server of BenchmarkDownloader.
func TestBenchmarkServer(t *testing.T) {
	port := os.Getenv(serverEnv)
	if port == "" {
		t.Skip("this is the server of BenchmarkDownloader")
	}
	var conns atomic.Int64
	body := bytes.Repeat([]byte("0123456789abcde\n"), benchBody/16)
	pages := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/robots.txt") {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			w.Write(body)
		}),
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				conns.Add(1)
			}
		},
	}
	for k := range benchHosts {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.%d.%d:%s", 1+k/250, 1+k%250, port))
		if err != nil {
			t.Fatal(err)
		}
		go pages.Serve(l)
	}
	control, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	go http.Serve(control, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, conns.Load()) }))
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
