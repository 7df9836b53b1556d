package assembly_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

func TestASingleSaysWhatBecomesOfAWishForAnotherAttempt(t *testing.T) {
	p := spiders.Project()
	p.Definitions = nil
	p.Spiders = []spider.Spider{{Name: "shy", Parse: func(_ context.Context, page *spider.Page, _ *spider.Output) error {
		return page.Retry("banned")
	}}}
	tests := []struct {
		name string
		req  crawl.Request
		want string
	}{
		{"attempts are left", crawl.Request{}, "the spider wants another attempt: banned; a job would fetch the page again in about "},
		{"none is left", crawl.Request{Options: crawl.Options{DontRetry: true}}, `none is left, so a job would fail the page as "gave-up: banned"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := crawl.JobSpec{Spider: "shy", Settings: map[string]string{"RETRY_DELAY": "1"}}
			single, err := assembly.NewSingle(p, nil, spec, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			test.req.URL = "http://example.com/"
			v := single.Read(t.Context(), single.Page(&crawl.Response{URL: test.req.URL, Status: 200, Request: &test.req}))
			var retry *crawl.Retry
			if !errors.As(v.Err, &retry) || !strings.Contains(v.Err.Error(), test.want) {
				t.Errorf("err %v, want %q", v.Err, test.want)
			}
		})
	}
}
