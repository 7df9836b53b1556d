package settings_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/settings"
)

func write(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "skitter.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadFile(t *testing.T) {
	layer, project, err := settings.ReadFile(write(t, `
project: shop
settings:
  DOWNLOAD_DELAY: 2s
  DOWNLOAD_MAXSIZE: 1MiB
  RETRY_HTTP_CODES: [503, 429]
  ROBOTSTXT_OBEY: false
  ROBOTSTXT_USER_AGENT: null
  DEFAULT_REQUEST_HEADERS:
    Accept: "*/*"
`))
	if err != nil {
		t.Fatal(err)
	}
	if project != "shop" || layer.Name != "skitter.yaml" {
		t.Errorf("project %q, layer %q", project, layer.Name)
	}
	s, err := settings.Resolve(layer)
	if err != nil {
		t.Fatal(err)
	}
	if s.DownloadDelay != 2*time.Second || s.DownloadMaxsize != 1<<20 || len(s.RetryHTTPCodes) != 2 ||
		s.RobotsTxtObey || s.DefaultRequestHeaders.Get("Accept") != "*/*" || len(s.DefaultRequestHeaders) != 1 {
		t.Errorf("got %+v", s)
	}
}

func TestReadFileTellsWhatIsWrong(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"an unknown key, with its line", "project: a\nsetting:\n  A: 1\n", "[2:1] unknown field \"setting\""},
		{"no YAML, with its line", "project: a\nsettings: [\n", "[2:11]"},
		{"a setting twice", "settings:\n  RETRY_TIMES: 1\n  RETRY_TIMES: 2\n", "[3:3]"},
		{"settings that are no object", "settings: 5\n", "[1:11]"},
		{"a second document", "project: a\n---\nproject: b\n", "more than one YAML document"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := settings.ReadFile(write(t, test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v\nlacks %s", err, test.want)
			}
		})
	}
}

func TestAnEmptyFileSaysNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing yet\n", "settings:\n"} {
		layer, project, err := settings.ReadFile(write(t, text))
		if err != nil || project != "" || len(layer.Values) != 0 {
			t.Errorf("%q: layer %v, project %q, error %v", text, layer, project, err)
		}
	}
}

func TestAnAbsentFileIsErrNotExist(t *testing.T) {
	_, _, err := settings.ReadFile(filepath.Join(t.TempDir(), "skitter.yaml"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
