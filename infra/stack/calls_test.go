package stack

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRolesAllowWhatTheFunctionsCalled holds the roles against calls that were
// recorded: a role that is too narrow shows in the cloud alone, since emulators
// look at none.
func TestRolesAllowWhatTheFunctionsCalled(t *testing.T) {
	file, err := os.Open("testdata/calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m := &mutation{t: t, template: plain(t)}
	n := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		call := strings.Fields(lines.Text())
		if len(call) != 3 || call[0] == "#" {
			continue
		}
		n++
		if !m.allowed(call[0], call[1], call[2]) {
			t.Errorf("not allowed: %s", lines.Text())
		}
	}
	if n < 50 {
		t.Errorf("%d calls were read", n)
	}
	for _, call := range [][3]string{
		{"fetch", "s3:DeleteObject", "pages/"}, {"parse", "dynamodb:Query", "items"}, {"pipeline", "sqs:SendMessage", "page"},
		{"control", "dynamodb:Scan", "jobs"}, {"control", "s3:ListBucket", "feeds/"}, {"parse", "s3:PutObject", "feeds/"},
	} {
		if m.allowed(call[0], call[1], call[2]) {
			t.Errorf("allowed: %v", call)
		}
	}
}

// allowed reports whether a function's role allows an action on a queue, a table
// or a folder of the bucket.
func (m *mutation) allowed(function, action, on string) bool {
	m.t.Helper()
	want := ""
	table, index, _ := strings.Cut(on, "/")
	switch {
	case action == "s3:ListBucket":
		want = `"` + on + `*"` // in the condition
	case strings.HasPrefix(action, "s3:"):
		want = `"/` + on + `*"`
	case strings.HasPrefix(action, "sqs:"):
		want = asJSON(m.t, map[string]any{"Fn::GetAtt": []any{m.id("SQS::Queue", `"QueueName":"skitter-`+on+`"`), "Arn"}})
	case index != "":
		want = `"/` + index + `"`
	default:
		want = asJSON(m.t, map[string]any{"Fn::GetAtt": []any{m.id("DynamoDB::Table", `"skitter-`+table+`"`), "Arn"}})
	}
	policies := m.one("IAM::Role", "stage "+function+" ")["Policies"].([]any)
	for _, p := range policies {
		for _, s := range p.(map[string]any)["PolicyDocument"].(map[string]any)["Statement"].([]any) {
			s := s.(map[string]any)
			actions, ok := s["Action"].([]any)
			if !ok {
				actions = []any{s["Action"]}
			}
			if slices.Contains(actions, any(action)) && strings.Contains(asJSON(m.t, s), want) {
				return true
			}
		}
	}
	return false
}
