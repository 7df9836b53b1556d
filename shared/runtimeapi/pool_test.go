package runtimeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/runtimeapi"
)

// config is a function of the runtime under test that starts in the way named.
func config(t *testing.T, how string) runtimeapi.Config {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return runtimeapi.Config{
		Name: "fetch", Command: []string{binary}, Env: []string{envRuntime + "=" + how},
		Timeout: time.Minute, Max: 3,
	}
}

func open(t *testing.T, c runtimeapi.Config) *runtimeapi.Pool {
	t.Helper()
	p, err := runtimeapi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func invoke(t *testing.T, p *runtimeapi.Pool, o order) (report, error) {
	t.Helper()
	event, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	response, err := p.Invoke(ctx, event)
	if err != nil {
		return report{}, err
	}
	var r report
	if err := json.Unmarshal(response, &r); err != nil {
		t.Errorf("response %.100s: %v", response, err)
	}
	return r, nil
}

// must invokes what may not fail.
func must(t *testing.T, p *runtimeapi.Pool, o order) report {
	t.Helper()
	r, err := invoke(t, p, o)
	if err != nil {
		t.Fatalf("%s: %v", o.Do, err)
	}
	return r
}

// eventually waits for what another process does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

func TestInvokeGivesTheEventAndReturnsTheResponse(t *testing.T) {
	t.Parallel()
	p := open(t, config(t, "well"))
	event := []byte(`{"Do":"echo","Text":"ä <b> \n 東京"}`)
	for range 3 {
		got, err := p.Invoke(t.Context(), event)
		if err != nil || !bytes.Equal(got, event) {
			t.Fatalf("Invoke = %q, %v; want the event", got, err)
		}
	}
	s := p.Stats()
	if s.ColdStarts != 1 || s.Invocations != 3 || len(s.FirstPoll) != 1 || s.FirstPoll[0] <= 0 {
		t.Errorf("Stats = %+v; want one start, three invocations and the time to the first poll", s)
	}
}

func TestAProcessIsToldWhatLambdaTells(t *testing.T) {
	t.Parallel()
	c := config(t, "well")
	c.Memory, c.Region = 512, "eu-central-1"
	c.Env = append(c.Env, "SKITTER_STACK=test", "AWS_LAMBDA_FUNCTION_NAME=mine")
	p := open(t, c)
	r := must(t, p, order{})
	for _, want := range []string{
		"SKITTER_STACK=test", "AWS_LAMBDA_FUNCTION_NAME=fetch", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_REGION=eu-central-1", "AWS_DEFAULT_REGION=eu-central-1",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand", "AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/fetch", "_HANDLER=bootstrap",
		"LAMBDA_TASK_ROOT=" + filepath.Dir(c.Command[0]), "TZ=:UTC", "PATH=" + os.Getenv("PATH"),
	} {
		if !slices.Contains(r.Variable, want) {
			t.Errorf("no variable %s", want)
		}
	}
	if r.Folder != filepath.Dir(c.Command[0]) {
		t.Errorf("working directory %s; want that of the binary", r.Folder)
	}
	if want := "arn:aws:lambda:eu-central-1:000000000000:function:fetch"; r.ARN != want {
		t.Errorf("ARN %s; want %s", r.ARN, want)
	}
	if len(r.Request) != 36 || !strings.HasPrefix(r.Trace, "Root=1-") {
		t.Errorf("request %q, trace %q; want a UUID and a trace header", r.Request, r.Trace)
	}
	if r.Left < 50*time.Second || r.Left > time.Minute {
		t.Errorf("%v left; want a little less than a minute", r.Left)
	}
}

func TestAProcessInheritsNoVariables(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "the parent's own")
	p := open(t, config(t, "well"))
	for _, v := range must(t, p, order{}).Variable {
		if strings.HasPrefix(v, "AWS_SECRET_ACCESS_KEY=") {
			t.Errorf("the process has %s", v)
		}
	}
}

func TestAFunctionErrorLeavesTheEnvironmentAlive(t *testing.T) {
	t.Parallel()
	p := open(t, config(t, "well"))
	before := must(t, p, order{})
	_, err := invoke(t, p, order{Do: "error", Text: "no title"})
	var failed *runtimeapi.FunctionError
	if !errors.As(err, &failed) || failed.Type != "Page.Broken" || failed.Message != "no title" {
		t.Fatalf("error %v; want the function's", err)
	}
	if !strings.Contains(string(failed.Payload), `"errorType"`) || !strings.HasPrefix(err.Error(), "invoke fetch: ") {
		t.Errorf("payload %s, error %v; want what was posted, and the function's name", failed.Payload, err)
	}
	if after := must(t, p, order{}); after.PID != before.PID {
		t.Error("another process after an error; want the same one")
	}
}

func TestAProcessThatEndsIsReplaced(t *testing.T) {
	for _, test := range []struct{ do, state, line string }{
		{"exit", "exit status 7", "out of memory"},
		{"panic", "exit status 2", "panic: out of memory"},
	} {
		t.Run(test.do, func(t *testing.T) {
			t.Parallel()
			p := open(t, config(t, "well"))
			before := must(t, p, order{})
			_, err := invoke(t, p, order{Do: test.do, Text: "out of memory"})
			var exit *runtimeapi.ExitError
			if !errors.As(err, &exit) || exit.State != test.state || exit.Line != test.line {
				t.Fatalf("error %v; want %s and %q", err, test.state, test.line)
			}
			if after := must(t, p, order{}); after.PID == before.PID {
				t.Error("the same process ID after an exit")
			}
			if s := p.Stats(); s.Exits != 1 || s.ColdStarts != 2 {
				t.Errorf("Stats = %+v; want one exit and two starts", s)
			}
		})
	}
}

func TestAProcessThatPostsAnErrorAndEnds(t *testing.T) {
	t.Parallel()
	p := open(t, config(t, "well"))
	for range 3 {
		_, err := invoke(t, p, order{Do: "post-and-exit", Text: "nil map"})
		var failed *runtimeapi.FunctionError
		if !errors.As(err, &failed) || failed.Message != "nil map" {
			t.Fatalf("error %v; want the function's", err)
		}
	}
	must(t, p, order{})
}

func TestAnInvocationPastItsTimeIsKilled(t *testing.T) {
	t.Parallel()
	c := config(t, "well")
	c.Timeout = time.Second
	p := open(t, c)
	before := must(t, p, order{})
	_, err := invoke(t, p, order{For: time.Hour})
	var late *runtimeapi.TimeoutError
	if !errors.As(err, &late) || !strings.Contains(err.Error(), "Task timed out after 1.00 seconds") {
		t.Fatalf("error %v; want a time-out", err)
	}
	eventually(t, "the process is gone", func() bool { return p.Live() == 0 })
	if after := must(t, p, order{}); after.PID == before.PID {
		t.Error("the same process after a time-out")
	}
	if s := p.Stats(); s.Timeouts != 1 || s.Exits != 0 {
		t.Errorf("Stats = %+v; want one time-out and no exit", s)
	}
}

func TestAProcessThatDoesNotComeBackIsKilled(t *testing.T) {
	t.Parallel()
	c := config(t, "well")
	c.Timeout, c.Max = time.Second, 1
	p := open(t, c)
	must(t, p, order{Do: "answer-and-stay"})
	must(t, p, order{})
	if s := p.Stats(); s.ColdStarts != 2 || s.Timeouts != 0 {
		t.Errorf("Stats = %+v; want two starts, and no time-out of what was answered", s)
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	p := open(t, config(t, "well"))
	must(t, p, order{})
	if p.Kill() {
		t.Fatal("Kill found a busy environment where all are idle")
	}
	result := make(chan error)
	go func() {
		_, err := p.Invoke(t.Context(), []byte(`{"For":3600000000000}`))
		result <- err
	}()
	eventually(t, "a busy environment is killed", p.Kill)
	var exit *runtimeapi.ExitError
	if err := <-result; !errors.As(err, &exit) || exit.State != "signal: killed" {
		t.Fatalf("error %v; want one of a killed environment", err)
	}
	must(t, p, order{})
	if s := p.Stats(); s.Kills != 1 || s.Exits != 1 {
		t.Errorf("Stats = %+v; want one kill and one exit", s)
	}
}

func TestAtMostMaxEnvironmentsLive(t *testing.T) {
	t.Parallel()
	p := open(t, config(t, "well"))
	var mu sync.Mutex
	pids := map[int]int{}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			r, err := invoke(t, p, order{For: 5 * time.Millisecond})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			pids[r.PID]++
		})
	}
	all.Wait()
	if len(pids) > 3 || p.Stats().ColdStarts > 3 || p.Stats().Invocations != 20 {
		t.Errorf("processes %v, %+v; want 20 invocations on at most 3", pids, p.Stats())
	}
}

func TestTheEnvironmentUsedLastIsUsedAgain(t *testing.T) {
	t.Parallel()
	p := open(t, config(t, "well"))
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { must(t, p, order{For: 50 * time.Millisecond}) })
	}
	all.Wait()
	pid := must(t, p, order{}).PID
	for range 5 {
		if again := must(t, p, order{}).PID; again != pid {
			t.Fatalf("process %d after process %d; want the same one", again, pid)
		}
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	c := config(t, "well")
	var out lockedBuffer
	c.Output = &out
	p := open(t, c)
	if _, err := p.Invoke(t.Context(), make([]byte, runtimeapi.MaxPayload+1)); !errors.Is(err, runtimeapi.ErrTooLarge) {
		t.Errorf("error %v of an event of 6 MB and a byte; want ErrTooLarge", err)
	}
	if s := p.Stats(); s.ColdStarts != 0 {
		t.Errorf("%d starts for an event that is too large", s.ColdStarts)
	}
	event := []byte(`{"Do":"echo","Text":"` + strings.Repeat("x", 6<<20-23) + `"}`)
	if got, err := p.Invoke(t.Context(), event); err != nil || len(got) != runtimeapi.MaxPayload {
		t.Errorf("Invoke = %d bytes, %v; want all of 6 MB", len(got), err)
	}
	_, err := invoke(t, p, order{Do: "large"})
	var failed *runtimeapi.FunctionError
	if !errors.As(err, &failed) || failed.Type != "Function.ResponseSizeTooLarge" {
		t.Errorf("error %v; want ResponseSizeTooLarge", err)
	}
	must(t, p, order{})
	if !strings.Contains(out.String(), "fetch[1] status 413\n") {
		t.Errorf("output %q; want that the function got the status 413", out.String())
	}
}

func TestWhatARuntimeMayNotDo(t *testing.T) {
	t.Parallel()
	c := config(t, "well")
	var out lockedBuffer
	c.Output = &out
	p := open(t, c)
	must(t, p, order{Do: "twice"})
	if r := must(t, p, order{Do: "poll"}); r.Text != "403 Forbidden" {
		t.Errorf("a poll before the answer got %s; want 403", r.Text)
	}
	if want := "fetch[1] again 403 other 400\n"; out.String() != want {
		t.Errorf("output %q; want %q", out.String(), want)
	}
}

func TestOutputHasFunctionAndEnvironment(t *testing.T) {
	t.Parallel()
	c := config(t, "well")
	var out lockedBuffer
	c.Output = &out
	p := open(t, c)
	must(t, p, order{Do: "print", Text: "one\n\ntwo"})
	p.Close()
	if want := "fetch[1] one\nfetch[1] \nfetch[1] two\n"; out.String() != want {
		t.Errorf("output %q; want %q", out.String(), want)
	}
}

func TestACallerThatIsGoneLeavesTheInvocationAlone(t *testing.T) {
	t.Parallel()
	c := config(t, "well")
	c.Max = 1
	p := open(t, c)
	pid := must(t, p, order{}).PID
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := p.Invoke(ctx, []byte(`{"For":100000000}`))
		gone <- err
	}()
	eventually(t, "the event is handed over", func() bool { return p.Stats().Invocations == 2 })
	waits, stop := context.WithCancel(t.Context())
	stop()
	if _, err := p.Invoke(waits, []byte(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a wait that is cancelled", err)
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want that of the context", err)
	}
	if again := must(t, p, order{}).PID; again != pid {
		t.Error("the environment of a caller that is gone was replaced")
	}
	if s := p.Stats(); s.Invocations != 3 {
		t.Errorf("%d invocations; want 3, without the one that was given up", s.Invocations)
	}
}

func TestWrongConfigurations(t *testing.T) {
	good := config(t, "well")
	for name, spoil := range map[string]func(*runtimeapi.Config){
		"no name":     func(c *runtimeapi.Config) { c.Name = "" },
		"no command":  func(c *runtimeapi.Config) { c.Command = nil },
		"no binary":   func(c *runtimeapi.Config) { c.Command = []string{"/nowhere/bootstrap"} },
		"no time-out": func(c *runtimeapi.Config) { c.Timeout = 0 },
		"no maximum":  func(c *runtimeapi.Config) { c.Max = 0 },
	} {
		c := good
		spoil(&c)
		if _, err := runtimeapi.New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A lockedBuffer takes the output of several processes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
