package runtimeapi_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/runtimeapi"
)

func TestAStartThatFails(t *testing.T) {
	for _, test := range []struct {
		how, want string
	}{
		{"dies", "invoke fetch: the start failed: the process ended with exit status 3 before it asked for an event: no settings found"},
		{"panics", "invoke fetch: the start failed: the process ended with exit status 2 before it asked for an event: panic: wired wrongly"},
		{"posts", "invoke fetch: the start failed: Init.Wrong: no table (exit status 1)"},
		{"posts-and-stays", "invoke fetch: the start failed: Init.Wrong: no table (signal: killed)"},
	} {
		t.Run(test.how, func(t *testing.T) {
			t.Parallel()
			p := open(t, config(t, test.how))
			_, err := invoke(t, p, order{})
			var failed *runtimeapi.InitError
			if !errors.As(err, &failed) || err.Error() != test.want {
				t.Errorf("error %v; want %s", err, test.want)
			}
			if p.Live() != 0 || p.Stats().InitErrors != 1 || len(p.Stats().FirstPoll) != 0 {
				t.Errorf("%d live, %+v; want one start that failed", p.Live(), p.Stats())
			}
		})
	}
}

func TestAStartThatTakesTooLong(t *testing.T) {
	t.Parallel()
	c := config(t, "hangs")
	c.Init = 300 * time.Millisecond
	p := open(t, c)
	_, err := invoke(t, p, order{})
	if want := "invoke fetch: the start failed: the process did not ask for an event within 300ms"; err == nil || err.Error() != want {
		t.Errorf("error %v; want %s", err, want)
	}
}

func TestTheLimitOfAStartIsForTheStartAlone(t *testing.T) {
	t.Parallel()
	c := config(t, "well")
	c.Init = 1500 * time.Millisecond
	p := open(t, c)
	must(t, p, order{For: 1600 * time.Millisecond})
	must(t, p, order{})
	if s := p.Stats(); s.ColdStarts != 1 {
		t.Errorf("%d starts; want one process that lives on", s.ColdStarts)
	}
}

func TestAFileThatIsNoProgram(t *testing.T) {
	t.Parallel()
	c := config(t, "well")
	c.Command = []string{filepath.Join(t.TempDir(), "bootstrap")}
	if err := os.WriteFile(c.Command[0], []byte("neither script nor program"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := open(t, c)
	_, err := invoke(t, p, order{})
	var failed *runtimeapi.InitError
	if !errors.As(err, &failed) || failed.Err == nil {
		t.Errorf("error %v; want why the file could not be run", err)
	}
}

func TestStartsThatFailAreFurtherApartEachTime(t *testing.T) {
	t.Parallel()
	p := open(t, config(t, "dies"))
	ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	for range 4 { // who all ask again and again
		all.Go(func() {
			for ctx.Err() == nil {
				_, _ = p.Invoke(ctx, []byte(`{}`))
			}
		})
	}
	all.Wait()
	// Three may live and so start at first; one follows after 100 ms, one after
	// 200 more, and the next is not due yet.
	if n := p.Stats().ColdStarts; n < 2 || n > 5 {
		t.Errorf("%d starts in 600 ms; want 2 to 5", n)
	}
}

func TestAStartThatFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "there")
	p := open(t, config(t, "needs "+file))
	if _, err := invoke(t, p, order{}); err == nil {
		t.Fatal("no error of a start that fails")
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, p, order{})
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { must(t, p, order{For: 100 * time.Millisecond}) })
	}
	all.Wait()
	if n := len(p.Stats().FirstPoll); n < 2 {
		t.Errorf("%d environments after starts succeed again; want several at a time", n)
	}
}
