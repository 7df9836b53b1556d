package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
)

// liveEvery is how often progress is shown in place on a terminal; elsewhere it
// is a line each LOGSTATS_INTERVAL.
const liveEvery = 200 * time.Millisecond

// A display is what people see of a crawl: the log, the progress and the final
// stats, all on stderr.
type display struct {
	log   *slog.Logger
	quiet bool

	mu   sync.Mutex
	out  io.Writer
	live bool // the last thing written is the progress line of a terminal
	term bool
}

func newDisplay(out io.Writer, quiet bool) *display {
	out = beneath(out) // the progress line moves the cursor; log lines quote controls
	d := &display{out: out, quiet: quiet}
	if f, ok := out.(*os.File); ok {
		d.term = term.IsTerminal(int(f.Fd()))
	}
	// Each job lets through what its LOG_LEVEL says.
	d.log = slog.New(slog.NewTextHandler(d, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return d
}

// Write writes a log line above the progress line.
func (d *display) Write(line []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wipe()
	return d.out.Write(line)
}

func (d *display) wipe() {
	if d.live {
		fmt.Fprint(d.out, "\r\x1b[K")
		d.live = false
	}
}

// progress shows how a job comes along until the returned function is called.
func (d *display) progress(ctx context.Context, e *engine.Engine, job crawl.Job, every time.Duration) (stop func()) {
	if d.term {
		every = liveEvery
	}
	if d.quiet || every == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	ended.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		last := progress{at: time.Now()}
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			p, err := e.Progress(ctx, job.UID)
			if err != nil {
				continue // the next one may be had
			}
			last = d.show(job, last, progress{p, time.Now()})
		}
	})
	return func() {
		cancel()
		ended.Wait()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.wipe()
	}
}

// A progress is a job's progress at a time.
type progress struct {
	engine.Progress
	at time.Time
}

func (d *display) show(job crawl.Job, last, now progress) progress {
	rate := float64(now.Pages-last.Pages) / now.at.Sub(last.at).Seconds()
	line := fmt.Sprintf("%s  pages %d (%.0f/s)  items %d  queued %d  errors %d",
		since(job.Created), now.Pages, rate, now.Items, now.Queued, now.Errors)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.term {
		fmt.Fprintf(d.out, "\r\x1b[K%s", line)
		d.live = true
	} else {
		fmt.Fprintln(d.out, line)
	}
	return now
}

// stats prints the final stats if dump is true, and writes them to a file where one is named.
func (d *display) stats(s engine.Stats, dump bool, file string) error {
	if file != "" {
		data, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("stats: %w", err)
		}
		if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
			return fmt.Errorf("stats not written: %w", err)
		}
	}
	if d.quiet || !dump {
		return nil
	}
	fmt.Fprintln(d.out, "stats:")
	for _, key := range slices.Sorted(maps.Keys(s)) {
		value, err := json.Marshal(s[key])
		if err != nil {
			return fmt.Errorf("stat %s: %w", key, err)
		}
		fmt.Fprintf(d.out, "  %s: %s\n", key, value)
	}
	return nil
}
