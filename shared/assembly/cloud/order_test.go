package cloud

import (
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/project"
)

func TestWhatAStackCannotDoIsRefused(t *testing.T) {
	c := &Cloud{Project: project.Project{Name: "default"}}
	good := engine.Order{Project: "default", Name: "daily 1", Spec: crawl.JobSpec{Spider: "s", StartURLs: []string{"https://a.example/"}}}
	if err := c.checkOrder(good); err != nil {
		t.Error(err)
	}
	for _, test := range []struct {
		want   string
		change func(o *engine.Order)
	}{
		{`project "other": this stack's is "default"`, func(o *engine.Order) { o.Project = "other" }},
		{"job name is invalid: it has 201 bytes, more than 200", func(o *engine.Order) { o.Name = strings.Repeat("x", 201) }},
		{"slashes or control characters", func(o *engine.Order) { o.Name = "a/b" }},
		{"slashes or control characters", func(o *engine.Order) { o.Name = "a\x00" }},
		{"or is a folder's", func(o *engine.Order) { o.Name = ".." }},
		{"nothing here fetches ftp URLs", func(o *engine.Order) { o.Spec.StartURLs = []string{"ftp://a.example/"} }},
		{"nothing here fetches file URLs", func(o *engine.Order) { o.Spec.StartURLs = []string{"file:///proc/self/environ"} }},
		{"start URL: ", func(o *engine.Order) { o.Spec.StartURLs = []string{"::"} }},
		{"a function writes to S3 alone", func(o *engine.Order) { o.Spec.Feeds = []crawl.Feed{{URI: "x.jsonl"}} }},
	} {
		o := good
		test.change(&o)
		if err := c.checkOrder(o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}
