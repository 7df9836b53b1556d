package api

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/weburl"
)

// schedule starts a job.
func (a *API) schedule(ctx context.Context, p params) (answer, error) {
	order, err := a.order(p)
	if err != nil {
		return nil, err
	}
	if a.Check != nil {
		// It runs the project's code, which may panic.
		if err := crawl.Guard(func() error { return a.Check(order.Spec) }); err != nil {
			return nil, refuse("%v", err)
		}
	}
	job, created, err := a.Engine.Create(ctx, order)
	switch {
	case errors.Is(err, engine.ErrOtherArguments):
		return nil, refuse("job '%s' was started with other arguments; give another jobid", order.Name)
	case err != nil && !created:
		return nil, err
	case err != nil:
		// Its row is written, so the sweep gets it going.
		a.Log.Warn("job begins late", "job", job.Name, "err", err)
	}
	if created {
		a.Log.Info("job scheduled", "job", job.Name, "uid", job.UID, "spider", job.Spider)
	}
	return answer{"jobid": job.Name}, nil
}

// order reads what is asked for. What scrapyd does not know is an argument of
// the spider.
func (a *API) order(p params) (engine.Order, error) {
	o := engine.Order{Project: a.Project}
	if err := a.project(p); err != nil {
		return o, err
	}
	var err error
	if o.Spec.Spider, err = p.need("spider"); err != nil {
		return o, err
	}
	if err := a.version(p); err != nil {
		return o, err
	}
	if id, ok := p.take("jobid"); ok {
		if err := crawl.CheckJobName(id); err != nil {
			return o, refuse("jobid is invalid: %v", err)
		}
		o.Name = id
	}
	if err := checkPriority(p); err != nil {
		return o, err
	}
	if o.Spec.Settings, err = takeSettings(p); err != nil {
		return o, err
	}
	if o.Spec.StartURLs, err = takeStartURLs(p); err != nil {
		return o, err
	}
	if !slices.Contains(a.Spiders, o.Spec.Spider) {
		return o, refuse("spider '%s' not found", o.Spec.Spider)
	}
	for name, values := range p {
		if name == "" {
			return o, refuse("a spider argument has no name")
		}
		if o.Spec.Args == nil {
			o.Spec.Args = make(map[string]string, len(p))
		}
		o.Spec.Args[name] = values[0]
	}
	return o, nil
}

func checkPriority(p params) error {
	text, ok := p.take("priority")
	if !ok {
		return nil
	}
	if _, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil {
		return refuse("priority is invalid: could not convert string to float: '%s'", text)
	}
	return nil
}

// takeSettings reads setting=NAME=VALUE; the last value of a name counts.
func takeSettings(p params) (map[string]string, error) {
	var set map[string]string
	for _, text := range p["setting"] {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, refuse("setting is invalid: '%s' is not NAME=VALUE", text)
		}
		if set == nil {
			set = make(map[string]string)
		}
		set[name] = value
	}
	delete(p, "setting")
	return set, nil
}

func takeStartURLs(p params) ([]string, error) {
	var urls []string
	for _, text := range p["_start_url"] {
		u, err := weburl.Parse(text)
		if err != nil {
			return nil, refuse("_start_url is invalid: %v", err)
		}
		if u.Scheme() == "file" {
			return nil, refuse("_start_url is invalid: files of the machine that crawls are not for who asks from elsewhere")
		}
		urls = append(urls, u.String())
	}
	delete(p, "_start_url")
	return urls, nil
}

// cancel asks a job to end. prevstate is null if there is none, or it has ended.
func (a *API) cancel(ctx context.Context, p params) (answer, error) {
	if err := a.project(p); err != nil {
		return nil, err
	}
	name, err := p.need("job")
	if err != nil {
		return nil, err
	}
	job, found, err := a.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if !found || job.State.Ended() {
		return answer{"prevstate": nil}, nil
	}
	if err := a.Engine.Stop(ctx, job.UID, crawl.ReasonCancelled); err != nil {
		return nil, err
	}
	a.Log.Info("job cancelled", "job", job.Name, "uid", job.UID)
	return answer{"prevstate": stateOf(job)}, nil
}
