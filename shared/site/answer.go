package site

import (
	"net/http"
	"strconv"
)

// holdBack is how many bytes of an answer wait for its end: more than a
// product page has, so that one is sent in one write.
const holdBack = 32 << 10

// An answer keeps back the end of what a handler writes until send. A client
// thus never holds a whole answer before the site has counted it as finished:
// otherwise one that asks for a page at a time would now and then be seen with
// two in flight.
type answer struct {
	http.ResponseWriter
	status int // 0 until the handler says
	begun  bool
	held   []byte
	err    error // of the first write that failed
}

// WriteHeader sets the status. Informational ones, 1xx, leave at once.
func (a *answer) WriteHeader(status int) {
	if status < 200 {
		a.ResponseWriter.WriteHeader(status)
		return
	}
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if len(a.held)+len(p) > holdBack {
		a.begin()
		a.flush()
	}
	if a.err != nil {
		return 0, a.err
	}
	a.held = append(a.held, p...)
	return len(p), nil
}

// outcome returns the status as it is counted: 0 if the client went away
// before there was one.
func (a *answer) outcome(r *http.Request) int {
	if a.status == 0 && r.Context().Err() == nil {
		return http.StatusOK
	}
	return a.status
}

// send sends what is left.
func (a *answer) send() {
	if a.status == 0 {
		return
	}
	header := a.Header()
	if !a.begun && header.Get("Content-Length") == "" && len(a.held) > 0 {
		header.Set("Content-Length", strconv.Itoa(len(a.held)))
	}
	a.begin()
	a.flush()
}

func (a *answer) begin() {
	if !a.begun {
		a.begun = true
		a.ResponseWriter.WriteHeader(a.status)
	}
}

func (a *answer) flush() {
	if len(a.held) > 0 && a.err == nil {
		_, a.err = a.ResponseWriter.Write(a.held)
	}
	a.held = a.held[:0]
}
