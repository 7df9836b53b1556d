package downloadermw_test

import (
	"bytes"
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
