package lambdahost_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/topology"
)

func sample(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "events", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every sample event is one that its function takes.
func TestTheSamplesAreTaken(t *testing.T) {
	files, err := filepath.Glob("../../events/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		function, _, _ := strings.Cut(name, "-")
		p := newProbe(function)
		if _, err := p.Invoke(t.Context(), sample(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(p.calls)+len(p.dead)+len(p.orders)+p.sweeps == 0 && !strings.Contains(name, "-url-") {
			t.Errorf("%s: nothing was done", name)
		}
	}
}

// A job's ID comes from what asks for it, so that asking twice is asking once.
func TestEventsStartJobs(t *testing.T) {
	tests := []struct {
		name  string
		event []byte
		want  engine.Order
	}{
		{"a schedule", sample(t, "control-scheduled.json"), engine.Order{Project: "default", Name: "daily-quotes-20261130T060000Z", Spec: crawl.JobSpec{Spider: "quotes"}}},
		{"an object with URLs", sample(t, "control-object-created.json"), engine.Order{Project: "default", Spec: crawl.JobSpec{
			Spider: "quotes", Settings: map[string]string{}, StartURLs: []string{"http://a.example/", "http://b.example/"},
		}}},
		{
			"an object with an order",
			[]byte(`{"detail-type":"Object Created","source":"aws.s3","detail":{"bucket":{"name":"b"},"object":{"key":"start/shop/order.json","sequencer":"1"}}}`),
			engine.Order{Project: "default", Name: "mine", Spec: crawl.JobSpec{Spider: "shop", Args: map[string]string{"a": "b"}, Settings: map[string]string{}}},
		},
		{
			"somebody's program",
			[]byte(`{"id":"event-1","detail-type":"Crawl Requested","source":"x","detail":{"spider":"shop","project":"other","settings":{"DOWNLOAD_DELAY":0.5,"USER_AGENT":"me","RETRY_HTTP_CODES":[500,502]}}}`),
			engine.Order{Project: "other", Name: "event-1", Spec: crawl.JobSpec{Spider: "shop", Settings: map[string]string{
				"DOWNLOAD_DELAY": "0.5", "USER_AGENT": "me", "RETRY_HTTP_CODES": "[500,502]",
			}}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProbe(topology.Control)
			for range 2 {
				if _, err := p.Invoke(t.Context(), test.event); err != nil {
					t.Fatal(err)
				}
			}
			if len(p.orders) != 2 || p.orders[0].Name == "" || p.orders[0].Name != p.orders[1].Name {
				t.Fatalf("orders %+v, want the same name twice", p.orders)
			}
			got := p.orders[0]
			if test.want.Name == "" {
				test.want.Name = got.Name
			}
			if test.name == "a schedule" {
				got.Spec = crawl.JobSpec{Spider: got.Spec.Spider}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("order (-want, +got):\n%s", diff)
			}
		})
	}
}

func TestCallsOfTheURLReachTheAPI(t *testing.T) {
	p := newProbe(topology.Control)
	for _, name := range []string{"control-url-schedule.json", "control-url-schedule-base64.json"} {
		answer, err := p.Invoke(t.Context(), sample(t, name))
		if err != nil {
			t.Fatal(err)
		}
		var got events.LambdaFunctionURLResponse
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatal(err)
		}
		if got.StatusCode != 418 || !strings.HasPrefix(got.Body, "POST /schedule.json ") || !strings.Contains(got.Body, "spider=quotes") || got.Headers["Content-Type"] != "text/plain" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
