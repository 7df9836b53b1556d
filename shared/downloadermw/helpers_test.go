package downloadermw_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/settings"
)

// with resolves settings that differ from the defaults.
func with(t testing.TB, values map[string]any) settings.Settings {
	t.Helper()
	s, err := settings.Resolve(settings.Layer{Name: "test", Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func noLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func logTo(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// noon is a time to stand still at.
var noon = time.Date(2026, 10, 21, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// answer is a handler that always answers the same.
func answer(status int, headers http.Header, body string) downloader.Handler {
	return downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		return &crawl.Response{URL: req.URL, Status: status, Headers: headers.Clone(), Body: []byte(body), Request: req}, nil
	})
}

// fail is a handler that always fails the same.
func fail(err error) downloader.Handler {
	return downloader.HandlerFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) { return nil, err })
}

// outcome tells what came of a fetch in a word or two.
func outcome(resp *crawl.Response, err error) string {
	var (
		failure *crawl.Failure
		drop    *crawl.Drop
		retry   *crawl.Retry
		later   *crawl.Later
		instead *crawl.Instead
	)
	switch {
	case errors.As(err, &failure):
		return "failure " + failure.Reason
	case errors.As(err, &drop):
		return "drop " + drop.Reason
	case errors.As(err, &retry):
		return "retry " + retry.Reason
	case errors.As(err, &later):
		return "later " + later.Why
	case errors.As(err, &instead):
		return "instead " + instead.Request.URL
	case err != nil:
		return "error " + err.Error()
	case resp == nil:
		return "nothing"
	}
	return "response " + string(resp.Body)
}

// eachCase calls f with the input and the expectation of each reported failure
// of some kinds, which lie in the folder ../shared beside the repository.
func eachCase(t *testing.T, kinds string, f func(t *testing.T, input, expect json.RawMessage)) {
	for line := range bytes.Lines(readShared(t, "cases", "cases.jsonl")) {
		var c struct {
			ID, Kind      string
			Input, Expect json.RawMessage
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(" "+kinds+" ", " "+c.Kind+" ") {
			t.Run(c.ID, func(t *testing.T) { f(t, c.Input, c.Expect) })
		}
	}
}

func read(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func readShared(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "..", "shared"}, path...)...))
	if os.IsNotExist(err) {
		t.Skipf("the shared files are not here: %s", filepath.Join(path...))
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}
