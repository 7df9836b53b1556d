package message_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/message"
)

// refused returns the first character of a message that SQS does not take.
// Source: Amazon SQS API Reference, SendMessage.
func refused(body []byte) (string, bool) {
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRune(body[i:])
		taken := r == '\t' || r == '\n' || r == '\r' || 0x20 <= r && r <= 0xd7ff || 0xe000 <= r && r <= 0xfffd || 0x10000 <= r && r <= 0x10ffff
		if !taken || r == utf8.RuneError && size == 1 {
			return string(body[i : i+size]), true
		}
		i += size
	}
	return "", false
}

func TestSQSTakesEveryCharacterOfAMessage(t *testing.T) {
	// The case SQS-06: a body of any bytes, text with U+FFFE, an emoji.
	const text = "a\ufffeb \uffff \U0001F600 \U0001FFFE \x00\x07\x7f\u0085\u2028\ufffd\ufdd0 <&> \\ \\ufffe"
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	raw := bytes.ReplaceAll(quoted, []byte(`\u003c`), []byte("<"))
	sent := message.Page{
		Req:      json.RawMessage(`{"meta":{"s":` + string(raw) + `,"` + "\ufffe" + `":"😀"}}`),
		Response: &crawl.Response{URL: "http://a/\ufffe", Headers: map[string][]string{"Title": {text}}},
		Failure:  &crawl.Failure{Reason: "dns", Message: text},
		Body:     message.Body{Size: 4, Data: []byte{0x00, 0x07, 0xff, 0xfe}},
		Run:      "run\uffff",
	}
	h := header(message.KindPage)
	h.Job = "job\ufffe"
	body, err := message.Encode(h, sent)
	if err != nil {
		t.Fatal(err)
	}
	if c, bad := refused(body); bad {
		t.Errorf("SQS refuses %q in\n%q", c, body)
	}
	gotHeader, payload, err := message.ReadHeader(body)
	if err != nil || gotHeader.Job != h.Job {
		t.Errorf("header %+v, %v", gotHeader, err)
	}
	var got message.Page
	if err := message.Decode(payload, &got); err != nil {
		t.Fatal(err)
	}
	wantReq, gotReq := value(t, sent.Req), value(t, got.Req)
	if diff := cmp.Diff(wantReq, gotReq); diff != "" {
		t.Errorf("the packed request (-sent, +received):\n%s", diff)
	}
	sent.Req, got.Req = nil, nil
	if diff := cmp.Diff(sent, got); diff != "" {
		t.Errorf("(-sent, +received):\n%s", diff)
	}
}

func TestSQSTakesAnItemOfEveryCharacter(t *testing.T) {
	i := item(t, `{"`+"\ufffe"+`":"`+"a\uffffb"+`"}`)
	body, err := message.Encode(header(message.KindItem), i)
	if err != nil {
		t.Fatal(err)
	}
	if c, bad := refused(body); bad {
		t.Errorf("SQS refuses %q in\n%q", c, body)
	}
	var got message.Item
	_, payload, _ := message.ReadHeader(body)
	if err := message.Decode(payload, &got); err != nil {
		t.Fatal(err)
	}
	want, have := marshalled(t, i.Item), marshalled(t, got.Item)
	if !reflect.DeepEqual(value(t, want), value(t, have)) {
		t.Errorf("received %s, sent %s", have, want)
	}
}

func TestANewHeaderLeavesNoCharacterThatSQSRefuses(t *testing.T) {
	for _, payload := range []string{`{"do":"stop","reason":"` + "a\ufffeb" + `"}`, "no JSON \xff\x00\uffff", `{"do":"stop","reason":"` + "a\xed\xa0\x80b" + `"}`} {
		h := header(message.KindControl)
		h.Job = "job\uffff"
		body, err := message.WithHeader(h, []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		if c, bad := refused(body); bad {
			t.Errorf("SQS refuses %q in\n%q", c, body)
		}
		var want, got message.Control
		_, after, _ := message.ReadHeader(body)
		errWant, errGot := message.Decode([]byte(payload), &want), message.Decode(after, &got)
		if got != want || (errWant == nil) != (errGot == nil) {
			t.Errorf("%q reads %+v, %v; want %+v, %v", payload, got, errGot, want, errWant)
		}
	}
}

func TestWhatIsNoJSONBecomesSendable(t *testing.T) {
	body, err := message.WithHeader(header(message.KindPage), []byte("\x00no \xff\x07\uffffJSON\t"))
	if err != nil {
		t.Fatal(err)
	}
	_, payload, _ := message.ReadHeader(body)
	if want := `\u0000no ` + "\ufffd" + `\u0007\uffffJSON` + "\t"; string(payload) != want {
		t.Errorf("got %q, want %q", payload, want)
	}
}

// value is what JSON means.
func value(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	return v
}

func marshalled(t *testing.T, v json.Marshaler) []byte {
	t.Helper()
	data, err := v.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// FuzzEncode packs any text and any JSON into a message.
func FuzzEncode(f *testing.F) {
	f.Add("a\ufffeb", []byte(`{"s":"a`+"\uffff"+`b"}`))
	f.Add("\x00\x1f\x7f\xff", []byte(`"`+"\xff\xed\xa0\x80"+`"`))
	f.Add("\U0001F600\U0010FFFF", []byte(" [1.0,\t\"\\ud800\",\r\n{}] "))
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		if !json.Valid(raw) {
			raw = []byte("null")
		}
		page := message.Page{Req: raw, Failure: &crawl.Failure{Message: text}, Body: message.Body{Data: raw}}
		body, err := message.Encode(header(message.KindPage), page)
		if err != nil {
			t.Fatalf("%q, %q: %v", text, raw, err)
		}
		if c, bad := refused(body); bad {
			t.Fatalf("SQS refuses %q in\n%q", c, body)
		}
		_, payload, err := message.ReadHeader(body)
		if err != nil {
			t.Fatal(err)
		}
		var got message.Page
		if err := message.Decode(payload, &got); err != nil {
			t.Fatal(err)
		}
		if want := string([]rune(text)); got.Failure.Message != want {
			t.Errorf("text %q, want %q", got.Failure.Message, want)
		}
		if !reflect.DeepEqual(value(t, raw), value(t, got.Req)) {
			t.Errorf("the packed request %q, want the value of %q", got.Req, raw)
		}
		if !bytes.Equal(got.Body.Data, raw) {
			t.Errorf("the body %q, want %q", got.Body.Data, raw)
		}
	})
}
