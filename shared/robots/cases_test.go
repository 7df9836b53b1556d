package robots_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/robots"
)

// A reportedCase is one line of cases.jsonl: a failure that someone met.
type reportedCase struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind"`
	Title  string          `json:"title"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
}

func TestReportedCases(t *testing.T) {
	run := map[string]func(*testing.T, reportedCase){
		"robots_match":      matchCase,
		"robots_match_many": matchManyCase,
		"robots_delay":      delayCase,
		"robots_fetch_many": statusCase,
	}
	n := 0
	lines := bufio.NewScanner(bytes.NewReader(readShared(t, "cases", "cases.jsonl")))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c reportedCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if run[c.Kind] == nil {
			continue
		}
		n++
		t.Run(c.ID+" "+c.Title, func(t *testing.T) { run[c.Kind](t, c) })
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if n < 9 {
		t.Errorf("%d cases run, want at least 9", n)
	}
}

func decodeCase(t *testing.T, c reportedCase, input, expect any) {
	t.Helper()
	if err := json.Unmarshal(c.Input, input); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(c.Expect, expect); err != nil {
		t.Fatal(err)
	}
}

func matchCase(t *testing.T, c reportedCase) {
	var in struct {
		Robots []byte `json:"robots_b64"`
		Agent  string
	}
	var want struct{ Allowed map[string]bool }
	decodeCase(t, c, &in, &want)
	rules := robots.Parse(in.Robots)
	for url, allowed := range want.Allowed {
		if got := rules.Allowed(in.Agent, url); got != allowed {
			t.Errorf("%s is allowed: %v, want %v", url, got, allowed)
		}
	}
}

func matchManyCase(t *testing.T, c reportedCase) {
	var in struct {
		Agent string
		Cases []struct {
			Agent  string
			Robots []byte `json:"robots_b64"`
			Gen    *struct {
				CommentBytes int `json:"comment_bytes"`
				Then         string
			} `json:"robots_gen"`
			URLs []string
		}
	}
	var want struct{ Allowed [][]bool }
	decodeCase(t, c, &in, &want)
	for i, file := range in.Cases {
		agent := in.Agent
		if file.Agent != "" {
			agent = file.Agent
		}
		body := file.Robots
		if file.Gen != nil {
			body = []byte(strings.Repeat("#\n", file.Gen.CommentBytes/2) + file.Gen.Then)
		}
		rules := robots.Parse(body)
		for j, url := range file.URLs {
			if got := rules.Allowed(agent, url); got != want.Allowed[i][j] {
				t.Errorf("%s is allowed: %v, want %v, by\n%s", url, got, want.Allowed[i][j], body)
			}
		}
	}
}

func delayCase(t *testing.T, c reportedCase) {
	var in struct{ Values []string }
	var want struct{ Delay []any }
	decodeCase(t, c, &in, &want)
	for i, value := range in.Values {
		got, ok := robots.Parse([]byte("User-agent: *\nCrawl-delay: " + value + "\n")).CrawlDelay("mybot")
		switch w := want.Delay[i].(type) {
		case nil:
			if ok {
				t.Errorf("%s is %v, want none", value, got)
			}
		case float64:
			if seconds := time.Duration(w * float64(time.Second)); got != seconds {
				t.Errorf("%s is %v, want %v", value, got, seconds)
			}
		default: // "cap": the caller's setting bounds what the file says
			if !ok {
				t.Errorf("%s is none", value)
			}
		}
	}
}

func statusCase(t *testing.T, c reportedCase) {
	var in struct{ Responses []struct{ Status int } } // an error has none
	var want struct{ Allow []bool }
	decodeCase(t, c, &in, &want)
	for i, response := range in.Responses {
		rules, _ := robots.ForStatus(response.Status, nil)
		if got := rules.Allowed("mybot", "http://example.com/x"); got != want.Allow[i] {
			t.Errorf("status %d allows: %v, want %v", response.Status, got, want.Allow[i])
		}
	}
}
