package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
)

// An Engine starts and stops jobs. *[engine.Engine] is one.
type Engine interface {
	// Create starts a job, or returns the one of that name, and whether this
	// call started it. The error wraps [engine.ErrOtherArguments] if the name
	// is taken.
	Create(ctx context.Context, order engine.Order) (crawl.Job, bool, error)
	// Stop asks a job to end early; one that is ending is left alone.
	Stop(ctx context.Context, uid crawl.JobUID, reason string) error
	// Runtime returns what the process keeps for a job.
	Runtime(ctx context.Context, job crawl.Job) (*engine.Runtime, error)
}

// Jobs reads the rows of jobs. A jobs.Store is one, and its contract holds.
type Jobs interface {
	Find(ctx context.Context, project, name string) (crawl.Job, error)
	List(ctx context.Context, project string, limit int, states ...crawl.JobState) ([]crawl.Job, error)
}

// A Config says what an API serves.
type Config struct {
	Engine Engine
	Jobs   Jobs
	// Project is the name of the one project.
	Project string
	// Version is what listversions.json lists, such as "v1.2.0".
	Version string
	// Spiders are the names of the project's spiders, in the order in which
	// they are listed.
	Spiders []string
	// Check says what is wrong with a specification, such as an unknown
	// setting, before a job is made of it; its error or panic is shown to the
	// caller. Nil finds nothing wrong, and leaves it to the engine, whose
	// errors are faults of the service.
	Check func(crawl.JobSpec) error
	// NodeName is in every answer, such as a host's or function's name.
	NodeName string
	Log      *slog.Logger
}

// An API is an http.Handler of scrapyd's endpoints, at the root. It is safe for
// concurrent use.
type API struct {
	Config
	endpoints map[string]endpoint
	origins   *http.CrossOriginProtection
}

// An endpoint is one verb of the API.
type endpoint struct {
	method string // "GET", which is HEAD's too, or "POST"
	do     func(ctx context.Context, p params) (answer, error)
}

// New returns an API. All of the config but Check must be set.
func New(c Config) *API {
	a := &API{Config: c, origins: http.NewCrossOriginProtection()}
	a.endpoints = map[string]endpoint{
		"/daemonstatus.json": {http.MethodGet, a.daemonStatus},
		"/schedule.json":     {http.MethodPost, a.schedule},
		"/cancel.json":       {http.MethodPost, a.cancel},
		"/status.json":       {http.MethodGet, a.status},
		"/listjobs.json":     {http.MethodGet, a.listJobs},
		"/listspiders.json":  {http.MethodGet, a.listSpiders},
		"/listprojects.json": {http.MethodGet, a.listProjects},
		"/listversions.json": {http.MethodGet, a.listVersions},
		"/addversion.json":   {http.MethodPost, a.addVersion},
		"/delversion.json":   {http.MethodPost, a.delVersion},
		"/delproject.json":   {http.MethodPost, a.delProject},
	}
	return a
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e, ok := a.endpoints[r.URL.Path]
	if !ok {
		a.fail(w, r, &failure{http.StatusNotFound, "there is no " + r.URL.Path})
		return
	}
	if r.Method == http.MethodOptions {
		w.Header().Set("Allow", e.allow())
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if !e.takes(r.Method) {
		w.Header().Set("Allow", e.allow())
		a.fail(w, r, &failure{http.StatusMethodNotAllowed, "method " + r.Method + " is not allowed; use " + e.method})
		return
	}
	if err := a.origins.Check(r); err != nil {
		a.fail(w, r, &failure{http.StatusForbidden, err.Error()})
		return
	}
	p, err := readParams(w, r)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	ans, err := e.do(r.Context(), p)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	ans["status"] = "ok"
	a.write(w, http.StatusOK, ans)
}

func (e endpoint) takes(method string) bool {
	return method == e.method || e.method == http.MethodGet && method == http.MethodHead
}

// allow lists the methods as the header Allow does.
func (e endpoint) allow() string {
	if e.method == http.MethodGet {
		return strings.Join([]string{http.MethodOptions, http.MethodHead, http.MethodGet}, ", ")
	}
	return strings.Join([]string{http.MethodOptions, http.MethodPost}, ", ")
}
