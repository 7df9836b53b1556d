package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/api"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/memory"
)

// fakeEngine makes jobs as package engine does, and runs none.
type fakeEngine struct {
	rows  jobs.Store
	now   time.Time
	specs map[crawl.JobUID]crawl.JobSpec

	createErr, lateErr, stopErr, runtimeErr error
}

func (e *fakeEngine) Create(ctx context.Context, o engine.Order) (crawl.Job, bool, error) {
	if e.createErr != nil {
		return crawl.Job{}, false, e.createErr
	}
	spec, err := json.Marshal(o.Spec)
	if err != nil {
		return crawl.Job{}, false, err
	}
	job := crawl.Job{
		UID: crawl.NewJobUID(), Project: o.Project, Name: o.Name, Spider: o.Spec.Spider,
		State: crawl.JobRunning, SpecHash: string(spec), Created: e.now,
	}
	if job.Name == "" {
		job.Name = string(job.UID)
	}
	stands, created, err := e.rows.Create(ctx, job)
	if err == nil && !created && stands.SpecHash != job.SpecHash {
		err = engine.ErrOtherArguments
	}
	if created {
		e.specs[job.UID] = o.Spec
	}
	return stands, created, errors.Join(err, e.lateErr)
}

func (e *fakeEngine) Stop(ctx context.Context, uid crawl.JobUID, reason string) error {
	job, err := e.rows.Get(ctx, uid)
	if err == nil && job.Stop == "" {
		job.Stop = reason
		_, _, err = e.rows.Update(ctx, job)
	}
	return errors.Join(err, e.stopErr)
}

func (e *fakeEngine) Runtime(_ context.Context, job crawl.Job) (*engine.Runtime, error) {
	return &engine.Runtime{Spec: e.specs[job.UID]}, e.runtimeErr
}

// brokenJobs cannot be read.
type brokenJobs struct{}

func (brokenJobs) Find(context.Context, string, string) (crawl.Job, error) {
	return crawl.Job{}, errSecret
}

func (brokenJobs) List(context.Context, string, int, ...crawl.JobState) ([]crawl.Job, error) {
	return nil, errSecret
}

// A service is an API over a fake engine, and what it logs.
type service struct {
	*api.API
	engine *fakeEngine
	rows   jobs.Store
	log    *bytes.Buffer
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newService(t *testing.T, change ...func(*api.Config)) *service {
	t.Helper()
	rows := memory.NewJobs(func() time.Time { return noon })
	s := &service{
		engine: &fakeEngine{rows: rows, now: noon, specs: map[crawl.JobUID]crawl.JobSpec{}},
		rows:   rows, log: new(bytes.Buffer),
	}
	c := api.Config{
		Engine: s.engine, Jobs: rows, Project: "p", Version: "v1.2", Spiders: []string{"quotes", "s", "паук"},
		NodeName: "node-1", Log: slog.New(slog.NewTextHandler(s.log, nil)),
	}
	for _, f := range change {
		f(&c)
	}
	s.API = api.New(c)
	return s
}

// call sends a request; a form goes into the query of GET and the body of POST.
func call(h http.Handler, method, endpoint, form string) *http.Response {
	var r *http.Request
	if method == http.MethodPost {
		r = httptest.NewRequest(method, "/"+endpoint, strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	} else {
		r = httptest.NewRequest(method, "/"+endpoint+"?"+form, nil)
	}
	return serve(h, r)
}

func serve(h http.Handler, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// read checks what all answers have in common and returns the object.
func read(t *testing.T, resp *http.Response) map[string]any {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := resp.Header.Get("Content-Length"), strconv.Itoa(len(body)); got != want {
		t.Errorf("Content-Length %s of %s bytes", got, want)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	if !bytes.HasSuffix(body, []byte("}\n")) {
		t.Errorf("body %q: want an object and a line feed", body)
	}
	var ans map[string]any
	if err := json.Unmarshal(body, &ans); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	if ans["node_name"] != "node-1" {
		t.Errorf("node_name %v", ans["node_name"])
	}
	delete(ans, "node_name")
	return ans
}

// ok calls and wants a good answer, which it returns without its status.
func (s *service) ok(t *testing.T, method, endpoint, form string) map[string]any {
	t.Helper()
	resp := call(s, method, endpoint, form)
	ans := read(t, resp)
	if resp.StatusCode != http.StatusOK || ans["status"] != "ok" {
		t.Fatalf("%s %s %s: %d %v", method, endpoint, form, resp.StatusCode, ans)
	}
	delete(ans, "status")
	return ans
}

// spec is what the job of a name was asked to do.
func (s *service) spec(t *testing.T, name string) crawl.JobSpec {
	t.Helper()
	return s.engine.specs[s.job(t, name).UID]
}

func (s *service) job(t *testing.T, name string) crawl.Job {
	t.Helper()
	job, err := s.rows.Find(t.Context(), "p", name)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// put writes a job in a state.
func (s *service) put(t *testing.T, job crawl.Job) {
	t.Helper()
	job.UID, job.Project = crawl.NewJobUID(), "p"
	if job.Spider == "" {
		job.Spider = "s"
	}
	if _, created, err := s.rows.Create(t.Context(), job); err != nil || !created {
		t.Fatalf("create %s: %t, %v", job.Name, created, err)
	}
}

// form encodes name and value pairs, in order.
func form(pairs ...string) string {
	var parts []string
	for pair := range slices.Chunk(pairs, 2) {
		parts = append(parts, url.QueryEscape(pair[0])+"="+url.QueryEscape(pair[1]))
	}
	return strings.Join(parts, "&")
}
