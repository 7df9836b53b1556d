package scheduler

import (
	"context"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
)

// reviveBatch is how many rows are sent again in one go.
const reviveBatch = 500

// Stranded reports whether nothing of a job is under way in any queue. It is
// exact where the family can count; where it cannot, ok is false.
func (s *Scheduler) Stranded(ctx context.Context, job crawl.JobUID) (stranded, ok bool, err error) {
	if s.Census == nil {
		return false, false, nil
	}
	n, err := s.Census.Outstanding(ctx, job)
	if err != nil {
		return false, true, fmt.Errorf("count the messages of job %s: %w", job, err)
	}
	return n == 0, true, nil
}

// DiscardRequests throws away the requests of a job that is to end, where the
// family can: it gets no new turn, and delayed ones would keep it waiting.
func (s *Scheduler) DiscardRequests(ctx context.Context, job crawl.JobUID) error {
	if s.Census == nil {
		return nil
	}
	for _, lane := range queue.Requests() {
		if _, err := s.Census.Discard(ctx, lane, job); err != nil {
			return fmt.Errorf("discard the requests of job %s: %w", job, err)
		}
	}
	return nil
}

// LostRounds is after how many rounds of the watchdog without effect a unit is
// given up as lost.
const LostRounds = 3

// A Revival says what was sent again.
type Revival struct {
	// Start is true for the job's start, Requests counts the others.
	Start    bool
	Requests int
}

// Revive sends everything of a job again that is still queued, from the rows.
// Whoever calls it knows that the messages are lost; one that was not is
// harmless. With probe it sends a probe behind them through each lane that it
// used.
func (s *Scheduler) Revive(ctx context.Context, job crawl.JobUID, probe bool) (Revival, error) {
	var v Revival
	lanes := make(map[queue.Name]bool, 1)
	send := func(orders []Order) error {
		v.Requests += len(orders)
		for _, o := range orders {
			lanes[queue.Lane(o.Request.Priority)] = true
		}
		return s.SendRequests(ctx, job, orders)
	}
	err := s.queued(ctx, job, func(rows []frontier.Row) error {
		orders := make([]Order, 0, len(rows))
		for _, row := range rows {
			if row.Unit != crawl.StartUnit {
				orders = append(orders, order(row, true))
				continue
			}
			// It begins anew: what it admitted before is known and filtered.
			v.Start = true
			if err := s.SendControl(ctx, job, message.Control{Do: message.DoStart}, 0); err != nil {
				return err
			}
		}
		return send(orders)
	})
	if err != nil || !probe {
		return v, err
	}
	for lane := range lanes {
		if err := s.probe(ctx, job, lane); err != nil {
			return v, err
		}
	}
	return v, nil
}

func (s *Scheduler) probe(ctx context.Context, job crawl.JobUID, lane queue.Name) error {
	body, err := message.Encode(message.Header{
		Kind: message.KindRequest, Job: job, Sent: s.Now().UTC(),
	}, message.Request{Probe: string(lane)})
	if err != nil {
		return err
	}
	if err := s.Queue.Send(ctx, lane, []queue.Message{{Job: job, Body: body}}); err != nil {
		return fmt.Errorf("probe lane %s: %w", lane, err)
	}
	return nil
}

// Probed counts a round of the watchdog for every queued unit of a lane, since
// the lane has delivered what was sent with them, and returns the units that
// have had all their rounds: they are lost.
func (s *Scheduler) Probed(ctx context.Context, job crawl.JobUID, lane queue.Name) ([]crawl.UnitID, error) {
	var lost []crawl.UnitID
	err := s.queued(ctx, job, func(rows []frontier.Row) error {
		rounds := make(map[crawl.UnitID]int, len(rows))
		for _, row := range rows {
			if row.Unit == crawl.StartUnit || queue.Lane(row.Priority) != lane {
				continue
			}
			rounds[row.Unit] = row.Rounds + 1
			if row.Rounds+1 >= LostRounds {
				lost = append(lost, row.Unit)
			}
		}
		if len(rounds) == 0 {
			return nil
		}
		return s.Rows.Round(ctx, job, rounds)
	})
	if err != nil {
		return nil, fmt.Errorf("count a round of job %s: %w", job, err)
	}
	return lost, nil
}

// queued reads the queued rows of a job, some at a time.
func (s *Scheduler) queued(ctx context.Context, job crawl.JobUID, work func([]frontier.Row) error) error {
	rows := make([]frontier.Row, 0, reviveBatch)
	for shard := range frontier.Shards {
		for row, err := range s.scanRows(ctx, job, shard) {
			if err != nil {
				return err
			}
			if row.State != frontier.Queued {
				continue
			}
			if rows = append(rows, row); len(rows) == reviveBatch {
				if err := work(rows); err != nil {
					return err
				}
				rows = rows[:0]
			}
		}
	}
	return work(rows)
}
