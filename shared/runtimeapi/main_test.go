package runtimeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/runtimeapi"
)

// The test binary is the function, too: with this variable it is a runtime
// that does what its events say. Its value says how it starts.
const envRuntime = "RUNTIME_UNDER_TEST"

// envParent makes the test binary a parent that has a pool and waits.
const envParent = "PARENT_UNDER_TEST"

func TestMain(m *testing.M) {
	if how := os.Getenv(envRuntime); how != "" {
		runRuntime(how)
		return
	}
	if os.Getenv(envParent) != "" {
		runParent()
		return
	}
	os.Exit(m.Run())
}

// An order is an event of the runtime under test.
type order struct {
	Do   string
	Text string
	For  time.Duration
}

// A report is what the runtime under test answers.
type report struct {
	PID      int
	Text     string
	Request  string
	ARN      string
	Trace    string
	Left     time.Duration // until the deadline
	Variable []string
	Folder   string
}

// runParent makes a pool whose process is at work, says which one that is, and
// waits to be killed.
func runParent() {
	binary, _ := os.Executable()
	p, err := runtimeapi.New(runtimeapi.Config{
		Name: "fetch", Command: []string{binary}, Env: []string{envRuntime + "=stubborn"}, Timeout: time.Hour, Max: 1,
	})
	if err != nil {
		panic(err)
	}
	response, err := p.Invoke(context.Background(), []byte(`{}`))
	if err != nil {
		panic(err)
	}
	go func() { _, _ = p.Invoke(context.Background(), []byte(`{"For":3600000000000}`)) }()
	for p.Stats().Invocations < 2 {
		time.Sleep(time.Millisecond)
	}
	fmt.Println(string(response))
	select {}
}

func runRuntime(how string) {
	base := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/"
	switch word, rest, _ := strings.Cut(how, " "); word {
	case "dies":
		fmt.Fprintln(os.Stderr, "first line")
		fmt.Fprintln(os.Stderr, "no settings found")
		os.Exit(3)
	case "panics":
		panic("wired wrongly")
	case "hangs":
		select {}
	case "posts":
		post(base+"init/error", `{"errorType":"Init.Wrong","errorMessage":"no table"}`)
		os.Exit(1)
	case "posts-and-stays":
		post(base+"init/error", `{"errorType":"Init.Wrong","errorMessage":"no table"}`)
		select {}
	case "needs":
		if _, err := os.Stat(rest); err != nil {
			os.Exit(4)
		}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	}
	for {
		resp, err := http.Get(base + "invocation/next")
		if err != nil {
			return
		}
		event, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			os.Exit(5)
		}
		serve(base, resp.Header, event)
	}
}

func serve(base string, h http.Header, event []byte) {
	id := h.Get("Lambda-Runtime-Aws-Request-Id")
	url := base + "invocation/" + id
	var o order
	_ = json.Unmarshal(event, &o)
	switch o.Do {
	case "error":
		post(url+"/error", `{"errorType":"Page.Broken","errorMessage":"`+o.Text+`"}`)
		return
	case "panic":
		panic(o.Text)
	case "exit":
		fmt.Fprint(os.Stderr, o.Text) // with no line end
		os.Exit(7)
	case "post-and-exit": // as aws-lambda-go does with a panic
		post(url+"/error", `{"errorType":"panic","errorMessage":"`+o.Text+`"}`)
		os.Exit(1)
	case "answer-and-stay":
		post(url+"/response", `{}`)
		select {}
	case "large":
		fmt.Println("status", post(url+"/response", strings.Repeat("x", 6<<20+101)))
		return
	case "twice":
		post(url+"/response", `{}`)
		fmt.Println("again", post(url+"/response", `{}`), "other", post(base+"invocation/other/response", `{}`))
		return
	case "poll":
		resp, err := http.Get(base + "invocation/next")
		if err != nil {
			os.Exit(8)
		}
		o.Text = resp.Status
	case "print":
		fmt.Println(o.Text)
	case "echo":
		post(url+"/response", string(event))
		return
	}
	time.Sleep(o.For)
	folder, _ := os.Getwd()
	ms := int64(0)
	fmt.Sscan(h.Get("Lambda-Runtime-Deadline-Ms"), &ms)
	answer, _ := json.Marshal(report{
		PID: os.Getpid(), Text: o.Text, Request: id, Folder: folder,
		ARN: h.Get("Lambda-Runtime-Invoked-Function-Arn"), Trace: h.Get("Lambda-Runtime-Trace-Id"),
		Left: time.Until(time.UnixMilli(ms)), Variable: os.Environ(),
	})
	post(url+"/response", string(answer))
}

func post(url, body string) int {
	resp, err := http.Post(url, "application/json", bytes.NewBufferString(body))
	if err != nil {
		os.Exit(6)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}
