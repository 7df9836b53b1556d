package message_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/message"
)

var sent = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func header(kind message.Kind) message.Header {
	return message.Header{Version: message.Version, Kind: kind, Job: "job", Unit: crawl.UnitID{0xab, 19: 0xcd}, Sent: sent}
}

func item(t *testing.T, text string) message.Item {
	t.Helper()
	var i crawl.Item
	if err := json.Unmarshal([]byte(text), &i); err != nil {
		t.Fatal(err)
	}
	return message.Item{Item: i}
}

func TestEveryKindRoundTrips(t *testing.T) {
	itemHeader := header(message.KindItem)
	itemHeader.Run, itemHeader.Ordinal = "run", 7
	nothing := header(message.KindRequest)
	nothing.Unit = crawl.UnitID{}
	req := json.RawMessage(`{"url":"http://a/?x=1&y=<2>"}`)
	tests := []struct {
		name    string
		header  message.Header
		payload any
		into    any
	}{
		{
			"a request with everything", header(message.KindRequest),
			&message.Request{Req: req, Attempt: 2, Priority: -5, Turn: sent.Add(time.Minute)}, new(message.Request),
		},
		{"a request that comes for the first time", header(message.KindRequest), &message.Request{Req: req}, new(message.Request)},
		{"a probe", nothing, &message.Request{Req: json.RawMessage("null"), Probe: "request-low"}, new(message.Request)},
		{
			"a page with its body", header(message.KindPage), &message.Page{
				Req: req, Attempt: 1, Response: &crawl.Response{
					URL: "http://a/", Status: 200, Headers: http.Header{"Set-Cookie": {"a=1", "b=2"}},
					Flags: []string{crawl.FlagPartial}, Protocol: "HTTP/1.1", IPAddress: "192.0.2.1", Latency: time.Second,
				},
				Body: message.Body{Codec: "zstd", Size: 5, Data: []byte{0, 1, '\n', 0xff}}, Run: "run", Handed: 12,
			}, new(message.Page),
		},
		{
			"a page whose body lies elsewhere", header(message.KindPage),
			&message.Page{Req: req, Response: &crawl.Response{Status: 204}, Body: message.Body{Key: "pages/a", Offset: 1 << 40, Length: 9, Size: 99}}, new(message.Page),
		},
		{
			"a failure", header(message.KindPage),
			&message.Page{Req: req, Failure: &crawl.Failure{Reason: "dns", Message: "no such host\n\"a\""}}, new(message.Page),
		},
		{"an item", itemHeader, new(item(t, `{"z":9007199254740993,"a":"<&>","l":1.10}`)), new(message.Item)},
		{"an item without fields", itemHeader, new(item(t, `{}`)), new(message.Item)},
		{"a start that goes on", header(message.KindControl), &message.Control{Do: message.DoStart, From: 3, Run: "run", Items: 4}, new(message.Control)},
		{"a stop", header(message.KindControl), &message.Control{Do: message.DoStop, Reason: "line\nbreak"}, new(message.Control)},
		{"word of a probe", header(message.KindControl), &message.Control{Do: message.DoProbed, Lane: "request"}, new(message.Control)},
		{"a look", header(message.KindControl), &message.Control{Do: message.DoLook}, new(message.Control)},
		{"a close", header(message.KindControl), &message.Control{Do: message.DoClose}, new(message.Control)},
	}
	asJSON := cmp.Transformer("JSON", func(i crawl.Item) string {
		raw, err := i.MarshalJSON()
		if err != nil {
			t.Error(err)
		}
		return string(raw)
	})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body, err := message.Encode(test.header, test.payload)
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(body, []byte("\n")); n != 1 {
				t.Errorf("%d line breaks, want one between header and payload:\n%s", n, body)
			}
			if bytes.Contains(body, []byte(`\u003c`)) {
				t.Errorf("< is escaped, which costs bytes:\n%s", body)
			}
			h, payload, err := message.ReadHeader(body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.header, h); diff != "" {
				t.Errorf("header (-sent, +received):\n%s", diff)
			}
			if err := message.Decode(payload, test.into); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.payload, test.into, asJSON); diff != "" {
				t.Errorf("payload (-sent, +received):\n%s", diff)
			}
		})
	}
}

func TestEncodeFillsInTheVersion(t *testing.T) {
	h := header(message.KindControl)
	h.Version = 99
	body, err := message.Encode(h, message.Control{Do: message.DoLook})
	if err != nil {
		t.Fatal(err)
	}
	if h, _, err := message.ReadHeader(body); err != nil || h.Version != message.Version {
		t.Errorf("version %d, err %v; want %d", h.Version, err, message.Version)
	}
}

func TestEncodeErrors(t *testing.T) {
	if _, err := message.Encode(header(message.KindItem), make(chan int)); err == nil || !strings.Contains(err.Error(), "encode a item message") {
		t.Errorf("a payload that JSON has no word for: err %v", err)
	}
	late := header(message.KindItem)
	late.Sent = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := message.Encode(late, message.Item{}); err == nil || !strings.Contains(err.Error(), "header of a item message") {
		t.Errorf("a time that JSON has no word for: err %v", err)
	}
}

func TestVersionsThatThisBuildDoesNotRead(t *testing.T) {
	for _, version := range []string{"-1", "0", "2", "1000"} {
		body := `{"v":` + version + `,"kind":"page","job":"job","unit":"` + crawl.UnitID{1}.String() + `","sent":"2026-03-01T12:00:00Z"}` + "\n{}"
		h, payload, err := message.ReadHeader([]byte(body))
		if err == nil || !strings.Contains(err.Error(), "message version "+version+": this build reads 1 to 1") {
			t.Errorf("version %s: err %v", version, err)
		}
		// Whose message it is can be told all the same, to account for it.
		if h.Job != "job" || h.Kind != message.KindPage || h.Unit != (crawl.UnitID{1}) {
			t.Errorf("version %s: header %+v", version, h)
		}
		if payload != nil {
			t.Errorf("version %s: payload %q, want none", version, payload)
		}
	}
}

func TestUnreadableHeaders(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"nothing", "", "message without a payload"},
		{"a header alone", `{"v":1,"kind":"page"}`, "message without a payload"},
		{"text", "hello\n{}", "message header: invalid character"},
		{"an empty line", "\n{}", "message header: unexpected end"},
		{"half a header", `{"v":1,` + "\n{}", "message header: unexpected end"},
		{"a list", "[1]\n{}", "message header: json: cannot unmarshal array"},
		{"a unit that is none", `{"v":1,"unit":"12"}` + "\n{}", "message header: unit ID \"12\" has 2 characters"},
		{"no version", `{"kind":"page"}` + "\n{}", "message version 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, payload, err := message.ReadHeader([]byte(test.body))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("err %v, want one with %q", err, test.want)
			}
			if payload != nil {
				t.Errorf("payload %q beside the error", payload)
			}
		})
	}
}

// A dead letter is accounted for from its header, whatever its payload is.
func TestAHeaderIsReadBeforeAPayloadThatIsUnreadable(t *testing.T) {
	good, err := message.Encode(header(message.KindPage), message.Page{})
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := bytes.Cut(good, []byte("\n"))
	for _, poison := range []string{"", "{", "\x00\xff", "[[[[", "{}\n{}", `{"req":{},"attempt":"many"}`} {
		h, payload, err := message.ReadHeader(append(append(bytes.Clone(line), '\n'), poison...))
		if err != nil {
			t.Errorf("payload %q: header: %v", poison, err)
			continue
		}
		if h.Kind != message.KindPage || h.Job != "job" || h.Unit != header("").Unit || string(payload) != poison {
			t.Errorf("payload %q: header %+v, payload %q", poison, h, payload)
		}
		if err := message.Decode(payload, new(message.Page)); err == nil || !strings.HasPrefix(err.Error(), "message payload: ") {
			t.Errorf("payload %q decodes with err %v", poison, err)
		}
	}
}

// A rolling deployment has newer builds write fields that older ones do not
// know yet, within one version.
func TestUnknownFieldsArePassedOver(t *testing.T) {
	body := `{"v":1,"kind":"control","job":"j","unit":"` + crawl.StartUnit.String() + `","sent":"2026-03-01T12:00:00Z","new":[1]}` + "\n" + `{"do":"look","newer":{"a":1}}`
	h, payload, err := message.ReadHeader([]byte(body))
	if err != nil || h.Unit != crawl.StartUnit {
		t.Fatalf("header %+v, err %v", h, err)
	}
	var c message.Control
	if err := message.Decode(payload, &c); err != nil || c.Do != message.DoLook {
		t.Errorf("control %+v, err %v", c, err)
	}
}
