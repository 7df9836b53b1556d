package casetest

import (
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/extract"
)

func linkExtract(t *testing.T, c reported) {
	var in struct {
		URL     string
		Headers map[string]string
		HTML    string
		HTML64  []byte `json:"html_b64"`
		Options extract.LinkOptions
	}
	var want struct {
		Links    []string
		Nofollow map[string]bool
	}
	decode(t, c, &in, &want)
	headers := http.Header{"Content-Type": {"text/html"}}
	for name, value := range in.Headers {
		headers.Set(name, value)
	}
	body := in.HTML64
	if body == nil {
		body = []byte(in.HTML)
	}
	e, err := in.Options.Compile()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	nofollow := map[string]bool{}
	for _, l := range e.Extract(extract.NewDocument(body, headers.Get("Content-Type"), in.URL)) {
		got = append(got, l.URL)
		nofollow[l.URL] = l.Nofollow
	}
	if diff := cmp.Diff(want.Links, got); want.Links != nil && diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Nofollow, nofollow); want.Nofollow != nil && diff != "" {
		t.Errorf("nofollow (-want +got):\n%s", diff)
	}
	if want.Links == nil && want.Nofollow == nil {
		t.Error("the case asks for nothing")
	}
}

// A written text is a body and its Content-Type.
type written struct {
	ContentType string `json:"content_type"`
	Body        []byte `json:"body_b64"`
}

func (w written) read() (encoding, text string) {
	d := extract.NewDocument(w.Body, w.ContentType, "http://example.com/")
	return d.Encoding(), d.Text()
}

func decodeText(t *testing.T, c reported) {
	var in written
	var want struct {
		Encoding   string
		EncodingIn []string `json:"encoding_in"`
		Text       *string
		Suffix     string `json:"text_suffix"`
		Contains   string `json:"text_contains"`
	}
	decode(t, c, &in, &want)
	if want.Encoding != "" {
		want.EncodingIn = append(want.EncodingIn, want.Encoding)
	}
	encoding, text := in.read()
	if !slices.Contains(want.EncodingIn, encoding) {
		t.Errorf("encoding %s, want one of %v", encoding, want.EncodingIn)
	}
	if want.Text != nil && text != *want.Text {
		t.Errorf("text %q, want %q", text, *want.Text)
	}
	if !strings.HasSuffix(text, want.Suffix) || !strings.Contains(text, want.Contains) {
		t.Errorf("text %q, want one with %q that ends in %q", text, want.Contains, want.Suffix)
	}
}

func decodeMany(t *testing.T, c reported) {
	var in struct{ Cases []written }
	var want struct {
		Encodings []string
		Suffixes  []string `json:"texts_suffix"`
	}
	decode(t, c, &in, &want)
	if len(want.Encodings) != len(in.Cases) || len(want.Suffixes) != len(in.Cases) {
		t.Fatalf("%d texts, %d encodings and %d endings", len(in.Cases), len(want.Encodings), len(want.Suffixes))
	}
	for i, w := range in.Cases {
		encoding, text := w.read()
		if encoding != want.Encodings[i] || !strings.HasSuffix(text, want.Suffixes[i]) {
			t.Errorf("%s: %q in %s, want an end of %q in %s", w.ContentType, text, encoding, want.Suffixes[i], want.Encodings[i])
		}
	}
}

func decodeJSON(t *testing.T, c reported) {
	var in written
	var want struct{ JSON any }
	decode(t, c, &in, &want)
	var got any
	if err := extract.NewDocument(in.Body, in.ContentType, "http://example.com/").JSON(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.JSON, got); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

// perfHTML takes links out of a page of megabytes, and looks how far the heap
// grows.
func perfHTML(t *testing.T, c reported) {
	var in struct {
		Gen struct {
			Bytes int `json:"data_uri_bytes"`
			Count int
		}
		Tail string
	}
	var want struct {
		Links      []string
		HeapFactor float64 `json:"heap_factor"`
	}
	decode(t, c, &in, &want)
	image := `<img src="data:image/png;base64,` + strings.Repeat("A", in.Gen.Bytes) + `">`
	page := []byte(strings.Repeat(image, in.Gen.Count) + in.Tail)
	for _, options := range []extract.LinkOptions{{}, {Tags: []string{"a", "img"}, Attrs: []string{"href", "src"}}} {
		e, err := options.Compile()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		grown := heapGrowth(func() {
			for _, l := range e.Extract(extract.NewDocument(page, "text/html", "http://example.com/")) {
				got = append(got, l.URL)
			}
		})
		if diff := cmp.Diff(want.Links, got); diff != "" {
			t.Errorf("links of %v (-want +got):\n%s", options.Tags, diff)
		}
		factor := float64(len(page)+grown) / float64(len(page))
		if t.Logf("the heap has %.2f times the page", factor); factor > want.HeapFactor {
			t.Errorf("links of %v take %.2f times the page, want at most %v", options.Tags, factor, want.HeapFactor)
		}
	}
}

// heapGrowth is by how many bytes the heap was larger at most while f ran. The
// collector is made to keep up, so that garbage counts for little.
func heapGrowth(f func()) int {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, m.HeapAlloc
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for {
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
		select {
		case <-done:
			return int(most - before)
		case <-time.After(time.Millisecond):
		}
	}
}
