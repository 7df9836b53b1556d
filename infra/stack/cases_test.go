package stack

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/infra/check"
	"github.com/skitterhq/skitter/shared/topology"
)

// An infraCase is a failure that somebody met because of how a crawler was
// deployed.
type infraCase struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Title string `json:"title"`
	Input struct {
		Check []string `json:"check"`
	} `json:"input"`
	Expect struct {
		Property map[string]string `json:"template_property"`
	} `json:"expect"`
}

// propertiesOf are the properties that prevent what a case asks to check.
var propertiesOf = map[string][]string{
	"VisibilityTimeout >= 6 * Function.Timeout + MaximumBatchingWindow": {"visibility"},
	"redrive maxReceiveCount >= 5":                                      {"redrive"},
	"maxReceiveCount >= 5":                                              {"redrive"},
	"ScalingConfig.MaximumConcurrency set (min 2)":                      {"concurrency"},
	"reserved concurrency >= MaximumConcurrency":                        {"reserved-concurrency"},
	"DLQ MessageRetentionPeriod > source MessageRetentionPeriod":        {"dead-letter-queue"},
	"DLQ depth alarm":                                                   {"alarms"},
	// An invocation stops taking on work before its deadline, and no download
	// is longer than half of one.
	"Function.Timeout >= batch * DOWNLOAD_TIMEOUT or deadline-aware": nil,
}

func readCases(t *testing.T) []infraCase {
	t.Helper()
	path := os.Getenv("SKITTER_CASES")
	if path == "" {
		path = filepath.Join("testdata", "cases.jsonl")
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var cases []infraCase
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if !strings.Contains(lines.Text(), `"infra_`) {
			continue
		}
		var c infraCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(c.Kind, "infra_") {
			cases = append(cases, c)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestCases(t *testing.T) {
	cases := readCases(t)
	if len(cases) < 4 {
		t.Fatalf("there are %d cases", len(cases))
	}
	for name, options := range map[string]map[string]string{
		"dev": nil, "prod": {"stage": "prod", "reserve": "true"}, "pollers": {"reserve": "true", "pollers": "request:2"},
	} {
		template := synth(t, options)
		findings := check.Template(template, topology.Default("skitter"), everything)
		for _, c := range cases {
			t.Run(c.ID+"/"+name, func(t *testing.T) { c.run(t, template, findings) })
		}
	}
}

func (c infraCase) run(t *testing.T, template map[string]any, findings []check.Finding) {
	for _, asked := range c.Input.Check {
		names, ok := propertiesOf[asked]
		if !ok {
			t.Errorf("nothing is known of %q", asked)
		}
		for _, f := range findings {
			if slices.Contains(names, f.Property) {
				t.Errorf("%s: %s", asked, f)
			}
		}
		if names == nil {
			deadlineAware(t)
		}
	}
	for path, want := range c.Expect.Property {
		i := strings.LastIndex(path, ".")
		for _, r := range properties(template, path[:i]) {
			if fmt.Sprint(r[path[i+1:]]) != want {
				t.Errorf("%s of %s is %v, want %s", path, r["FunctionName"], r[path[i+1:]], want)
			}
		}
	}
	if len(c.Input.Check)+len(slices.Collect(maps.Keys(c.Expect.Property))) == 0 {
		t.Errorf("case %s asks for nothing", c.Title)
	}
}

// deadlineAware fails if a download can outlast the invocation that begins it.
func deadlineAware(t *testing.T) {
	stack := topology.Default("skitter")
	fetch := stack.Function(topology.Fetch)
	if fetch.Reserve <= 0 || fetch.Margin <= 0 || stack.Times.Download > fetch.Work()-fetch.Margin {
		t.Errorf("a download may take %s, and an invocation works for %s of %s", stack.Times.Download, fetch.Work(), fetch.Timeout)
	}
}
