package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
)

// A tail prints items as JSON Lines once their units are settled (-o -). A nil
// tail prints nothing.
type tail struct {
	mu  sync.Mutex
	out *bufio.Writer
	err error

	engine *engine.Engine
	job    crawl.JobUID
	// waiting are items that are kept and whose unit is not settled yet.
	waiting map[crawl.UnitID][]items.Row
}

func newTail(out io.Writer) *tail {
	return &tail{out: bufio.NewWriter(out), waiting: make(map[crawl.UnitID][]items.Row)}
}

// observer is told of items and settled units of this process.
func (t *tail) observer() engine.Observer {
	if t == nil {
		return engine.Observer{}
	}
	return engine.Observer{
		Kept: func(_ crawl.JobUID, row items.Row) { t.kept(row) },
		Settled: func(_ crawl.JobUID, unit crawl.UnitID, run crawl.RunID) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.settled(unit, run)
		},
	}
}

func (t *tail) follow(e *engine.Engine, job crawl.JobUID) {
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.engine, t.job = e, job
	}
}

// kept prints an item whose unit is settled already, and keeps others until it
// is. The row is looked at under the lock, so that a unit which is settled
// meanwhile is seen here or there.
func (t *tail) kept(row items.Row) {
	if row.State != items.Stored {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting[row.Unit] = append(t.waiting[row.Unit], row)
	rows, err := t.engine.Scheduler.Rows.Get(context.Background(), t.job, []crawl.UnitID{row.Unit}, frontier.Strong)
	if err != nil {
		t.err = err
		return
	}
	if r := rows[row.Unit]; r.State.Closed() {
		t.settled(row.Unit, r.Run)
	}
}

func (t *tail) settled(unit crawl.UnitID, run crawl.RunID) {
	for _, row := range t.waiting[unit] {
		if row.Run == run {
			t.print(row.Item)
		}
	}
	delete(t.waiting, unit)
	if err := t.out.Flush(); err != nil && t.err == nil {
		t.err = err
	}
}

func (t *tail) print(item crawl.Item) {
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(item); err != nil && t.err == nil {
		t.err = err
	}
}

// close reports the first error.
func (t *tail) close() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return fmt.Errorf("items not printed: %w", t.err)
	}
	return nil
}
