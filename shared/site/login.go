package site

import "net/http"

// The one account there is, and the cookie that proves it.
const (
	loginUser     = "demo"
	loginPassword = "demo"
	sessionCookie = "session"
	sessionValue  = "of-demo"
)

// maxFormBytes is the most bytes of a form that are read.
const maxFormBytes = 64 << 10

func loginForm(w http.ResponseWriter, r *http.Request) {
	writePage(w, http.StatusOK, "Log in", `<form method="post" action="/login">
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
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: sessionValue, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	http.Redirect(w, r, "/account", http.StatusFound)
}

func account(w http.ResponseWriter, r *http.Request) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || cookie.Value != sessionValue {
		http.Redirect(w, r, "/login", http.StatusFound)
		return
	}
	writePage(w, http.StatusOK, "Your account", `<p class="user">demo</p>`)
}
