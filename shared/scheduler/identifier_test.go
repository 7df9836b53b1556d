package scheduler_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/weburl"
)

func identify(t *testing.T, i *scheduler.Identifier, req crawl.Request) crawl.UnitID {
	t.Helper()
	u, err := i.Unit(&req)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// fingerprint is the identity of a GET without headers.
func fingerprint(t *testing.T, url string) weburl.Fingerprint {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return weburl.RequestFingerprint("GET", u, nil, nil)
}

func TestAFilteredRequestIsItsFingerprint(t *testing.T) {
	plain := crawl.Request{URL: "http://example.com/a?x=1&y=2"}
	tests := []struct {
		name string
		req  crawl.Request
		same bool
	}{
		{"the same address", plain, true},
		{"parameters in another order", crawl.Request{URL: "http://example.com/a?y=2&x=1"}, true},
		{"a fragment", crawl.Request{URL: plain.URL + "#part"}, true},
		{"GET, said aloud", crawl.Request{URL: plain.URL, Method: "GET"}, true},
		{"another callback, priority and meta", crawl.Request{URL: plain.URL, Callback: "c", Priority: 1, Meta: crawl.Values{"a": 1}}, true},
		{"a header that makes no difference", crawl.Request{URL: plain.URL, Headers: http.Header{"Accept": {"a"}}}, true},
		{"a header to be included that is not there", crawl.Request{URL: plain.URL, IncludeHeaders: []string{"Accept"}}, true},
		{"a header that is included", crawl.Request{URL: plain.URL, IncludeHeaders: []string{"accept"}, Headers: http.Header{"Accept": {"a"}}}, false},
		{"another method", crawl.Request{URL: plain.URL, Method: "POST"}, false},
		{"a body", crawl.Request{URL: plain.URL, Body: []byte("x")}, false},
		{"another address", crawl.Request{URL: "http://example.com/b"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := crawl.UnitID(fingerprint(t, plain.URL))
			if got := identify(t, scheduler.NewIdentifier(unit("p")), test.req); (got == want) != test.same {
				t.Errorf("the same unit: %t, want %t", got == want, test.same)
			}
		})
	}
}

func TestAnIdentifierWritesTheURLAsItIsSent(t *testing.T) {
	req := &crawl.Request{URL: "HTTP://EXAMPLE.com:80/a b#part"}
	if _, err := scheduler.NewIdentifier(unit("p")).Unit(req); err != nil {
		t.Fatal(err)
	}
	u, err := weburl.Parse("http://example.com/a%20b#part")
	if err != nil {
		t.Fatal(err)
	}
	if req.URL != u.String() {
		t.Errorf("URL %s, want %s", req.URL, u)
	}
}

// What is not filtered is told apart by its number among its parent's output,
// so that the same run gives the same units again.
func TestRepeatsAreNumberedByFingerprint(t *testing.T) {
	a, b := fingerprint(t, "http://example.com/a"), fingerprint(t, "http://example.com/b")
	again := crawl.Request{URL: "http://example.com/a", DontFilter: true}
	other := crawl.Request{URL: "http://example.com/b", DontFilter: true}
	filtered := crawl.Request{URL: "http://example.com/a"}
	for range 2 {
		i := scheduler.NewIdentifier(unit("p"))
		for k, step := range []struct {
			req  crawl.Request
			want crawl.UnitID
		}{
			{again, crawl.RepeatUnit(unit("p"), a, 0)},
			{filtered, crawl.UnitID(a)}, // takes no number
			{again, crawl.RepeatUnit(unit("p"), a, 1)},
			{other, crawl.RepeatUnit(unit("p"), b, 0)},
			{again, crawl.RepeatUnit(unit("p"), a, 2)},
		} {
			if got := identify(t, i, step.req); got != step.want {
				t.Errorf("request %d is unit %s, want %s", k, got, step.want)
			}
		}
	}
	if identify(t, scheduler.NewIdentifier(unit("q")), again) == crawl.RepeatUnit(unit("p"), a, 0) {
		t.Error("two parents share a request that is not filtered")
	}
}

// A start may be cut into slices anywhere, so each element counts for itself.
func TestStartIdentifierNumbersElementByElement(t *testing.T) {
	req := crawl.Request{URL: "http://example.com/a", DontFilter: true}
	whole := map[crawl.UnitID]bool{}
	for element := range 3 {
		i := scheduler.StartIdentifier(element)
		for range 2 {
			whole[identify(t, i, req)] = true
		}
	}
	if len(whole) != 6 {
		t.Errorf("%d units of 3 elements that give 2 each, want 6", len(whole))
	}
	// Another run begins its slice at the second element.
	if !whole[identify(t, scheduler.StartIdentifier(1), req)] {
		t.Error("an element has another unit in another slice")
	}
	filtered := crawl.Request{URL: "http://example.com/a"}
	if got := identify(t, scheduler.StartIdentifier(5), filtered); got != crawl.UnitID(fingerprint(t, filtered.URL)) {
		t.Errorf("a filtered start request is unit %s, want its fingerprint", got)
	}
}

func TestAnAddressThatIsNone(t *testing.T) {
	for _, url := range []string{"", "/relative", "http://", "http://a b/"} {
		req := &crawl.Request{URL: url}
		u, err := scheduler.NewIdentifier(unit("p")).Unit(req)
		if !errors.Is(err, scheduler.ErrBadURL) || !u.IsZero() {
			t.Errorf("%q: unit %s, err %v; want ErrBadURL", url, u, err)
		}
		if req.URL != url {
			t.Errorf("%q became %q beside the error", url, req.URL)
		}
	}
}
