package site

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// maxChain is the most steps of /redirect/chain/N: more than any client
// follows.
const maxChain = 100

// target returns the path of product n, or of the last one in a small shop.
func (s *Site) target(n int) string {
	return fmt.Sprintf("/p/%d", min(n, s.options.Pages-1))
}

func redirectTo(path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, path, http.StatusFound) }
}

// redirect leads to /p/1 with the status.
func (s *Site) redirect(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, s.target(1), status) }
}

// redirectChain leads to /p/2 by as many redirects as the path says.
func (s *Site) redirectChain(w http.ResponseWriter, r *http.Request) {
	steps, err := strconv.Atoi(r.PathValue("steps"))
	if err != nil || steps < 1 || steps > maxChain {
		http.Error(w, fmt.Sprintf("want /redirect/chain/1 to /redirect/chain/%d", maxChain), http.StatusNotFound)
		return
	}
	next := s.target(2)
	if steps > 1 {
		next = fmt.Sprintf("/redirect/chain/%d", steps-1)
	}
	http.Redirect(w, r, next, http.StatusFound)
}

// redirectCookie leads to itself until the client brings the cookie back.
func redirectCookie(w http.ResponseWriter, r *http.Request) {
	if _, err := r.Cookie("seen"); err == nil {
		writePage(w, http.StatusOK, "Welcome back", "<p>You kept the cookie.</p>")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes", Path: "/redirect/"})
	http.Redirect(w, r, "/redirect/cookie", http.StatusFound)
}

// redirectOut leads to /p/3 on the other origin.
func (s *Site) redirectOut(w http.ResponseWriter, r *http.Request) {
	other := s.options.OtherOrigin
	if other == "" {
		other = swappedOrigin(r)
	}
	if other == "" {
		http.Error(w, fmt.Sprintf("the site does not know another name of %q; it needs OtherOrigin", r.Host), http.StatusNotImplemented)
		return
	}
	http.Redirect(w, r, other+s.target(3), http.StatusFound)
}

// swappedOrigin returns the request's origin by the other name of this machine,
// or "" if it came by neither.
func swappedOrigin(r *http.Request) string {
	name, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = r.Host
	}
	switch strings.ToLower(name) {
	case "localhost":
		name = "127.0.0.1"
	case "127.0.0.1":
		name = "localhost"
	default:
		return ""
	}
	if port != "" {
		name = net.JoinHostPort(name, port)
	}
	return originAt(r, name)
}
