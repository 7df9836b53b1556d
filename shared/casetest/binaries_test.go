package casetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/skitterhq/skitter/shared/assembly/cloud"
	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/runtimeapi"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/sqspoll"
	"github.com/skitterhq/skitter/shared/topology"
)

// asFunction makes this test's program the bootstrap of the function that it
// names.
const asFunction = "SKITTER_TEST_AS_FUNCTION"

func functionMain(name string) {
	lambdahost.Main(name, lines(), func(*cloud.Cloud) http.Handler { return http.NotFoundHandler() })
}

// lines is a project with one spider, which does what a page says, one word and
// its argument a line: "link URL", "item TEXT".
func lines() project.Project {
	return project.Project{Name: "cases", Spiders: []spider.Spider{{
		Name: "lines", StartURLs: []string{"http://127.0.0.1:1/"},
		Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			for line := range strings.Lines(string(page.Body)) {
				switch word, arg, _ := strings.Cut(strings.TrimSpace(line), " "); word {
				case "link":
					out.Request(&crawl.Request{URL: arg})
				case "item":
					out.Item(map[string]string{"text": arg})
				}
			}
			return nil
		},
	}}}
}

// binaries is a stack whose functions are processes, one of each, frozen between
// events as Lambda does. What they cannot see is here: AWS in memory, over HTTP.
type binaries struct {
	*stack
	url      string
	cloud    *cloud.Cloud
	mappings []*sqspoll.Mapping
	// returned is called when an invocation has returned, before the function
	// is invoked again; it may be nil.
	returned func(function string, event, response []byte, err error)
	turn     map[string]*sync.Mutex
	pools    map[string]*runtimeapi.Pool
}

// newBinaries makes the stack, with its times divided by scale.
func newBinaries(t *testing.T, scale float64) *binaries {
	t.Helper()
	b := &binaries{
		stack: newStack(t, func(s *topology.Stack) { *s = s.Scaled(scale) }),
		turn:  map[string]*sync.Mutex{}, pools: map[string]*runtimeapi.Pool{},
	}
	srv := httptest.NewServer(b.backend)
	t.Cleanup(srv.Close)
	b.url = srv.URL
	c, err := cloud.New(cloud.Options{
		Store: b.store, Stack: b.Stack, Function: topology.Control, Project: lines(), Log: nowhere(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	b.cloud = c
	for _, f := range b.Functions {
		pool, err := runtimeapi.New(runtimeapi.Config{
			Name: b.FunctionName(f.Name), Command: []string{bootstrap(t, f.Name)}, Env: b.variables(f.Name),
			Timeout: f.Timeout, Max: 1, Memory: f.Memory, Freeze: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		b.pools[f.Name], b.turn[f.Name] = pool, new(sync.Mutex)
	}
	return b
}

// variables are those of a function. Its access key is its name, so that the
// backend can tell whose a call is.
func (b *binaries) variables(function string) []string {
	env := []string{
		"AWS_ENDPOINT_URL=" + b.url, "AWS_ACCESS_KEY_ID=" + function, "AWS_SECRET_ACCESS_KEY=secret",
		topology.EnvAllowAddresses + "=127.0.0.0/8",
	}
	for name, value := range b.Environment() {
		env = append(env, name+"="+value)
	}
	return env
}

// bootstrap is a program that is this test's, as a function.
func bootstrap(t *testing.T, function string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bootstrap")
	script := fmt.Sprintf("#!/bin/sh\n%s=%s exec %s\n", asFunction, function, self)
	if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// invoke calls a function, one event after the other.
func (b *binaries) invoke(ctx context.Context, function string, event []byte) ([]byte, error) {
	b.turn[function].Lock()
	defer b.turn[function].Unlock()
	response, err := b.pools[function].Invoke(runtimeapi.WithTrace(ctx, sqspoll.Trace(ctx)), event)
	if b.returned != nil {
		b.returned(function, event, response, err)
	}
	return response, err
}

// crawl runs a job until it has ended, or until done says so. A chain of
// messages may have so many invocations of a function; 0 sets no limit.
func (b *binaries) crawl(t *testing.T, start string, hops int, done func() bool) crawl.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	var polling sync.WaitGroup
	defer func() { cancel(); polling.Wait() }()
	client := sqs.NewFromConfig(aws.ForClient(overHTTP(b)))
	for _, f := range b.Functions {
		for _, source := range f.Sources {
			m := sqspoll.Of(b.Stack, source)
			m.Client, m.Concurrency, m.Wait = client, 1, 10*time.Millisecond
			m.Invoke = func(ctx context.Context, event []byte) ([]byte, error) { return b.invoke(ctx, f.Name, event) }
			m.Function, m.Hops = f.Name, hops
			b.mappings = append(b.mappings, m)
			polling.Go(func() {
				if err := m.Run(ctx); err != nil {
					t.Error(err)
				}
			})
		}
	}
	job, _, err := b.cloud.Create(ctx, engine.Order{Project: "cases", Name: "job", Spec: crawl.JobSpec{
		Spider: "lines", StartURLs: []string{start}, Settings: map[string]string{"DOWNLOAD_DELAY": "0", "LOG_LEVEL": "ERROR"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for ctx.Err() == nil {
		if job, err = b.store.Jobs().Get(ctx, job.UID); err == nil && (job.State.Ended() || done()) {
			return job
		}
		time.Sleep(20 * time.Millisecond) // processes have no clock that a test could move
	}
	t.Fatalf("the job has not ended: %+v, %v", job, err)
	return job
}

// bodies are those of an event's records.
func bodies(t *testing.T, event []byte) (list []string) {
	t.Helper()
	var ev struct{ Records []record }
	if err := json.Unmarshal(event, &ev); err != nil {
		t.Error(err)
	}
	for _, r := range ev.Records {
		list = append(list, r.Body)
	}
	return list
}

// caller is the access key that signed a call.
func caller(c *awstest.Call) string {
	_, rest, _ := strings.Cut(c.Request.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(rest, "/")
	return key
}
