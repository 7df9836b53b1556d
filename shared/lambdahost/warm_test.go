package lambdahost_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

// echo is a spider whose items say what user agent the site saw.
func echo() project.Project {
	p := spiders.Project()
	p.Spiders = []spider.Spider{{
		Name: "echo", StartURLs: []string{"http://127.0.0.1:1/"},
		Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			out.Item(map[string]string{"agent": string(page.Body), "arg": page.Args["who"]})
			return nil
		},
	}}
	return p
}

// Two jobs whose messages take turns in the same environments have each their
// own settings, arguments, items and counts.
func TestNothingOfOneJobIsLeftForTheNext(t *testing.T) {
	const pages = 12
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(r.UserAgent()))
	}))
	defer site.Close()
	s := newMemoryStack(t, echo(), func(c awssdk.HTTPClient) awssdk.HTTPClient { return c })
	uids := make(map[string]crawl.JobUID)
	for _, name := range []string{"a", "b"} {
		spec := crawl.JobSpec{Spider: "echo", Args: map[string]string{"who": name}, Settings: map[string]string{
			"USER_AGENT": "agent " + name, "DOWNLOAD_DELAY": "0", "CONCURRENT_REQUESTS_PER_DOMAIN": "16", "LOG_LEVEL": "ERROR",
		}}
		for page := range pages {
			spec.StartURLs = append(spec.StartURLs, fmt.Sprintf("%s/%d", site.URL, page))
		}
		job, _, err := s.cloud.Create(t.Context(), engine.Order{Project: "default", Name: name, Spec: spec})
		if err != nil {
			t.Fatal(err)
		}
		uids[name] = job.UID
	}
	for !s.ended(t, uids["a"]) || !s.ended(t, uids["b"]) {
		s.step(t)
	}
	for name, uid := range uids {
		n := 0
		for item, err := range s.cloud.Output(t.Context(), uid) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			text, err := item.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(text), fmt.Sprintf(`{"agent":"agent %s","arg":"%s"}`, name, name); got != want {
				t.Errorf("job %s: item %s, want %s", name, got, want)
			}
		}
		stats, err := s.cloud.ReadStats(t.Context(), uid)
		if err != nil {
			t.Fatal(err)
		}
		if n != pages || stats["item_scraped_count"] != float64(pages) || stats["response_received_count"] != float64(pages) {
			t.Errorf("job %s: %d items, stats %v", name, n, stats)
		}
	}
}
