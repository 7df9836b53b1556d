package assembly_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/project"
)

// saying is a handler that answers with a text.
func saying(text string) downloader.Handler {
	return downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		return &crawl.Response{URL: req.URL, Status: 200, Body: []byte(text), Request: req}, nil
	})
}

func withHandlers(all map[string]downloader.Handler) project.Project {
	return project.Project{Name: "default", Handlers: func(project.Env) (map[string]downloader.Handler, error) { return all, nil }}
}

func TestAProjectsOwnHandlers(t *testing.T) {
	p := withHandlers(map[string]downloader.Handler{"http": saying("own web"), "gopher": saying("hole"), "browser": saying("rendered")})
	single, err := assembly.NewSingle(p, nil, crawl.JobSpec{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ url, handler, want string }{
		{"http://example.com/", "", "own web"},
		{"http://other.example/", "browser", "rendered"},
		{"gopher://example.com/", "", "hole"},
		{"gopher:nowhere", "", "hole"}, // no host, no turn
		{"data:,x", "", "x"},
		{"data:,x", "browser", "rendered"},
		{"http://third.example/", "brwoser", `unknown-handler: no handler for "brwoser"; there are: browser, data, file, gopher, http, https, s3`},
	} {
		resp, err := single.Fetch(t.Context(), &crawl.Request{URL: test.url, Options: crawl.Options{DownloadHandler: test.handler}})
		switch {
		case err != nil:
			if !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("%s by %q: %v, want %s", test.url, test.handler, err, test.want)
			}
		case string(resp.Body) != test.want:
			t.Errorf("%s by %q: %s, want %s", test.url, test.handler, resp.Body, test.want)
		}
	}
}

func TestWhatIsWrongWithHandlersIsSaidWhenTheJobIsMade(t *testing.T) {
	for _, test := range []struct {
		own      map[string]downloader.Handler
		settings string
		start    string
		want     string
	}{
		{own: map[string]downloader.Handler{"nil": nil}, want: `that of the name "nil" has no name or is nil`},
		{settings: `{"fiel": null}`, want: `setting DOWNLOAD_HANDLERS: no handler for "fiel"; there are: data, file, http, https, s3`},
		{settings: `{"browser": false}`, own: map[string]downloader.Handler{"browser": saying("")}, start: "browser:x", want: "nothing here fetches browser URLs"},
		{settings: `{"http": null}`, start: "http://example.com/", want: "nothing here fetches http URLs; there are handlers of data, file, https, s3"},
		{start: "ftp://example.com/", want: "FTP is not built in"},
		{start: "file:///etc/hosts"},
		{settings: `{"s3": true, "file": false}`},
	} {
		spec := crawl.JobSpec{}
		if test.settings != "" {
			spec.Settings = map[string]string{"DOWNLOAD_HANDLERS": test.settings}
		}
		if test.start != "" {
			spec.StartURLs = []string{test.start}
		}
		_, err := assembly.NewSingle(withHandlers(test.own), nil, spec, slog.New(slog.DiscardHandler))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s %s: error %v, want %q", test.settings, test.start, err, test.want)
		}
	}
}
