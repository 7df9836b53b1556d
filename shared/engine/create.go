package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/message"
)

// ErrOtherArguments is wrapped by the error of a job whose name is taken by one
// that was asked to do something else.
var ErrOtherArguments = errors.New("a job of this name was started with other arguments")

// An Order asks for a job.
type Order struct {
	Project string
	// Name is the job's ID; empty makes one up. The same name with the same
	// specification is the same job, so starting twice is harmless.
	Name string
	Spec crawl.JobSpec
}

// Create starts a job, or returns the one of that name if it was started
// already, and whether this call started it. Everything is written in an order
// that leaves nothing half-made: the specification, the start's row, the job's
// row, and then the message that the sweep would make good.
func (e *Engine) Create(ctx context.Context, o Order) (crawl.Job, bool, error) {
	spec, err := json.Marshal(o.Spec)
	if err != nil {
		return crawl.Job{}, false, fmt.Errorf("job %s: %w", o.Name, err)
	}
	hash := sha256.Sum256(spec)
	job := crawl.Job{
		UID: crawl.NewJobUID(), Project: o.Project, Name: o.Name, Spider: o.Spec.Spider,
		State: crawl.JobRunning, SpecHash: hex.EncodeToString(hash[:]), Created: e.Now().UTC(),
	}
	if job.Name == "" {
		job.Name = string(job.UID)
	}
	var rt *Runtime
	if err := crawl.Guard(func() (err error) { rt, err = e.Build(job, o.Spec); return err }); err != nil {
		return crawl.Job{}, false, err // nothing is written for a job that cannot run
	}
	job.Latest = job.Created.Add(time.Duration(rt.Settings.JobMaxDays) * 24 * time.Hour)
	if err := e.Blobs.Put(ctx, specKey(job.UID), spec); err != nil {
		return crawl.Job{}, false, fmt.Errorf("job %s: %w", job.Name, err)
	}
	if err := e.Scheduler.PutStart(ctx, job.UID); err != nil {
		return crawl.Job{}, false, fmt.Errorf("job %s: %w", job.Name, err)
	}
	stands, created, err := e.Jobs.Create(ctx, job)
	if err != nil {
		return crawl.Job{}, false, fmt.Errorf("job %s: %w", job.Name, err)
	}
	if !created {
		e.forgetSpec(ctx, job.UID, stands.UID)
		if stands.SpecHash != job.SpecHash {
			return stands, false, fmt.Errorf("job %s: %w", job.Name, e.otherwise(ctx, stands, o.Spec))
		}
		return stands, false, nil
	}
	if _, err := e.Jobs.Add(ctx, job.UID, jobs.Control, jobs.Counts{countAdmitted: 1}); err != nil {
		e.Log.Warn("counters not added to", "job", job.UID, "err", err)
	}
	return job, true, e.Scheduler.SendControl(ctx, job.UID, message.Control{Do: message.DoStart}, 0)
}

// otherwise says what sets a job that stands apart from what is asked for now.
func (e *Engine) otherwise(ctx context.Context, stands crawl.Job, asked crawl.JobSpec) error {
	was, err := e.readSpec(ctx, stands.UID)
	if err != nil {
		return ErrOtherArguments // it is refused all the same
	}
	var parts []string
	differs := func(what string, same bool) {
		if !same {
			parts = append(parts, what)
		}
	}
	differs("another spider, "+was.Spider, was.Spider == asked.Spider)
	differs("another text of the spider's file", was.Spider != asked.Spider || was.Definition == asked.Definition)
	differs("other arguments (-a)", maps.Equal(was.Args, asked.Args))
	differs("other settings (-s)", maps.Equal(was.Settings, asked.Settings))
	differs("other start URLs", slices.Equal(was.StartURLs, asked.StartURLs))
	differs("another output file", slices.Equal(was.Feeds, asked.Feeds))
	if len(parts) == 0 {
		return ErrOtherArguments
	}
	return &otherArguments{parts}
}

// An otherArguments is ErrOtherArguments with what differs.
type otherArguments struct{ parts []string }

func (e *otherArguments) Error() string {
	return "a job of this name was started with " + strings.Join(e.parts, ", ") + ": give this one another name"
}

func (e *otherArguments) Is(target error) bool { return target == ErrOtherArguments }

// forgetSpec deletes the specification that was written for a job which another
// one stands for. A job may stand for itself: its row was written by a call
// whose answer got lost.
func (e *Engine) forgetSpec(ctx context.Context, uid, stands crawl.JobUID) {
	if uid == stands {
		return
	}
	if err := e.Blobs.Delete(ctx, specKey(uid)); err != nil {
		e.Log.Warn("specification of no job not deleted", "uid", uid, "err", err)
	}
}
