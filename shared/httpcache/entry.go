package httpcache

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/skitterhq/skitter/shared/crawl"
)

// An Entry is an answer that is kept.
type Entry struct {
	// Response is the answer as it came, without its request.
	Response *crawl.Response
	// Received is when it came, or when the server last said that it is still
	// the answer.
	Received time.Time
	// Vary names the headers of requests that it depends on, in small
	// letters, sorted, each once.
	Vary []string

	// selection is the hash of what the request had in those headers.
	selection string
	// family is the same for all answers of one request that differ by the
	// headers of Vary.
	family string
}

// head is what an entry has before its body, as JSON.
type head struct {
	Key       string              `json:"key"`
	Received  time.Time           `json:"received"`
	Vary      []string            `json:"vary,omitempty"`
	Selection string              `json:"selection,omitempty"`
	Family    string              `json:"family"`
	Response  *crawl.Response     `json:"response"`
	Headers   map[string][][]byte `json:"headers,omitempty"` // any bytes, which strings of JSON are not
	Codec     string              `json:"codec,omitempty"`   // of the body: "" or "gzip"
	Size      int                 `json:"size"`              // of the body, unpacked
}

// firstLine has the lengths of head and body and their CRC-32C. Its version is
// raised when the form changes, so that a build does not read what it does not
// understand.
const firstLine = "skitter-httpcache 1 %d %d %08x\n"

// errForeign is what is wrong with a blob that is no entry.
var errForeign = errors.New("no entry of this cache")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode writes an entry.
func (e *Entry) encode(key string, packed bool) ([]byte, error) {
	resp := *e.Response
	h := head{
		Key: key, Received: e.Received.UTC(), Vary: e.Vary, Selection: e.selection, Family: e.family,
		Response: &resp, Headers: make(map[string][][]byte, len(resp.Headers)), Size: len(resp.Body),
	}
	for name, values := range resp.Headers {
		for _, v := range values {
			h.Headers[name] = append(h.Headers[name], []byte(v))
		}
	}
	resp.Headers, resp.Latency = nil, 0
	body := resp.Body
	if packed {
		if small := pack(body); len(small) < len(body) {
			h.Codec, body = "gzip", small
		}
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode what is kept of %s: %w", resp.URL, err)
	}
	sum := crc32.Update(crc32.Checksum(text, castagnoli), castagnoli, body)
	out := make([]byte, 0, len(firstLine)+20+len(text)+len(body))
	out = fmt.Appendf(out, firstLine, len(text), len(body), sum)
	return append(append(out, text...), body...), nil
}

// decode reads the entry of a key. The body shares data's memory.
func decode(key string, data []byte) (*Entry, error) {
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	var texts, bodies int
	var sum uint32
	if _, err := fmt.Sscanf(string(line)+"\n", firstLine, &texts, &bodies, &sum); err != nil {
		return nil, errForeign
	}
	if texts < 0 || bodies < 0 || len(rest)-texts != bodies {
		return nil, fmt.Errorf("%w: it has %d bytes and should have %d and %d", errForeign, len(rest), texts, bodies)
	}
	if crc32.Checksum(rest, castagnoli) != sum {
		return nil, fmt.Errorf("%w: its check sum is another", errForeign)
	}
	var h head
	if err := json.Unmarshal(rest[:texts], &h); err != nil {
		return nil, fmt.Errorf("%w: %w", errForeign, err)
	}
	if h.Key != key || h.Response == nil {
		return nil, fmt.Errorf("%w: it is that of the key %q", errForeign, h.Key)
	}
	body, err := unpack(h, rest[texts:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errForeign, err)
	}
	h.Response.Body, h.Response.Headers = body, make(http.Header, len(h.Headers))
	for name, values := range h.Headers {
		for _, v := range values {
			h.Response.Headers[name] = append(h.Response.Headers[name], string(v))
		}
	}
	return &Entry{Response: h.Response, Received: h.Received, Vary: h.Vary, selection: h.Selection, family: h.Family}, nil
}

func pack(body []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

func unpack(h head, body []byte) ([]byte, error) {
	switch h.Codec {
	case "":
		return body, nil
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		n, err := io.Copy(&out, io.LimitReader(r, int64(h.Size)+1))
		if err != nil {
			return nil, err
		}
		if n != int64(h.Size) {
			return nil, fmt.Errorf("the body has %d bytes or more, not %d", n, h.Size)
		}
		return out.Bytes(), nil
	}
	return nil, fmt.Errorf("unknown codec %q", h.Codec)
}
