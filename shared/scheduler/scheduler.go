// Package scheduler decides what a job has still to do: it admits requests,
// settles units, sends again what got lost, and says when a job is finished.
// It is the only writer of package frontier's rows.
//
// The rows are the truth and the queues a hint: every rule here holds when
// messages are lost, doubled or late, and when the process dies between any two
// calls to a port.
package scheduler

import (
	"context"
	"fmt"
	"time"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/jars"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
)

// Ports are what a Scheduler works on.
type Ports struct {
	Rows  frontier.Store
	Items items.Store
	Jobs  jobs.Store
	Queue queue.Sender
	Blobs blob.Store
	Jars  jars.Store
	// Census is nil where the family cannot count exactly.
	Census queue.Census
	// Now is the clock.
	Now func() time.Time
}

// A Scheduler is safe for concurrent use.
type Scheduler struct {
	Ports
	recent    *recent
	jars      *knownJars
	witnesses *witnesses
}

// New returns a scheduler over the ports.
func New(p Ports) *Scheduler {
	return &Scheduler{Ports: p, recent: newRecent(), jars: newKnownJars(), witnesses: newWitnesses()}
}

// Settle closes units, and reports for each whether this call closed it: only
// then may the caller count anything. Everything that a unit gives (children,
// items) must have been admitted and sent before.
func (s *Scheduler) Settle(ctx context.Context, job crawl.JobUID, list []frontier.Settlement) ([]bool, error) {
	if len(list) == 0 {
		return nil, nil
	}
	won, err := s.Rows.Settle(ctx, job, list)
	if err != nil {
		return nil, fmt.Errorf("settle %d units: %w", len(list), err)
	}
	return won, nil
}

// Read returns the rows of units. A row that an eventually consistent read
// does not find is read again strongly, so what is missing from the result was
// never admitted.
func (s *Scheduler) Read(ctx context.Context, job crawl.JobUID, units []crawl.UnitID) (map[crawl.UnitID]frontier.Row, error) {
	rows, err := s.Rows.Get(ctx, job, units, frontier.Eventual)
	if err != nil {
		return nil, fmt.Errorf("read %d units: %w", len(units), err)
	}
	var missing []crawl.UnitID
	for _, u := range units {
		if _, ok := rows[u]; !ok {
			missing = append(missing, u)
		}
	}
	if len(missing) == 0 {
		return rows, nil
	}
	again, err := s.Rows.Get(ctx, job, missing, frontier.Strong)
	if err != nil {
		return nil, fmt.Errorf("read %d units again: %w", len(missing), err)
	}
	for u, r := range again {
		rows[u] = r
	}
	return rows, nil
}

// Row reads the row of a unit strongly, and whether there is one.
func (s *Scheduler) Row(ctx context.Context, job crawl.JobUID, unit crawl.UnitID) (frontier.Row, bool, error) {
	rows, err := s.Rows.Get(ctx, job, []crawl.UnitID{unit}, frontier.Strong)
	if err != nil {
		return frontier.Row{}, false, fmt.Errorf("read unit %s: %w", unit, err)
	}
	row, found := rows[unit]
	return row, found, nil
}

// Marks reads how often work on a queued unit was begun after it had been
// delivered before; 0 for a unit that is closed or not there.
func (s *Scheduler) Marks(ctx context.Context, job crawl.JobUID, unit crawl.UnitID) (int, error) {
	row, _, err := s.Row(ctx, job, unit)
	if err != nil || row.State != frontier.Queued {
		return 0, err
	}
	return row.Marks, nil
}

// Mark notes that work on a unit is begun which was delivered before, and
// returns how often that was; 0 for a unit that is closed or not there.
func (s *Scheduler) Mark(ctx context.Context, job crawl.JobUID, unit crawl.UnitID) (int, error) {
	marks, err := s.Rows.Mark(ctx, job, unit)
	if err != nil {
		return 0, fmt.Errorf("mark unit %s: %w", unit, err)
	}
	return marks, nil
}

// SendControl sends a thing to do about a job, after a delay.
func (s *Scheduler) SendControl(ctx context.Context, job crawl.JobUID, c message.Control, delay time.Duration) error {
	body, err := message.Encode(message.Header{
		Kind: message.KindControl, Job: job, Unit: crawl.StartUnit, Sent: s.Now().UTC(),
	}, c)
	if err != nil {
		return err
	}
	if err := s.Queue.Send(ctx, queue.Control, []queue.Message{{Job: job, Body: body, Delay: delay}}); err != nil {
		return fmt.Errorf("send %s of job %s: %w", c.Do, job, err)
	}
	return nil
}
