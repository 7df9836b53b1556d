package site

import (
	"fmt"
	"net/http"
	"strconv"
)

// status answers with the status in the path. An informational one, 102 to
// 199, comes before a 200, as no answer may end with it. 101 would promise
// another protocol, so it is refused like a status that is none.
func status(w http.ResponseWriter, r *http.Request) {
	code, err := strconv.Atoi(r.PathValue("status"))
	if err != nil || code <= http.StatusSwitchingProtocols || code > 599 {
		http.Error(w, "want /status/102 to /status/599", http.StatusBadRequest)
		return
	}
	switch {
	case code < 200:
		w.WriteHeader(code)
		writePage(w, http.StatusOK, "200", fmt.Sprintf("<p>A %d came before.</p>", code))
	case code == http.StatusNoContent, code == http.StatusResetContent, code == http.StatusNotModified:
		w.WriteHeader(code) // these have no body
	default:
		writePage(w, code, strconv.Itoa(code), fmt.Sprintf("<p>%s</p>", http.StatusText(code)))
	}
}

// unavailable answers 503 to the first request with an id and 200 to those
// after it. Without an id it is always 503. It remembers 10,000 ids; one more,
// and it forgets them all.
func (s *Site) unavailable(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	if len(id) > maxKeptBytes {
		http.Error(w, fmt.Sprintf("id has %d bytes; want at most %d", len(id), maxKeptBytes), http.StatusBadRequest)
		return
	}
	if id == "" || s.visits.firstWith(id) {
		w.Header().Set("Retry-After", "1") // seconds
		writePage(w, http.StatusServiceUnavailable, "Busy", "<p>Ask again in a second.</p>")
		return
	}
	writePage(w, http.StatusOK, "Back again", "<p>Thank you for waiting.</p>")
}
