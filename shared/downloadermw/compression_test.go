package downloadermw_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/stats"
)

func TestTheBodyOfAHeadIsLeftAlone(t *testing.T) {
	resp, err := unpack(t, nil, crawl.Request{Method: "HEAD"}, "gzip", "")
	if err != nil || resp.Headers.Get("Content-Encoding") != "gzip" || resp.Headers.Get("Content-Length") != "99" {
		t.Errorf("%+v, %v", resp, err)
	}
}

func TestCompressionIsAskedForAndCounted(t *testing.T) {
	var st stats.Collector
	packed := pack(t, page, "gzip")
	h := downloadermw.HTTPCompression(with(t, nil), &st, noLog(), nil)(answer(200, http.Header{"Content-Encoding": {"gzip"}}, packed))
	for given, want := range map[string]string{"": "gzip, deflate, br, zstd", "identity": "identity"} {
		req := &crawl.Request{}
		if given != "" {
			req.SetHeader("Accept-Encoding", given)
		}
		if _, err := h.Fetch(t.Context(), req); err != nil || req.Headers.Get("Accept-Encoding") != want {
			t.Errorf("%q: sent %v, %v", given, req.Headers, err)
		}
	}
	want := map[string]int64{"httpcompression/response_count": 2, "httpcompression/response_bytes": 2 * int64(len(page))}
	if got := st.Take(); !reflect.DeepEqual(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

func TestLargeBodiesAreWarnedOf(t *testing.T) {
	for limits, want := range map[[2]string]string{
		{"0", "100"}: "larger than DOWNLOAD_WARNSIZE", {"1000", "0"}: "more than DOWNLOAD_MAXSIZE", {"0", "0"}: "",
	} {
		var logged bytes.Buffer
		s := with(t, map[string]any{"DOWNLOAD_MAXSIZE": limits[0], "DOWNLOAD_WARNSIZE": limits[1]})
		h := downloadermw.HTTPCompression(s, new(stats.Collector), logTo(&logged), nil)(
			answer(200, http.Header{"Content-Encoding": {"gzip"}}, pack(t, page, "gzip")))
		h.Fetch(t.Context(), &crawl.Request{URL: "http://u:secret@example.com/"})
		if got := logged.String(); !strings.Contains(got, want) || (want == "") != (got == "") || strings.Contains(got, "secret") {
			t.Errorf("logged %s", got)
		}
	}
}

func TestResponseCases(t *testing.T) {
	type sample struct {
		Status  int
		Headers map[string]string
		Body    []byte `json:"body_b64"`
	}
	run := func(t *testing.T, c sample) (*crawl.Response, error) {
		headers := http.Header{}
		for name, value := range c.Headers {
			headers.Set(name, value)
		}
		s := with(t, nil)
		h := downloadermw.Retry(s, new(stats.Collector), noLog(), atNoon)(
			downloadermw.HTTPCompression(s, new(stats.Collector), noLog(), nil)(
				downloadermw.Redirect(s, downloadermw.RedirectOptions{}, noLog())(answer(c.Status, headers, string(c.Body)))))
		return h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"})
	}
	eachCase(t, "http_response", func(t *testing.T, input, expect json.RawMessage) {
		var in sample
		var want struct {
			OutcomeIn     []string `json:"outcome_in"`
			Body          string
			AbsentHeaders []string `json:"absent_headers"`
		}
		read(t, input, &in)
		read(t, expect, &want)
		if in.Body == nil {
			t.Skip("of the handler, and tested there")
		}
		resp, err := run(t, in)
		if err != nil {
			t.Fatal(err)
		}
		if want.OutcomeIn != nil {
			if !resp.HasFlag(downloadermw.FlagNotEncoded) || !bytes.Equal(resp.Body, in.Body) {
				t.Errorf("not passed through with a flag: %+v", resp)
			}
			return
		}
		if string(resp.Body) != want.Body || resp.Headers.Get("Content-Length") != "" {
			t.Errorf("body %q, headers %v", resp.Body, resp.Headers)
		}
		for _, name := range want.AbsentHeaders {
			if resp.Headers.Get(name) != "" {
				t.Errorf("header %s is there", name)
			}
		}
	})
	eachCase(t, "http_response_many", func(t *testing.T, input, expect json.RawMessage) {
		var in struct{ Cases []sample }
		var want struct {
			Bodies   []string
			Outcomes []string
		}
		read(t, input, &in)
		read(t, expect, &want)
		for n, c := range in.Cases {
			resp, err := run(t, c)
			switch {
			case err != nil:
				t.Errorf("case %d: %v", n, err)
			case want.Bodies != nil && string(resp.Body) != want.Bodies[n]:
				t.Errorf("case %d: %q, want %q", n, resp.Body, want.Bodies[n])
			case want.Outcomes != nil && resp.Status != c.Status:
				t.Errorf("case %d: status %d, want %s", n, resp.Status, want.Outcomes[n])
			}
		}
	})
}
