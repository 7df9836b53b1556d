package assembly_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/spiders"
)

// What a Single asks with after a redirect is what a job asks with: headers that
// middlewares put on are put on anew, and a Referer follows one only.
func TestASingleFollowsRedirectsAsAJobDoes(t *testing.T) {
	var mu sync.Mutex
	told := make(map[string]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		told[r.URL.Path] = r.Header.Get("Referer")
		if to, ok := map[string]string{"/a": "/b", "/from": "/to"}[r.URL.Path]; ok {
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	defer server.Close()
	settings := map[string]string{"DOWNLOAD_DELAY": "0", "ROBOTSTXT_OBEY": "false"}
	fetch := func(path string, headers http.Header, settings map[string]string) {
		single, err := assembly.NewSingle(spiders.Project(), nil, crawl.JobSpec{Settings: settings}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := single.Fetch(t.Context(), &crawl.Request{URL: server.URL + path, Headers: headers}); err != nil {
			t.Error(err)
		}
	}
	fetch("/a", nil, settings)
	fetch("/from", http.Header{"Referer": {server.URL + "/index"}}, settings)
	want := map[string]string{"/a": "", "/b": "", "/from": server.URL + "/index", "/to": server.URL + "/from"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("Referers (-want +got):\n%s", diff)
	}

	always := map[string]string{"DOWNLOAD_DELAY": "0", "ROBOTSTXT_OBEY": "false", "DEFAULT_REQUEST_HEADERS": `{"Referer": "http://door.example/"}`}
	fetch("/a", nil, always)
	if told["/a"] != "http://door.example/" || told["/b"] != "http://door.example/" {
		t.Errorf("with a Referer among the default headers: %v", told)
	}
}
