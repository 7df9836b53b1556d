package runtimeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// api is the Runtime API of one environment.
func (e *environment) api() http.Handler {
	mux := http.NewServeMux()
	const root = "/2018-06-01/runtime"
	mux.HandleFunc("GET "+root+"/invocation/next", e.next)
	mux.HandleFunc("POST "+root+"/invocation/{id}/response", e.response)
	mux.HandleFunc("POST "+root+"/invocation/{id}/error", e.error)
	mux.HandleFunc("POST "+root+"/init/error", e.initErrorPosted)
	return mux
}

// next holds the process's poll until there is an event.
func (e *environment) next(w http.ResponseWriter, r *http.Request) {
	if err := e.poll(); err != nil {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", err)
		return
	}
	select {
	case inv := <-e.events:
		if r.Context().Err() != nil {
			e.breakOff()
			return
		}
		e.handed(inv)
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(inv.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", e.pool.config.arn())
		h.Set("Lambda-Runtime-Trace-Id", inv.trace)
		_, _ = w.Write(inv.event) // a process that is gone shows by its end
	case <-r.Context().Done():
		e.breakOff()
	case <-e.gone:
	}
}

func (e *environment) response(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxResponse+1))
	if err != nil {
		return // the process has broken off, and what it said is not whole
	}
	if len(body) > maxResponse {
		tooLarge := responseTooLarge()
		if err := e.answer(r.PathValue("id"), nil, tooLarge); err != nil {
			refuseAnswer(w, err)
			return
		}
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", tooLarge)
		return
	}
	e.accept(w, e.answer(r.PathValue("id"), body, nil))
}

func (e *environment) error(w http.ResponseWriter, r *http.Request) {
	posted, err := readError(r)
	if err != nil {
		return
	}
	e.accept(w, e.answer(r.PathValue("id"), nil, posted))
}

// initErrorPosted notes why the start fails. The process ends itself, or is
// killed after a while that lets it print its last lines.
func (e *environment) initErrorPosted(w http.ResponseWriter, r *http.Request) {
	posted, err := readError(r)
	if err != nil {
		return
	}
	p := e.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.polled {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", errors.New("the start is over"))
		return
	}
	e.posted = &InitError{Type: posted.Type, Message: posted.Message}
	time.AfterFunc(time.Second, e.tooSlow)
	e.accept(w, nil)
}

// readError reads what a runtime posts of an error. What is no JSON is the
// message.
func readError(r *http.Request) (*FunctionError, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxResponse))
	if err != nil {
		return nil, err
	}
	var said struct {
		Type    string `json:"errorType"`
		Message string `json:"errorMessage"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		said.Message = string(body)
	}
	if said.Type == "" {
		said.Type = r.Header.Get("Lambda-Runtime-Function-Error-Type")
	}
	if said.Type == "" {
		said.Type = "Function.Unknown"
	}
	return &FunctionError{Type: said.Type, Message: said.Message, Payload: body}, nil
}

func (e *environment) accept(w http.ResponseWriter, err error) {
	if err != nil {
		refuseAnswer(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"status":"OK"}`+"\n")
}

func refuseAnswer(w http.ResponseWriter, err error) {
	if errors.Is(err, errNoSuchRequest) {
		refuse(w, http.StatusBadRequest, "InvalidRequestID", err)
		return
	}
	refuse(w, http.StatusForbidden, "InvalidStateTransition", err)
}

// refuse answers with an error in the Runtime API's form.
func refuse(w http.ResponseWriter, status int, kind string, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	body, _ := json.Marshal(map[string]string{"errorType": kind, "errorMessage": err.Error()}) // strings always encode
	_, _ = fmt.Fprintf(w, "%s\n", body)
}
