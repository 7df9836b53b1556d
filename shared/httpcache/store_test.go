package httpcache_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/httpcache"
	"github.com/skitterhq/skitter/shared/memory"
)

const fingerprint = "0123456789abcdef0123456789abcdef01234567"

func newStore() (*httpcache.Store, *memory.Blobs) {
	blobs := memory.NewBlobs()
	return &httpcache.Store{Blobs: blobs, Prefix: "httpcache/test", Now: func() time.Time { return noon }}, blobs
}

// keep keeps an answer as a request with these headers would.
func keep(t *testing.T, s *httpcache.Store, asks http.Header, e *httpcache.Entry) {
	t.Helper()
	_, place, _ := s.Look(t.Context(), fingerprint, asks)
	if err := s.Keep(t.Context(), place, asks, e); err != nil {
		t.Fatal(err)
	}
}

// look is the body of what is found, "" for nothing.
func look(t *testing.T, s *httpcache.Store, asks http.Header) string {
	t.Helper()
	e, _, err := s.Look(t.Context(), fingerprint, asks)
	if err != nil {
		t.Error(err)
	}
	if e == nil {
		return ""
	}
	return string(e.Response.Body)
}

func entry(body string, vary ...string) *httpcache.Entry {
	return &httpcache.Entry{Response: &crawl.Response{URL: "http://example.com/", Status: 200, Body: []byte(body)}, Received: noon, Vary: vary}
}

func TestWhatIsKeptComesBackAsItWas(t *testing.T) {
	for _, packed := range []bool{false, true} {
		s, blobs := newStore()
		s.Gzip = packed
		body := bytes.Repeat([]byte("text\x00\xff"), 1000)
		want := &crawl.Response{
			URL: "http://example.com/ä", Status: 203, Body: body, Flags: []string{crawl.FlagPartial}, Protocol: "HTTP/2.0", IPAddress: "192.0.2.1",
			Headers: http.Header{"Location": {"/caf\xe9"}, "X-Two": {"1", "2"}},
		}
		keep(t, s, nil, &httpcache.Entry{Response: want, Received: noon})
		got, _, err := s.Look(t.Context(), fingerprint, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Response); diff != "" {
			t.Errorf("gzip %v: response (-want, +got):\n%s", packed, diff)
		}
		data, err := blobs.Get(t.Context(), "httpcache/test/01/"+fingerprint, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if small := len(data) < len(body)/2; small != packed {
			t.Errorf("gzip %v: the blob has %d bytes of %d", packed, len(data), len(body))
		}
	}
}

// What is broken or foreign is a miss with an error, and is overwritten.
func TestWhatCannotBeReadIsAMiss(t *testing.T) {
	s, blobs := newStore()
	key := "httpcache/test/01/" + fingerprint
	keep(t, s, nil, entry("page"))
	good, err := blobs.Get(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	there := *s
	there.Prefix = "httpcache/elsewhere"
	keep(t, &there, nil, entry("another page"))
	other, err := blobs.Get(t.Context(), "httpcache/elsewhere/01/"+fingerprint, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty":             nil,
		"foreign":           []byte("hello\nworld"),
		"cut off":           good[:len(good)-1],
		"longer":            append(bytes.Clone(good), 'x'),
		"another byte":      append(bytes.Clone(good[:len(good)-1]), 'x'),
		"of another key":    other,
		"of another form":   bytes.Replace(good, []byte("httpcache 1"), []byte("httpcache 2"), 1),
		"of absurd lengths": []byte("skitter-httpcache 1 -5 99999999999 00000000\nxx"),
	} {
		if err := blobs.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
		e, place, err := s.Look(t.Context(), fingerprint, nil)
		if e != nil || err == nil {
			t.Errorf("%s: found %v, err %v", name, e, err)
		}
		if err := s.Keep(t.Context(), place, nil, entry("new")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := look(t, s, nil); got != "new" {
			t.Errorf("%s: then found %q", name, got)
		}
	}
}

func TestAnswersAreSelectedByTheHeadersOfVary(t *testing.T) {
	s, blobs := newStore()
	english, german := headers("Accept-Language: en", "Accept-Encoding: gzip, br"), headers("Accept-Language: de")
	keep(t, s, english, entry("hello", "accept-encoding", "accept-language"))
	keep(t, s, german, entry("hallo", "accept-encoding", "accept-language"))
	for _, test := range []struct {
		asks http.Header
		want string
	}{
		{english, "hello"},
		{headers("Accept-Language: en", "Accept-Encoding: gzip,br", "User-Agent: other"), "hello"},
		{headers("Accept-Language: en", "Accept-Encoding: gzip", "Accept-Encoding: br"), "hello"},
		{german, "hallo"},
		{headers("Accept-Language: de", "Accept-Encoding:"), ""}, // empty is not absent
		{headers("Accept-Language: fr"), ""},
		{nil, ""},
	} {
		if got := look(t, s, test.asks); got != test.want {
			t.Errorf("asked with %v: %q, want %q", test.asks, got, test.want)
		}
	}
	// The page is changed: what was kept of it before is void in every language.
	if err := s.Forget(t.Context(), fingerprint); err != nil {
		t.Fatal(err)
	}
	keep(t, s, english, entry("hello again", "accept-encoding", "accept-language"))
	if got := look(t, s, german); got != "" {
		t.Errorf("after Forget the other language has %q", got)
	}
	keep(t, s, german, entry("hallo wieder", "accept-encoding", "accept-language"))
	if a, b := look(t, s, english), look(t, s, german); a != "hello again" || b != "hallo wieder" {
		t.Errorf("found %q and %q", a, b)
	}
	keys, err := blobs.List(t.Context(), "", "", 0)
	if err != nil || len(keys) != 2 {
		t.Errorf("%d blobs: %q, err %v", len(keys), keys, err)
	}
}

// A server that varies by something else from now on has answers of another
// family.
func TestAnotherVaryBeginsAnew(t *testing.T) {
	s, _ := newStore()
	a, b := headers("Cookie: id=a"), headers("Cookie: id=b")
	keep(t, s, a, entry("of a", "cookie"))
	keep(t, s, b, entry("of b", "cookie"))
	keep(t, s, b, entry("of b, by agent", "cookie", "user-agent"))
	if got := look(t, s, a); got != "" {
		t.Errorf("a finds %q", got)
	}
	if got := look(t, s, b); got != "of b, by agent" {
		t.Errorf("b finds %q", got)
	}
}

func TestNoSecretIsInABlob(t *testing.T) {
	s, blobs := newStore()
	asks := headers("Cookie: session=hush", "Authorization: Basic aHVzaA==")
	keep(t, s, asks, (httpcache.RFC9111{}).Entry(answer(200, "Set-Cookie: session=hush", "Cache-Control: max-age=9"), noon))
	keys, err := blobs.List(t.Context(), "", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		data, err := blobs.Get(t.Context(), key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"hush", "aHVzaA"} {
			if strings.Contains(key+string(data), secret) {
				t.Errorf("%s has %q:\n%s", key, secret, data)
			}
		}
	}
}

func TestEntriesExpire(t *testing.T) {
	s, _ := newStore()
	keep(t, s, nil, entry("page"))
	s.Expires = time.Hour
	s.Now = func() time.Time { return noon.Add(time.Hour) }
	if got := look(t, s, nil); got != "page" {
		t.Errorf("after an hour: %q", got)
	}
	s.Now = func() time.Time { return noon.Add(time.Hour + 1) }
	if got := look(t, s, nil); got != "" {
		t.Errorf("after more: %q", got)
	}
}

// A store that fails is an error and a miss.
func TestAStoreThatFails(t *testing.T) {
	s, _ := newStore()
	s.Blobs = failing{memory.NewBlobs()}
	if e, _, err := s.Look(t.Context(), fingerprint, nil); e != nil || !errors.Is(err, errDown) {
		t.Errorf("found %v, err %v", e, err)
	}
}

var errDown = errors.New("the store is down")

type failing struct{ blob.Store }

func (failing) Get(_ context.Context, _ string, _, _ int64) ([]byte, error) { return nil, errDown }
