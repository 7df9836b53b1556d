package robots_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/robots"
)

// readShared returns a file of the folder ../shared beside the repository, or
// skips the test where there is none.
func readShared(t testing.TB, path ...string) []byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
	name := filepath.Join(append([]string{dir, "..", "shared"}, path...)...)
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		t.Skipf("the corpora are not here: %s", filepath.Join(path...))
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A googleCorpus holds the cases of google/robotstxt's own test.
type googleCorpus struct {
	Allowed []struct {
		Test, Robots, Agent, URL string
		Allowed                  bool
	} `json:"allowed"`
	ValidAgent []struct {
		Agent string
		Valid bool
	} `json:"valid_agent"`
	Paths []struct{ URL, Path string } `json:"path_params_query"`
	Stats []struct {
		Test     string
		Robots   string `json:"robots_latin1"`
		Unknown  *int
		Sitemaps []string
	} `json:"stats"`
}

func readGoogle(t testing.TB) googleCorpus {
	t.Helper()
	var corpus googleCorpus
	if err := json.Unmarshal(readShared(t, "corpora", "robots", "google.json"), &corpus); err != nil {
		t.Fatal(err)
	}
	return corpus
}

func TestGooglesDecisions(t *testing.T) {
	// Google compares rule and URL as they are written, but for letters beyond
	// ASCII in a rule. Here escapes are written alike on both sides, so that an
	// Allow matches more: of these URLs, by these last lines of a file.
	differs := map[[2]string]bool{
		{"http://foo.bar/foo/bar/ツ", "Allow: /foo/bar/ツ"}:           true,
		{"http://foo.bar/foo/bar/ツ", "Allow: /foo/bar/%E3%83%84"}:   true,
		{"http://foo.bar/foo/bar/baz", "Allow: /foo/bar/%62%61%7A"}: true,
	}
	const wantTotal = 145
	corpus := readGoogle(t)
	if len(corpus.Allowed) != wantTotal {
		t.Errorf("%d cases, want %d", len(corpus.Allowed), wantTotal)
	}
	for _, c := range corpus.Allowed {
		lines := strings.Split(strings.TrimSpace(c.Robots), "\n")
		one := [2]string{c.URL, lines[len(lines)-1]}
		got := robots.Parse([]byte(c.Robots)).Allowed(c.Agent, c.URL)
		switch on := differs[one]; {
		case on && got == c.Allowed:
			t.Errorf("%s by %s is decided as Google does: take it off the list", one[0], one[1])
		case !on && got != c.Allowed:
			t.Errorf("%s: %.200s is %v for %s in\n%.300s", c.Test, c.URL, got, c.Agent, c.Robots)
		}
		delete(differs, one)
	}
	for one := range differs {
		t.Errorf("%s by %s is not in the corpus", one[0], one[1])
	}
}

func TestGooglesAgents(t *testing.T) {
	for _, c := range readGoogle(t).ValidAgent {
		// What is a token to Google is its own token here; of a header with a
		// version, which is none to Google, the token is taken.
		if got := robots.ProductToken(c.Agent) == c.Agent && c.Agent != ""; got != c.Valid {
			t.Errorf("%q is a token: %v, want %v", c.Agent, got, c.Valid)
		}
	}
}

func TestGooglesPaths(t *testing.T) {
	for _, c := range readGoogle(t).Paths {
		if got := robots.PathOf(c.URL); got != c.Path {
			t.Errorf("path of %q is %q, want %q", c.URL, got, c.Path)
		}
	}
}

func TestGooglesLines(t *testing.T) {
	for _, c := range readGoogle(t).Stats {
		t.Run(c.Test, func(t *testing.T) {
			var body []byte
			for _, r := range c.Robots {
				body = append(body, byte(r)) // one character stands for one byte
			}
			rules := robots.Parse(body)
			if c.Sitemaps != nil {
				if got := rules.Sitemaps(); len(got) != 1 || got[0] != c.Sitemaps[0] {
					t.Errorf("sitemaps %q, want %q", got, c.Sitemaps)
				}
				return
			}
			if c.Unknown != nil {
				// Two lines, of which one may be unknown: then there is no rule.
				rules := robots.Parse(bytes.ReplaceAll(body, []byte("Allow"), []byte("Disallow")))
				if got := rules.Allowed("foo", "/AnyValue"); got != (*c.Unknown > 0) {
					t.Errorf("foo is allowed /AnyValue: %v, with %d lines unknown", got, *c.Unknown)
				}
				return
			}
			if rules.Allowed("bar", "/x") {
				t.Error("bar is allowed /x, so a line was not read")
			}
			if !rules.Allowed("foo", "/x") {
				t.Error("foo is not allowed /x, so a line was misread")
			}
		})
	}
}
