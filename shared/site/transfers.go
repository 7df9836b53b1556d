package site

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	defaultSlowMS    = 1000
	defaultHugeBytes = 1 << 20
	maxHugeBytes     = 64 << 20
)

// slow answers after ?ms= milliseconds, or not at all if the client goes away
// before.
func slow(w http.ResponseWriter, r *http.Request) {
	ms, err := queryInt(r, "ms", defaultSlowMS, int(maxSlow/time.Millisecond))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if wait(r.Context(), time.Duration(ms)*time.Millisecond) {
		writePage(w, http.StatusOK, "Slow", fmt.Sprintf("<p>This took %d ms.</p>", ms))
	}
}

// truncated sends half of what it announces; net/http then closes the
// connection.
func truncated(w http.ResponseWriter, r *http.Request) {
	const half = "<!doctype html>\n<title>Truncated</title>\n<p>There should be more of this, but"
	w.Header().Set("Content-Type", typeHTML)
	w.Header().Set("Content-Length", strconv.Itoa(2*len(half)))
	fmt.Fprint(w, half)
}

// huge streams exactly ?bytes= bytes of HTML, without a Content-Length above
// 32 KB.
func (s *Site) huge(w http.ResponseWriter, r *http.Request) {
	left, err := queryInt(r, "bytes", defaultHugeBytes, maxHugeBytes)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", typeHTML)
	for i := 0; left > 0; i++ {
		p := []byte(s.shop.paragraphs[i%textParagraphs])
		p = p[:min(len(p), left)]
		if _, err := w.Write(p); err != nil {
			return
		}
		left -= len(p)
	}
}

func empty(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", typeHTML)
	w.WriteHeader(http.StatusOK)
}
