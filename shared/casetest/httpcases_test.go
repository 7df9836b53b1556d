package casetest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/spider"
)

// page is the address that the cases of one answer are asked for at.
const page = "http://example.com/"

// httpResponse has a server give one answer, and looks at what the callback
// sees.
func httpResponse(t *testing.T, c reported) {
	var in struct {
		scripted
		Protocols []string // h1, h2
	}
	var want struct {
		OutcomeIn     []string `json:"outcome_in"`
		Retries       *int64
		DLQ           *int `json:"dlq"`
		Body          *string
		AbsentHeaders []string  `json:"absent_headers"`
		ContentLength []*string `json:"content_length_in"`
		Cookies       map[string]string
	}
	decode(t, c, &in, &want)
	if in.Protocols == nil {
		in.Protocols = []string{"h1"}
	}
	for _, protocol := range in.Protocols {
		t.Run(protocol, func(t *testing.T) {
			n := &network{site: in.scripted}
			url := page
			if protocol == "h2" {
				url, n.protocols = "https://example.com/", []string{"h2"}
			}
			s := scene{network: n, requests: []*crawl.Request{{URL: url, Options: crawl.Options{HandleStatusAll: true}}}}
			if want.Cookies != nil {
				s.parse = func(_ context.Context, p *spider.Page, out *spider.Output) error {
					if !strings.HasSuffix(p.Response.URL, "/next") {
						out.Follow("/next", "")
					}
					return nil
				}
			}
			got := s.crawl(t)
			if len(got.told) == 0 {
				t.Fatalf("the spider was told nothing:\n%s", got.Log)
			}
			heard := got.told[0]
			if want.OutcomeIn != nil {
				checkOutcome(t, want.OutcomeIn, got.only(t), string(in.BodyB64))
			}
			if want.Body != nil && heard.Body != *want.Body {
				t.Errorf("body %q, want %q", heard.Body, *want.Body)
			}
			for _, name := range want.AbsentHeaders {
				if _, there := heard.Headers[http.CanonicalHeaderKey(name)]; there {
					t.Errorf("the header %s is there", name)
				}
			}
			if want.ContentLength != nil {
				checkLength(t, want.ContentLength, heard.Headers["Content-Length"])
			}
			if want.Retries != nil && got.Stats["retry/count"] != *want.Retries {
				t.Errorf("%d retries, want %d", got.Stats["retry/count"], *want.Retries)
			}
			if want.DLQ != nil && len(got.Letters) != *want.DLQ {
				t.Errorf("%d dead letters, want %d", len(got.Letters), *want.DLQ)
			}
			if want.Cookies != nil {
				checkCookies(t, want.Cookies, n.asked)
			}
			for _, a := range n.asked {
				if h2 := a.Proto == "HTTP/2.0"; h2 != (protocol == "h2") {
					t.Errorf("asked over %s, want %s", a.Proto, protocol)
				}
			}
		})
	}
}

// checkOutcome looks whether one of the ways came in which a body that is not
// what its headers say may end.
func checkOutcome(t *testing.T, ways []string, heard telling, body string) {
	t.Helper()
	way := "error_once"
	if heard.callback && heard.Body == body && slices.Contains(heard.Flags, downloadermw.FlagNotEncoded) {
		way = "passthrough_flagged"
	}
	if !slices.Contains(ways, way) || way == "error_once" && heard.callback {
		t.Errorf("the spider was told %+v, want one of %v", heard, ways)
	}
}

func checkLength(t *testing.T, in []*string, got []string) {
	t.Helper()
	for _, one := range in {
		if one == nil && got == nil || one != nil && slices.Equal(got, []string{*one}) {
			return
		}
	}
	t.Errorf("Content-Length %q is not that of the body", got)
}

// checkCookies looks at the cookies that came with the second request.
func checkCookies(t *testing.T, want map[string]string, asked []ask) {
	t.Helper()
	if len(asked) != 2 {
		t.Fatalf("%d requests, want 2", len(asked))
	}
	got := map[string]string{}
	for _, c := range (&http.Request{Header: asked[1].Header}).Cookies() {
		got[c.Name] = c.Value
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cookies (-want +got):\n%s", diff)
	}
}

// httpResponseMany has servers give an answer each.
func httpResponseMany(t *testing.T, c reported) {
	var in struct{ Cases []scripted }
	var want struct {
		Bodies   []string
		Outcomes []string
		Types    []string
		Errors   *int
		Seconds  *float64 `json:"max_seconds"`
	}
	decode(t, c, &in, &want)
	errs := 0
	begin := time.Now()
	for i, answer := range in.Cases {
		s := scene{network: &network{site: answer}, requests: []*crawl.Request{{URL: page}}}
		kind := "any"
		s.parse = func(_ context.Context, p *spider.Page, out *spider.Output) error {
			if p.CSS("p").Len() > 0 {
				kind = "html"
			}
			out.FollowSelection(p.CSS("a"), "")
			return nil
		}
		got := s.crawl(t)
		heard := got.only(t)
		if !heard.callback || got.Stats["spider_exceptions/count"] > 0 {
			errs++
		}
		if want.Bodies != nil && (!heard.callback || heard.Body != want.Bodies[i]) {
			t.Errorf("answer %d: %s, want %q", i, heard.outcome(), want.Bodies[i])
		}
		if want.Types != nil && kind != want.Types[i] {
			t.Errorf("answer %d is read as %s, want %s", i, kind, want.Types[i])
		}
		if want.Types != nil && heard.Body != string(answer.BodyB64) {
			t.Errorf("answer %d has the body %q", i, heard.Body)
		}
		if outcome := fmt.Sprintf("%s:%d", heard.outcome(), heard.Status); want.Outcomes != nil && outcome != want.Outcomes[i] {
			t.Errorf("answer %d: %s, want %s", i, outcome, want.Outcomes[i])
		}
		if want.Outcomes != nil {
			listed := scene{network: &network{site: answer}, requests: []*crawl.Request{{URL: page, Options: crawl.Options{HandleStatusList: []int{answer.Status}}}}}
			if heard := listed.crawl(t).only(t); !heard.callback || heard.Status != answer.Status || heard.Body != string(answer.BodyB64) {
				t.Errorf("answer %d with its status listed: %+v", i, heard)
			}
		}
	}
	if want.Errors != nil && errs != *want.Errors {
		t.Errorf("%d errors, want %d", errs, *want.Errors)
	}
	if want.Seconds != nil && time.Since(begin).Seconds() > *want.Seconds {
		t.Errorf("took %s, want %v s at most", time.Since(begin), *want.Seconds)
	}
	if want.Bodies == nil && want.Outcomes == nil && want.Types == nil {
		t.Error("the case asks for nothing")
	}
}

// httpRaw has a server answer with bytes that promise more than there is.
func httpRaw(t *testing.T, c reported) {
	var in struct {
		Raw []byte `json:"raw_b64"`
	}
	var want struct {
		Default string
		OptOut  *struct {
			Body  string
			Flags []string
		} `json:"opt_out"`
	}
	decode(t, c, &in, &want)
	n := &network{raw: sends(in.Raw)}
	got := scene{network: n, requests: []*crawl.Request{{URL: page}}}.crawl(t)
	switch heard := got.only(t); want.Default {
	case "retry":
		if heard.callback || got.Stats["retry/count"] != 2 || len(n.asked) != 3 {
			t.Errorf("told %+v after %d requests, want a failure that was tried again", heard, len(n.asked))
		}
	default:
		if heard.outcome() != want.Default {
			t.Errorf("%s, want %s", heard.outcome(), want.Default)
		}
	}
	if want.OptOut == nil {
		return
	}
	lenient := scene{
		network: &network{raw: sends(in.Raw)}, requests: []*crawl.Request{{URL: page}},
		settings: map[string]string{"DOWNLOAD_FAIL_ON_DATALOSS": "false"},
	}
	heard := lenient.crawl(t).only(t)
	if !heard.callback || heard.Body != want.OptOut.Body || !slices.Equal(heard.Flags, want.OptOut.Flags) {
		t.Errorf("without DOWNLOAD_FAIL_ON_DATALOSS: %+v, want %+v", heard, *want.OptOut)
	}
}

// httpRawMany has servers answer with bytes, and an outcome is a body or
// "error".
func httpRawMany(t *testing.T, c reported) {
	var in struct {
		Raws [][]byte `json:"raws_b64"`
	}
	var want struct{ Outcomes []any }
	decode(t, c, &in, &want)
	if len(in.Raws) != len(want.Outcomes) {
		t.Fatalf("%d answers and %d outcomes", len(in.Raws), len(want.Outcomes))
	}
	for i, raw := range in.Raws {
		heard := scene{network: &network{raw: sends(raw)}, requests: []*crawl.Request{{URL: page}}}.crawl(t).only(t)
		outcome := "error"
		if heard.callback {
			outcome = heard.Body
		}
		if !oneOf(outcome, want.Outcomes[i]) {
			t.Errorf("answer %d: %s (%s), want %v", i, outcome, heard.outcome(), want.Outcomes[i])
		}
	}
}

// oneOf reports whether got is what a case wants, or one of a list of it.
func oneOf(got, want any) bool {
	if list, ok := want.([]any); ok {
		return slices.Contains(list, got)
	}
	return got == want
}
