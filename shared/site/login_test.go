package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/site"
)

func post(s *site.Site, target, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestLogin(t *testing.T) {
	s := newSite(t, site.Options{})
	tests := []struct {
		name, target, form string
		status             int
	}{
		{"the right password is let in", "/login", "user=demo&password=demo", 302},
		{"a wrong password is not", "/login", "user=demo&password=sesame", 403},
		{"a wrong user is not", "/login", "user=admin&password=demo", 403},
		{"an empty form is not", "/login", "", 403},
		{"an address instead of a form is not", "/login?user=demo&password=demo", "", 403},
		{"a user in the address is not", "/login?user=demo", "password=demo", 403},
		{"a password in the address is not", "/login?password=demo", "user=demo", 403},
		{"a form that is too long is refused", "/login", "user=" + strings.Repeat("x", 64<<10), 400},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := post(s, test.target, test.form)
			if w.Code != test.status {
				t.Errorf("got status %d, want %d", w.Code, test.status)
			}
			if cookies := w.Result().Cookies(); (len(cookies) > 0) != (test.status == http.StatusFound) {
				t.Errorf("status %d came with cookies %v", w.Code, cookies)
			}
		})
	}

	t.Run("the form names its fields", func(t *testing.T) {
		body := page(t, s, "/login")
		for _, part := range []string{`method="post" action="/login"`, `name="user"`, `name="password"`} {
			if !strings.Contains(body, part) {
				t.Errorf("got %q, want %q in it", body, part)
			}
		}
	})

	t.Run("the form keeps how long the cookie is to be", func(t *testing.T) {
		if body, want := page(t, s, "/login?cookie=1000"), `action="/login?cookie=1000"`; !strings.Contains(body, want) {
			t.Errorf("got %q, want %q in it", body, want)
		}
		if cookie := post(s, "/login?cookie=1000", "user=demo&password=demo").Result().Cookies()[0]; len(cookie.Value) != 1000 {
			t.Errorf("a cookie of %d bytes, want 1000", len(cookie.Value))
		}
		for _, wrong := range []string{"4001", "-1", "x"} {
			if w := post(s, "/login?cookie="+wrong, "user=demo&password=demo"); w.Code != http.StatusBadRequest {
				t.Errorf("?cookie=%s: status %d, want 400", wrong, w.Code)
			}
		}
	})

	open := func(path string, cookie *http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		if cookie != nil {
			r.AddCookie(cookie)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	t.Run("the cookie opens the account", func(t *testing.T) {
		w := post(s, "/login", "user=demo&password=demo")
		if got := w.Header().Get("Location"); got != "/account" {
			t.Errorf("the login leads to %q, want /account", got)
		}
		cookie := w.Result().Cookies()[0]
		if !cookie.HttpOnly {
			t.Error("scripts can read the cookie")
		}
		long := post(s, "/login?cookie=4000", "user=demo&password=demo").Result().Cookies()[0]
		for path, want := range map[string]int{"/account": 200, "/account/orders/1": 200, "/account/orders/5": 200, "/account/orders/6": 404, "/account/orders/x": 404} {
			for _, cookie := range []*http.Cookie{cookie, long} {
				if got := open(path, cookie).Code; got != want {
					t.Errorf("%s with a cookie of %d bytes: status %d, want %d", path, len(cookie.Value), got, want)
				}
			}
		}
		for _, cookie := range []*http.Cookie{nil, {Name: cookie.Name, Value: "forged"}} {
			for _, path := range []string{"/account", "/account/orders/1"} {
				w := open(path, cookie)
				if got := w.Header().Get("Location"); w.Code != http.StatusFound || got != "/login" {
					t.Errorf("%s with cookie %v: status %d to %q, want 302 to /login", path, cookie, w.Code, got)
				}
			}
		}
	})
}
