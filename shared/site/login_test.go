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

	account := func(cookie *http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/account", nil)
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
		if got := account(cookie).Code; got != http.StatusOK {
			t.Errorf("with the cookie: status %d, want 200", got)
		}
		for _, cookie := range []*http.Cookie{nil, {Name: cookie.Name, Value: "forged"}} {
			w := account(cookie)
			if got := w.Header().Get("Location"); w.Code != http.StatusFound || got != "/login" {
				t.Errorf("with cookie %v: status %d to %q, want 302 to /login", cookie, w.Code, got)
			}
		}
	})
}
