// Package emulatortest starts emulators of AWS for tests: moto, which has SQS,
// DynamoDB and S3, and dynalite, which has DynamoDB alone and holds it to
// stricter rules. Each runs once in a test process, on a free port of the
// loopback interface, and ends with that process however it ends.
//
// Tests share what is in them, so every test names its stack otherwise. What
// they get wrong stands in localstack/README.md, and this package's tests hold
// what the adapters rely on.
//
// It is for tests only.
package emulatortest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
)

// An emulator is a program that serves AWS's protocols.
type emulator struct {
	name string
	// command is the program's name on the PATH, installed where make
	// emulators puts it, and variable the one that names another.
	command, installed, variable string
	args                         []string
	// proves says which tests are left out without it.
	proves string

	once sync.Once
	url  string
	// missing is why there is none, and err why the one that there is did
	// not start.
	missing, err error
}

var moto = &emulator{
	name: "moto", command: "moto_server", installed: "venv/bin/moto_server", variable: "SKITTER_MOTO",
	args:   []string{"-H", "127.0.0.1", "-p", "0"},
	proves: "the AWS adapters and the functions against an emulator of SQS, DynamoDB and S3",
}

var dynalite = &emulator{
	name: "dynalite", command: "dynalite", installed: "node_modules/.bin/dynalite", variable: "SKITTER_DYNALITE",
	args: []string{
		"--host", "127.0.0.1",
		// A bare 0 is no port to it and means 4567; text goes to Node's
		// listen as it is, and that takes any free port.
		"--port= 0",
		// Tables are created as AWS does, not at once, but quickly.
		"--createTableMs", "20", "--deleteTableMs", "20", "--updateTableMs", "20",
	},
	proves: "the AWS adapters against a second DynamoDB, of strict validation",
}

// Moto returns the configuration of clients of SQS, DynamoDB and S3 at the
// test process's moto. A test is skipped where there is no moto, and fails
// where CI=true.
func Moto(t testing.TB) awssdk.Config {
	t.Helper()
	return moto.config(t)
}

// Dynalite is as [Moto], with DynamoDB alone.
func Dynalite(t testing.TB) awssdk.Config {
	t.Helper()
	return dynalite.config(t)
}

// Reset empties the test process's moto. Whoever calls it shares the process
// with no parallel test.
func Reset(t testing.TB) {
	t.Helper()
	url := *Moto(t).BaseEndpoint + "/moto-api/reset"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	if err != nil {
		t.Fatalf("reset moto: %v", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatalf("reset moto: %v", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("reset moto: status %s", resp.Status)
	}
}

// Missing says in a line for each emulator that is not on this machine which
// tests are left out and how to get it.
func Missing(ctx context.Context) []string {
	var lines []string
	for _, e := range []*emulator{moto, dynalite} {
		if _, err := e.find(ctx); err != nil {
			lines = append(lines, e.leftOut(err))
		}
	}
	return lines
}

func (e *emulator) leftOut(err error) string {
	return fmt.Sprintf("%s: %v (make emulators installs %s)", e.proves, err, e.name)
}

// startTime is how long an emulator may take to answer: moto takes two seconds
// where nothing else runs, and tests run many at once.
const startTime = time.Minute

func (e *emulator) config(t testing.TB) awssdk.Config {
	t.Helper()
	e.once.Do(e.start)
	switch {
	case e.missing != nil && os.Getenv("CI") != "true" && os.Getenv(e.variable) == "":
		t.Skip(e.leftOut(e.missing))
	case e.missing != nil:
		t.Fatal(e.leftOut(e.missing))
	case e.err != nil:
		t.Fatalf("start %s: %v", e.name, e.err)
	}
	return configFor(e.url)
}

func (e *emulator) start() {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	var path string
	if path, e.missing = e.find(ctx); e.missing == nil {
		e.url, e.err = start(ctx, path, e.args...)
	}
}
