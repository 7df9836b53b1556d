package deploytest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// needed skips a test where a program is not there, and fails it where CI=true.
func needed(t *testing.T, program, from string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%v; %s installs it", err, from)
	}
	t.Skipf("%v; %s installs it", err, from)
	return ""
}

var address = regexp.MustCompile(`Running on (http://127\.0\.0\.1:[0-9]+)`)

// moto is one emulator, which ends with the test.
type moto struct {
	// url has 127.0.0.1 as its host.
	url string
}

// startMoto starts one on a free port.
func startMoto(t *testing.T) moto {
	t.Helper()
	path := os.Getenv("SKITTER_MOTO")
	if path == "" {
		path = needed(t, "moto_server", "make emulators")
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, path, "-H", "127.0.0.1", "-p", "0")
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		w.Close()
	})
	found := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if m := address.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
				break
			}
		}
		_, _ = io.Copy(io.Discard, r)
	}()
	select {
	case url := <-found:
		return moto{url}
	case <-time.After(time.Minute):
		t.Fatal("moto does not say where it listens")
		return moto{}
	}
}

// environment points AWS's tools at it. The name is localhost: moto finds the
// bucket in the address of a template by it.
func (m moto) environment() []string {
	return append(os.Environ(),
		"AWS_ENDPOINT_URL="+strings.Replace(m.url, "127.0.0.1", "localhost", 1),
		"AWS_ACCESS_KEY_ID=emulator", "AWS_SECRET_ACCESS_KEY=emulator", "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1",
		"CDK_DISABLE_CLI_TELEMETRY=true", "NODE_NO_WARNINGS=1",
	)
}

// signed is a header that names a service and a region, as a signature does.
// moto checks no more of it.
func signed(service string) string {
	return "AWS4-HMAC-SHA256 Credential=emulator/20260101/us-east-1/" + service + "/aws4_request, SignedHeaders=host, Signature=0"
}

// call makes a call in AWS's JSON protocol.
func (m moto) call(t *testing.T, service, target string, in map[string]any) map[string]any {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.url+"/", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", target)
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("Authorization", signed(service))
	var out map[string]any
	if err := json.Unmarshal(do(t, req), &out); err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return out
}

// get reads a resource by its path.
func (m moto) get(t *testing.T, service, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", signed(service))
	return string(do(t, req))
}

func do(t *testing.T, req *http.Request) []byte {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode >= 300 && resp.StatusCode != http.StatusNotFound {
		t.Fatalf("%s %s: %s: %s", req.Method, req.URL, resp.Status, body)
	}
	return body
}

// run runs a program to its end.
func run(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", fmt.Sprint(name, args), err, out)
	}
}
