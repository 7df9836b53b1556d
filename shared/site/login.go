package site

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// The one account there is, the cookie that proves it, and what only it sees.
const (
	loginUser     = "demo"
	loginPassword = "demo"
	sessionCookie = "session"
	sessionValue  = "of-demo"
	orders        = 5
)

// maxCookie is the longest cookie that /login?cookie=N sets, in bytes: browsers
// take 4,096 with the name. Source: RFC 6265, section 6.1.
const maxCookie = 4000

// maxFormBytes is the most bytes of a form that are read.
const maxFormBytes = 64 << 10

// session is the value of the cookie, as long as the query asks for.
func session(r *http.Request) (string, error) {
	n, err := queryInt(r, "cookie", len(sessionValue), maxCookie)
	if err != nil {
		return "", err
	}
	return sessionValue + strings.Repeat("-", max(0, n-len(sessionValue))), nil
}

// member reports whether a request brings the cookie, however long; else it is
// sent to the login.
func member(w http.ResponseWriter, r *http.Request) bool {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || strings.TrimRight(cookie.Value, "-") != sessionValue {
		http.Redirect(w, r, "/login", http.StatusFound)
		return false
	}
	return true
}

func loginForm(w http.ResponseWriter, r *http.Request) {
	value, err := session(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	action := "/login"
	if value != sessionValue {
		action += "?cookie=" + strconv.Itoa(len(value))
	}
	writePage(w, http.StatusOK, "Log in", `<form method="post" action="`+action+`">
<input type="text" name="user">
<input type="password" name="password">
<input type="submit" value="Log in">
</form>
<p>User and password are both demo.</p>`)
}

func login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.PostForm.Get("user") != loginUser || r.PostForm.Get("password") != loginPassword {
		writePage(w, http.StatusForbidden, "Wrong user or password", `<p><a href="/login">Try again.</a></p>`)
		return
	}
	value, err := session(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	http.Redirect(w, r, "/account", http.StatusFound)
}

func account(w http.ResponseWriter, r *http.Request) {
	if !member(w, r) {
		return
	}
	var b strings.Builder
	b.WriteString("<p class=\"user\">demo</p>\n<ul>\n")
	for n := range orders {
		fmt.Fprintf(&b, "<li><a href=\"/account/orders/%[1]d\">order %[1]d</a></li>\n", n+1)
	}
	b.WriteString("</ul>")
	writePage(w, http.StatusOK, "Your account", b.String())
}

// order is a page of the account; each links to the next.
func order(w http.ResponseWriter, r *http.Request) {
	if !member(w, r) {
		return
	}
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 1 || n > orders {
		http.NotFound(w, r)
		return
	}
	body := fmt.Sprintf("<p class=\"order\">%d</p>", n)
	if n < orders {
		body += fmt.Sprintf("\n<a href=\"/account/orders/%d\">the next</a>", n+1)
	}
	writePage(w, http.StatusOK, fmt.Sprintf("Order %d", n), body)
}
