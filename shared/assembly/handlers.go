package assembly

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/settings"
)

// handlers are those of a job: what is built in, the project's own in their
// place or beside them, and without those that DOWNLOAD_HANDLERS switches off.
//
// The turn is taken by what would dial, so whatever a middleware answers by
// itself uses none, nor does what dials nobody.
func (b *Builder) handlers(s settings.Settings, env project.Env) (map[string]downloader.Handler, error) {
	web := b.turns(b.Web.ForJob(s), s, env)
	all := map[string]downloader.Handler{"http": web, "https": web, "data": handlers.Data(s)}
	if b.Files {
		all["file"] = handlers.File(s)
	}
	if b.Project.Handlers != nil {
		own, err := b.Project.Handlers(env)
		if err != nil {
			return nil, fmt.Errorf("the project's handlers: %w", err)
		}
		for name, h := range own {
			if name == "" || h == nil {
				return nil, fmt.Errorf("the project's handlers: that of the name %q has no name or is nil", name)
			}
			all[name] = b.turns(h, s, env)
		}
	}
	if all["s3"] == nil {
		s3, err := handlers.S3(s, all["https"], b.Signer)
		if err != nil {
			return nil, err
		}
		all["s3"] = s3
	}
	return all, switchHandlers(all, s.DownloadHandlers)
}

// switchHandlers takes out what a setting switches off, and says what it names
// that is not there.
func switchHandlers(all map[string]downloader.Handler, switches map[string]bool) error {
	var errs []error
	there := handlers.Names(all)
	for _, name := range slices.Sorted(maps.Keys(switches)) {
		switch {
		case all[name] == nil && name == "file":
			if switches[name] {
				errs = append(errs, errors.New("setting DOWNLOAD_HANDLERS: file is for one machine alone, since a function's files hold its keys"))
			}
		case all[name] == nil:
			errs = append(errs, fmt.Errorf("setting DOWNLOAD_HANDLERS: no handler for %q; there are: %s", name, there))
		case !switches[name]:
			delete(all, name)
		}
	}
	return errors.Join(errs...)
}

// turns puts turns before a handler. A request that names neither a host nor a
// slot has nobody to be polite to.
func (b *Builder) turns(h downloader.Handler, s settings.Settings, env project.Env) downloader.Handler {
	turned := b.Slots.Handler(h, slotOf(s, b.Robots), env.Log)
	return downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
		if !hasSlot(req) {
			return h.Fetch(ctx, req)
		}
		return turned.Fetch(ctx, req)
	})
}
