package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/pipeline"
)

func pass(_ context.Context, _ pipeline.Key, item crawl.Item) (crawl.Item, error) { return item, nil }

func TestNewChainMistakes(t *testing.T) {
	good := pipeline.Step{Name: "good", Process: pass}
	tests := []struct {
		name  string
		steps []pipeline.Step
		want  string // in the error; empty: none
	}{
		{"no steps at all", nil, ""},
		{"two good steps", []pipeline.Step{good, {Name: "other", Process: pass}}, ""},
		{"a step without a name", []pipeline.Step{good, {Process: pass}}, "pipeline step 2 has no name"},
		{"a step that does nothing", []pipeline.Step{good, {Name: "idle"}}, "pipeline step idle has no Process"},
		{"two steps of one name", []pipeline.Step{good, {Name: "b", Process: pass}, good}, "two pipeline steps are named good"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			chain, err := pipeline.NewChain(test.steps...)
			if test.want == "" {
				if err != nil || len(chain) != len(test.steps) {
					t.Errorf("%d steps, err %v", len(chain), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("err %v, want one with %q", err, test.want)
			}
			if chain != nil {
				t.Error("a chain beside the error")
			}
		})
	}
}

// A log notes what steps were called with.
type log []string

// step notes its name and the trail of the item, and fails with err.
func (l *log) step(name string, err error) pipeline.Step {
	hook := func(what string) func(context.Context, crawl.Job) error {
		return func(_ context.Context, job crawl.Job) error {
			*l = append(*l, what+" "+name+" for "+job.Name)
			return err
		}
	}
	return pipeline.Step{
		Name: name, Open: hook("open"), Close: hook("close"),
		Process: func(_ context.Context, key pipeline.Key, item crawl.Item) (crawl.Item, error) {
			trail, _ := item.Get("trail")
			before, _ := trail.(string)
			*l = append(*l, name+" gets ["+before+"] of "+string(key.Run))
			if err != nil {
				return item, err
			}
			return item, item.Set("trail", before+name)
		},
	}
}

func newChain(t *testing.T, steps ...pipeline.Step) pipeline.Chain {
	t.Helper()
	chain, err := pipeline.NewChain(steps...)
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

func TestProcessHandsTheItemOnInOrder(t *testing.T) {
	var l log
	chain := newChain(t, l.step("b", nil), l.step("a", nil), l.step("c", nil))
	item, err := chain.Process(t.Context(), pipeline.Key{Run: "run"}, crawl.Item{})
	if err != nil {
		t.Fatal(err)
	}
	if trail, _ := item.Get("trail"); trail != "bac" {
		t.Errorf("the item passed %v, want bac", trail)
	}
	if diff := cmp.Diff(log{"b gets [] of run", "a gets [b] of run", "c gets [ba] of run"}, l); diff != "" {
		t.Errorf("calls (-want, +got):\n%s", diff)
	}
}

func TestAnEmptyChainLetsTheItemPass(t *testing.T) {
	item, err := crawl.NewItem(map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	var chain pipeline.Chain
	out, err := chain.Process(t.Context(), pipeline.Key{}, item)
	if a, _ := out.Get("a"); err != nil || a == nil {
		t.Errorf("field a is %v, err %v", a, err)
	}
	if err := errors.Join(chain.Open(t.Context(), crawl.Job{}), chain.Close(t.Context(), crawl.Job{})); err != nil {
		t.Error(err)
	}
}

func TestAnErrorNamesItsStep(t *testing.T) {
	drop, broken := &crawl.Drop{Reason: "no price"}, errors.New("disk full")
	job := crawl.Job{Name: "j1"}
	tests := []struct {
		name  string
		err   error
		run   func(pipeline.Chain) error
		want  string
		calls log
	}{
		{
			"a drop", drop, func(c pipeline.Chain) error {
				_, err := c.Process(t.Context(), pipeline.Key{Run: "run"}, crawl.Item{})
				return err
			}, "pipeline step bad: dropped: no price", log{"first gets [] of run", "bad gets [first] of run"},
		},
		{
			"a failure", broken, func(c pipeline.Chain) error {
				_, err := c.Process(t.Context(), pipeline.Key{Run: "run"}, crawl.Item{})
				return err
			}, "pipeline step bad: disk full", log{"first gets [] of run", "bad gets [first] of run"},
		},
		{
			"opening", broken, func(c pipeline.Chain) error { return c.Open(t.Context(), job) },
			"open pipeline step bad: disk full", log{"open first for j1", "open bad for j1"},
		},
		{
			"closing", broken, func(c pipeline.Chain) error { return c.Close(t.Context(), job) },
			"close pipeline step bad: disk full", log{"close first for j1", "close bad for j1", "close last for j1"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var l log
			err := test.run(newChain(t, l.step("first", nil), l.step("bad", test.err), l.step("last", nil)))
			if err == nil || err.Error() != test.want {
				t.Errorf("err %v, want %q", err, test.want)
			}
			if !errors.Is(err, test.err) {
				t.Error("the step's own error is not found in it")
			}
			if diff := cmp.Diff(test.calls, l); diff != "" {
				t.Errorf("calls (-want, +got):\n%s", diff)
			}
		})
	}
}

func TestOpenAndCloseGoInOrderPastStepsWithoutThem(t *testing.T) {
	var l log
	chain := newChain(t, l.step("b", nil), pipeline.Step{Name: "plain", Process: pass}, l.step("a", nil))
	job := crawl.Job{Name: "j1"}
	if err := errors.Join(chain.Open(t.Context(), job), chain.Close(t.Context(), job)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(log{"open b for j1", "open a for j1", "close b for j1", "close a for j1"}, l); diff != "" {
		t.Errorf("calls (-want, +got):\n%s", diff)
	}
}
