package api

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/weburl"
)

// scrapyd's states.
const (
	pending  = "pending"
	running  = "running"
	finished = "finished"
)

// states are scrapyd's, each with those of ours that it stands for. They are
// read in this order, in which jobs go through them, so that one which changes
// meanwhile is listed twice rather than not at all.
var states = []struct {
	name string
	ours []crawl.JobState
}{
	{pending, []crawl.JobState{crawl.JobPaused}},
	{running, []crawl.JobState{crawl.JobRunning, crawl.JobClosing}},
	{finished, []crawl.JobState{crawl.JobFinished, crawl.JobFailed, crawl.JobCancelled}},
}

// stateOf is scrapyd's state of a job.
func stateOf(job crawl.Job) string {
	for _, s := range states {
		if slices.Contains(s.ours, job.State) {
			return s.name
		}
	}
	return running // a state of a later build
}

// maxFinished is how many jobs that have ended are listed. Source: scrapyd's
// documentation, "Configuration file", finished_to_keep.
const maxFinished = 100

// list reads the jobs by scrapyd's state: all that have not ended, and the last
// that have.
func (a *API) list(ctx context.Context) (map[string][]crawl.Job, error) {
	lists := make(map[string][]crawl.Job, len(states))
	for _, s := range states {
		limit := 0
		if s.name == finished {
			limit = maxFinished
		}
		list, err := a.Jobs.List(ctx, a.Project, limit, s.ours...)
		if err != nil {
			return nil, err
		}
		lists[s.name] = list
	}
	return lists, nil
}

// find reads a job, and whether there is one.
func (a *API) find(ctx context.Context, name string) (crawl.Job, bool, error) {
	job, err := a.Jobs.Find(ctx, a.Project, name)
	if errors.Is(err, jobs.ErrNotFound) {
		return crawl.Job{}, false, nil
	}
	return job, err == nil, err
}

// daemonStatus counts the jobs by state.
func (a *API) daemonStatus(ctx context.Context, _ params) (answer, error) {
	lists, err := a.list(ctx)
	if err != nil {
		return nil, err
	}
	counts := make(answer, len(lists))
	for state, list := range lists {
		counts[state] = len(list)
	}
	return counts, nil
}

// status tells the state of one job; null if there is none.
func (a *API) status(ctx context.Context, p params) (answer, error) {
	name, err := p.need("job")
	if err != nil {
		return nil, err
	}
	if err := a.anyProject(p); err != nil {
		return nil, err
	}
	job, found, err := a.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if !found {
		return answer{"currstate": nil}, nil
	}
	ans := answer{"currstate": stateOf(job)}
	tell(ans, job)
	return ans, nil
}

// listJobs lists the jobs by state, those that ended last first.
func (a *API) listJobs(ctx context.Context, p params) (answer, error) {
	if err := a.anyProject(p); err != nil {
		return nil, err
	}
	lists, err := a.list(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(lists[finished], func(x, y crawl.Job) int { return y.Ended.Compare(x.Ended) })
	ans := make(answer, len(lists))
	for state, list := range lists {
		entries := make([]answer, len(list))
		for k, job := range list {
			entries[k] = a.entry(ctx, job, state)
		}
		ans[state] = entries
	}
	return ans, nil
}

// entry is a job as listjobs.json has it.
func (a *API) entry(ctx context.Context, job crawl.Job, state string) answer {
	e := answer{"id": job.Name, "project": job.Project, "spider": job.Spider}
	tell(e, job)
	if state == pending {
		spec := a.spec(ctx, job)
		e["version"], e["settings"], e["args"] = nil, shown(spec.Settings), shown(spec.Args)
		return e
	}
	e["start_time"], e["log_url"], e["items_url"] = timeText(job.Created), nil, nil
	if state == running {
		e["pid"] = nil
	} else {
		e["end_time"] = timeText(job.Ended)
	}
	return e
}

// tell adds what scrapyd has no word for.
func tell(e answer, job crawl.Job) {
	e["state"] = job.State
	if job.Reason != "" {
		e["finish_reason"] = job.Reason
	}
	if job.Problem != "" {
		e["problem"] = job.Problem
	}
}

// spec is what a job was asked to do; it is empty for one that this build
// cannot run, such as a job of a spider that is gone.
func (a *API) spec(ctx context.Context, job crawl.Job) crawl.JobSpec {
	rt, err := a.Engine.Runtime(ctx, job)
	if err != nil {
		a.Log.Warn("job listed without its arguments", "job", job.Name, "err", err)
		return crawl.JobSpec{}
	}
	return rt.Spec
}

// shown is a job's settings or arguments without what is secret by its name, and
// without users in URLs.
func shown(m map[string]string) map[string]string {
	c := make(map[string]string, len(m))
	for name, value := range m {
		switch {
		case crawl.SecretName(name) || settings.Secret(name):
			value = "…"
		case strings.Contains(value, "@") && strings.Contains(value, "://"):
			value = weburl.Redact(value)
		}
		c[name] = value
	}
	return c
}

// timeText writes a time as Python's str(datetime) does. Python leaves six
// zeros away, which clients that read "%f" trip over.
func timeText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }
