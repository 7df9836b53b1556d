package site_test

import (
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/site"
)

func TestStatus(t *testing.T) {
	s := newSite(t, site.Options{})
	base, client := start(t, s)

	for code := 200; code < 600; code++ {
		if code == http.StatusServiceUnavailable {
			continue
		}
		response, err := client.Get(fmt.Sprintf("%s/status/%d", base, code))
		if err != nil {
			t.Fatalf("/status/%d: %v", code, err)
		}
		response.Body.Close()
		if response.StatusCode != code {
			t.Errorf("/status/%d: got %d", code, response.StatusCode)
		}
	}

	for _, code := range []int{204, 205, 304} {
		t.Run(fmt.Sprintf("%d has no body", code), func(t *testing.T) {
			w := get(s, fmt.Sprintf("/status/%d", code))
			if got := w.Header().Get("Content-Length"); got != "" || w.Body.Len() > 0 {
				t.Errorf("got body %q, announced as %q", w.Body, got)
			}
		})
	}

	t.Run("an informational one comes before a page", func(t *testing.T) {
		var before []int
		trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
			before = append(before, code)
			return nil
		}}
		r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet, base+"/status/103", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK || len(before) != 1 || before[0] != 103 {
			t.Errorf("got status %d after %v, want 200 after 103", response.StatusCode, before)
		}
		if log := s.Log(); log[len(log)-1].Status != http.StatusOK {
			t.Errorf("it is logged as %d, want 200", log[len(log)-1].Status)
		}
	})

	for _, path := range []string{"/status/101", "/status/100", "/status/600", "/status/-200", "/status/ok"} {
		t.Run(path+" is refused", func(t *testing.T) {
			if got := get(s, path).Code; got != http.StatusBadRequest {
				t.Errorf("got status %d, want 400", got)
			}
		})
	}
}

func TestUnavailable(t *testing.T) {
	s := newSite(t, site.Options{})
	steps := []struct {
		name, id string
		status   int
	}{
		{"the first of an id is refused", "?id=a", 503},
		{"the first of another id is refused", "?id=b", 503},
		{"the second of an id is answered", "?id=a", 200},
		{"the third of an id is answered", "?id=a", 200},
		{"none without an id is answered", "", 503},
		{"none without an id is ever answered", "", 503},
		{"an id as long as may be is taken", "?id=" + strings.Repeat("x", 256), 503},
		{"an id that is too long is told so", "?id=" + strings.Repeat("x", 257), 400},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			w := get(s, "/status/503"+step.id)
			var after string
			if step.status == http.StatusServiceUnavailable {
				after = "1"
			}
			if got := w.Header().Get("Retry-After"); w.Code != step.status || got != after {
				t.Errorf("got status %d, Retry-After %q, want %d, %q", w.Code, got, step.status, after)
			}
		})
	}

	t.Run("a reset forgets ids", func(t *testing.T) {
		s.Reset()
		if got := get(s, "/status/503?id=a").Code; got != http.StatusServiceUnavailable {
			t.Errorf("got status %d, want 503", got)
		}
	})

	t.Run("too many ids are forgotten", func(t *testing.T) {
		s.Reset()
		for i := range site.MaxIDs + 1 {
			get(s, fmt.Sprintf("/status/503?id=%d", i))
		}
		if got := get(s, "/status/503?id=0").Code; got != http.StatusServiceUnavailable {
			t.Errorf("the first of %d ids: status %d, want 503", site.MaxIDs+1, got)
		}
	})
}
