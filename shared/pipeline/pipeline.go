// Package pipeline is the contract of what an item passes before it is kept: a
// chain of steps that change it, drop it or let it pass.
//
// The steps that are shipped are in package pipelines; the order in which they
// run is one list, in the project's own project.go.
package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A Step handles one item. It may change it, return another, or refuse it with
// a *crawl.Drop; any other error makes the item dead, and a *crawl.CloseSpider
// also closes the job. A step runs at least once an item: after a crash it may
// see one again, under the same key.
type Step struct {
	// Name names the step in logs, errors and stats.
	Name string

	// Process handles an item. It is safe for concurrent use.
	Process func(ctx context.Context, key Key, item crawl.Item) (crawl.Item, error)

	// Open runs once in each process before the job's first item there, and
	// Close when the job is closed, at least once; both may be nil.
	Open  func(ctx context.Context, job crawl.Job) error
	Close func(ctx context.Context, job crawl.Job) error
}

// A Key names an item for steps that write elsewhere: the same item, handled
// again, has the same key.
type Key struct {
	Job     crawl.JobUID
	Unit    crawl.UnitID
	Run     crawl.RunID
	Ordinal int
}

// A Chain is steps in their order.
type Chain []Step

// NewChain returns a chain of steps. It fails if a step has no name or no
// Process, or if two share a name.
func NewChain(steps ...Step) (Chain, error) {
	names := make(map[string]bool, len(steps))
	for k, s := range steps {
		switch {
		case s.Name == "":
			return nil, fmt.Errorf("pipeline step %d has no name", k+1)
		case s.Process == nil:
			return nil, fmt.Errorf("pipeline step %s has no Process", s.Name)
		case names[s.Name]:
			return nil, fmt.Errorf("two pipeline steps are named %s", s.Name)
		}
		names[s.Name] = true
	}
	return Chain(steps), nil
}

// Process hands an item from step to step. An error carries the name of the
// step that gave it.
func (c Chain) Process(ctx context.Context, key Key, item crawl.Item) (crawl.Item, error) {
	for _, s := range c {
		var err error
		if item, err = s.Process(ctx, key, item); err != nil {
			return item, fmt.Errorf("pipeline step %s: %w", s.Name, err)
		}
	}
	return item, nil
}

// Open opens each step in its order.
func (c Chain) Open(ctx context.Context, job crawl.Job) error {
	for _, s := range c {
		if s.Open == nil {
			continue
		}
		if err := s.Open(ctx, job); err != nil {
			return fmt.Errorf("open pipeline step %s: %w", s.Name, err)
		}
	}
	return nil
}

// Close closes each step in its order, whatever the others say.
func (c Chain) Close(ctx context.Context, job crawl.Job) error {
	var errs []error
	for _, s := range c {
		if s.Close == nil {
			continue
		}
		if err := crawl.Guard(func() error { return s.Close(ctx, job) }); err != nil {
			errs = append(errs, fmt.Errorf("close pipeline step %s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}
