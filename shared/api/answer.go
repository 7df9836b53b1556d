package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// An answer is the JSON object that is sent.
type answer map[string]any

// A failure is an error that the caller is told of.
type failure struct {
	status  int // HTTP's
	message string
}

func (f *failure) Error() string { return f.message }

// refuse is a failure that scrapyd, too, answers with status 200.
func refuse(format string, args ...any) error {
	return &failure{http.StatusOK, fmt.Sprintf(format, args...)}
}

// fail answers with an error. What is no [failure] is the service's own fault:
// its text may tell of the stack, so it goes to the log.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	var f *failure
	if !errors.As(err, &f) {
		a.Log.Error("request not answered", "path", r.URL.Path, "err", err)
		f = &failure{http.StatusInternalServerError, "the job service failed; its log says why"}
	}
	a.write(w, f.status, answer{"status": "error", "message": f.message})
}

func (a *API) write(w http.ResponseWriter, status int, ans answer) {
	ans["node_name"] = a.NodeName
	body, err := json.Marshal(ans)
	if err != nil {
		panic(err) // there is nothing in it that JSON has no form for
	}
	body = append(body, '\n')
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever has gone needs no answer
}
