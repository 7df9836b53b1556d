package scheduler_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jars"
	"github.com/skitterhq/skitter/shared/scheduler"
)

// with is a child that carries cookies.
func with(cookies, parent, name string) scheduler.Child {
	c := child(parent, name)
	c.Request.Jars = cookies
	return c
}

// takes admits children, and leaves the calls to be counted.
func (w *world) takes(children ...scheduler.Child) {
	w.t.Helper()
	if a, err := w.admit(children...); err != nil || a.New != len(children) {
		w.t.Fatalf("admitted %+v (%v), want %d new", a, err, len(children))
	}
}

// wantJars fails unless a row's request has these cookies.
func (w *world) wantJars(want, name string) {
	w.t.Helper()
	req, err := w.Unpack(w.t.Context(), job, w.row(name).Req)
	if err != nil || req.Jars != want {
		w.t.Errorf("%s: %d bytes of cookies (%v), want %d", name, len(req.Jars), err, len(want))
	}
}

func TestLongCookiesLieOnceUnderTheirHash(t *testing.T) {
	for _, size := range []int{0, 300, 301, 8000} {
		w := newWorld(t)
		text := strings.Repeat("x", size)
		w.takes(with(text, "p", "a"))
		puts := 0
		if size > 300 {
			puts = 1
		}
		if n := w.count("put jars"); n != puts {
			t.Errorf("%d bytes: %d puts of cookies, want %d", size, n, puts)
		}
		row := w.row("a")
		if has := strings.Contains(string(row.Req), string(jars.HashOf(text))); has != (puts == 1) {
			t.Errorf("%d bytes: the row has their hash: %t\n%.200s", size, has, row.Req)
		}
		if size > 0 && strings.Contains(string(row.Req), text) != (puts == 0) {
			t.Errorf("%d bytes: the row has them: %t, want the hash alone of what is long", size, puts == 1)
		}
		w.again()
		w.wantJars(text, "a")
	}
}

// A hundred links of a page cost one put, and ten requests of a batch one read.
func TestCookiesThatManyRequestsCarryArePutAndReadOnce(t *testing.T) {
	w := newWorld(t)
	text := strings.Repeat("x", 2000)
	var children []scheduler.Child
	for n := range 100 {
		children = append(children, with(text, "p", fmt.Sprint("c", n)))
	}
	w.takes(children...)
	if n := w.count("put jars"); n != 1 {
		t.Errorf("%d puts, want 1", n)
	}
	w.again()
	for n := range 10 {
		w.wantJars(text, fmt.Sprint("c", n))
	}
	if n := w.count("get jars"); n != 1 {
		t.Errorf("%d reads, want 1", n)
	}
	// What was read is known to be there.
	w.takes(with(text, "c1", "deeper"))
	if n := w.count("put jars"); n != 0 {
		t.Errorf("%d puts of what was just read, want none", n)
	}
	// It is there for this job alone.
	if _, err := w.Admit(t.Context(), "another", []scheduler.Child{with(text, "p", "a")}); err != nil {
		t.Fatal(err)
	}
	if n := w.count("put jars"); n != 1 {
		t.Errorf("%d puts for another job, want 1", n)
	}
}

func TestCookiesAreThereBeforeTheRowThatNamesThem(t *testing.T) {
	w := newWorld(t)
	w.takes(with(strings.Repeat("x", 400), "p", "a"))
	cookies, row := slices.Index(w.calls, "put jars"), slices.Index(w.calls, "put 1")
	if cookies < 0 || row < 0 || cookies > row {
		t.Errorf("calls %v, want the cookies put before the row", w.calls)
	}

	w = newWorld(t)
	w.fail = func(call string) error {
		if call == "put jars" {
			return errPort
		}
		return nil
	}
	if _, err := w.admit(with(strings.Repeat("secret", 100), "p", "a")); !errors.Is(err, errPort) || strings.Contains(err.Error(), "secret") {
		t.Errorf("err %v, want the port's, without the cookies", err)
	}
	if len(w.row("a").Req) > 0 || len(w.sent()) > 0 {
		t.Error("there is a row or a message that names cookies which were not kept")
	}
	w.fail = nil
	w.takes(with(strings.Repeat("secret", 100), "p", "a"))
	w.again()
	w.wantJars(strings.Repeat("secret", 100), "a")
}

// A row of cookies is shared by a page's links; a blob is one request's.
func TestShortCookiesMakeRoomBeforeARequestGoesToABlob(t *testing.T) {
	w := newWorld(t)
	text := strings.Repeat("x", 250)
	c := with(text, "p", "a")
	c.Request.Meta = crawl.Values{"long": strings.Repeat("y", 500)}
	w.takes(c)
	keys, err := w.blobs.List(t.Context(), "", "", 0)
	if err != nil || len(keys) > 0 || w.count("put jars") != 1 || len(w.row("a").Req) > 750 {
		t.Errorf("blobs %v (%v), a row of %d bytes; want the cookies apart", keys, err, len(w.row("a").Req))
	}
	w.again()
	w.wantJars(text, "a")

	c = with(text, "p", "b")
	c.Request.Meta = crawl.Values{"long": strings.Repeat("y", 5000)}
	w.takes(c)
	w.again()
	w.wantJars(text, "b")
}

func TestTheCookiesOfAMessageTakeThePlaceOfTheRequests(t *testing.T) {
	w := newWorld(t)
	long, longer := strings.Repeat("x", 400), strings.Repeat("y", 500)
	w.takes(with(long, "p", "a"))
	w.again()
	for _, test := range []struct {
		with *string
		want string
	}{
		{nil, long}, {&longer, longer}, {new("short"), "short"}, {new(string), ""},
	} {
		req, err := w.UnpackWith(t.Context(), job, w.row("a").Req, test.with)
		if err != nil || req.Jars != test.want {
			t.Errorf("%.20q (%v), want %.20q", req.Jars, err, test.want)
		}
	}
}

func TestARequestWhoseCookiesAreGoneIsAnError(t *testing.T) {
	w := newWorld(t)
	raw := json.RawMessage(`{"url":"http://u:secret@a/","jars_hash":"` + string(jars.HashOf("gone")) + `"}`)
	req, err := w.Unpack(t.Context(), job, raw)
	if req != nil || !errors.Is(err, jars.ErrNotFound) || !strings.Contains(err.Error(), "a/") || strings.Contains(err.Error(), "secret") {
		t.Errorf("request %v, err %v; want one that wraps ErrNotFound and names the request without its password", req, err)
	}
}
