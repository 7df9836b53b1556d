package scheduler

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
)

// A Child is a request that a unit gave, with its identity.
type Child struct {
	Parent  crawl.UnitID
	Unit    crawl.UnitID
	Request *crawl.Request
}

// An Admission says what became of children.
type Admission struct {
	// New were admitted now.
	New int
	// Seen had been admitted before (Scrapy's dupefilter/filtered).
	Seen int
	// Again were admitted by the same parent before, and sent once more.
	Again int
}

// Admit admits what was not admitted before, and sends it. When it returns nil
// every child is sent, or has another owner that answers for it; the parent may
// be settled. After an error all of it may be done again.
//
// Scope must have been checked before: what it refuses gets no row.
func (s *Scheduler) Admit(ctx context.Context, job crawl.JobUID, children []Child) (Admission, error) {
	return s.AdmitTelling(ctx, job, children, nil)
}

// AdmitTelling is Admit that tells of each child that is counted as Seen. What
// it told before an error it tells again.
func (s *Scheduler) AdmitTelling(ctx context.Context, job crawl.JobUID, children []Child, seen func(Child)) (Admission, error) {
	var a Admission
	if seen == nil {
		seen = func(Child) {}
	}
	fresh, ids := s.unseen(job, children, seen)
	a.Seen = len(children) - len(fresh)
	if len(fresh) == 0 {
		return a, nil
	}
	known, err := s.known(ctx, job, ids)
	if err != nil {
		return a, err
	}
	var orders []Order
	var rows []frontier.Row
	owners := make(map[crawl.UnitID]crawl.UnitID, len(fresh))
	for _, c := range fresh {
		if row, ok := known[c.Unit]; ok {
			orders = a.found(orders, c, row, owners, seen)
			continue
		}
		row, err := s.newRow(ctx, job, c)
		if err != nil {
			return a, err
		}
		rows = append(rows, row)
	}
	stood, err := s.put(ctx, job, rows)
	if err != nil {
		return a, err
	}
	byUnit := make(map[crawl.UnitID]Child, len(fresh))
	for _, c := range fresh {
		byUnit[c.Unit] = c
	}
	found := 0
	for k, row := range rows {
		if stood[k] != nil {
			found++
			orders = a.found(orders, byUnit[row.Unit], *stood[k], owners, seen)
			continue
		}
		a.New++
		owners[row.Unit] = crawl.UnitID{}
		orders = append(orders, order(row, false))
	}
	if err := s.SendRequests(ctx, job, orders); err != nil {
		return a, err
	}
	s.recent.learn(job, len(rows), found)
	// Only now is each of them known to be sent, or to have another owner.
	s.recent.add(job, owners)
	return a, nil
}

// readAhead is how many units are read before it is asked again whether more
// are worth reading: what one call of DynamoDB reads.
const readAhead = 100

// known reads which of the units have a row. A read costs a tenth of a put that
// finds one: where nearly all that the cache does not know is new, the puts
// alone are cheaper, and they decide in any case.
func (s *Scheduler) known(ctx context.Context, job crawl.JobUID, units []crawl.UnitID) (map[crawl.UnitID]frontier.Row, error) {
	known := make(map[crawl.UnitID]frontier.Row)
	for some := range slices.Chunk(units, readAhead) {
		if s.recent.mostlyNew(job) {
			break
		}
		rows, err := s.Rows.Get(ctx, job, some, frontier.Eventual)
		if err != nil {
			return nil, fmt.Errorf("admit %d requests: %w", len(units), err)
		}
		maps.Copy(known, rows)
		s.recent.learn(job, len(some), len(rows))
	}
	return known, nil
}

// found decides about a child whose row stands already. The owner rule: a row
// that this parent wrote and that is still queued may never have been sent, so
// it is sent again. A duplicate is harmless. A row of another parent is that
// one's to send, also when it comes again in this process, so the child is
// remembered with it.
func (a *Admission) found(orders []Order, c Child, row frontier.Row, owners map[crawl.UnitID]crawl.UnitID, seen func(Child)) []Order {
	if row.By == c.Parent && row.State == frontier.Queued {
		a.Again++
		owners[c.Unit] = crawl.UnitID{}
		return append(orders, order(row, true))
	}
	a.Seen++
	seen(c)
	owners[c.Unit] = crawl.UnitID{}
	if row.State == frontier.Queued {
		owners[c.Unit] = row.By
	}
	return orders
}

// unseen leaves out children that the cache knows, and those that come twice.
func (s *Scheduler) unseen(job crawl.JobUID, children []Child, seen func(Child)) ([]Child, []crawl.UnitID) {
	fresh := make([]Child, 0, len(children))
	ids := make([]crawl.UnitID, 0, len(children))
	here := make(map[crawl.UnitID]bool, len(children))
	for _, c := range children {
		if here[c.Unit] || s.recent.has(job, c.Unit, c.Parent) {
			seen(c)
			continue
		}
		here[c.Unit] = true
		fresh = append(fresh, c)
		ids = append(ids, c.Unit)
	}
	return fresh, ids
}

func (s *Scheduler) newRow(ctx context.Context, job crawl.JobUID, c Child) (frontier.Row, error) {
	packed, err := s.pack(ctx, job, c.Unit, c.Request)
	if err != nil {
		return frontier.Row{}, err
	}
	return frontier.Row{
		Unit: c.Unit, By: c.Parent, State: frontier.Queued,
		Priority: c.Request.Priority, Depth: c.Request.Depth, Req: packed,
	}, nil
}

func (s *Scheduler) put(ctx context.Context, job crawl.JobUID, rows []frontier.Row) ([]*frontier.Row, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	stood, err := s.Rows.Put(ctx, job, rows)
	if err != nil {
		return nil, fmt.Errorf("admit %d requests: %w", len(rows), err)
	}
	return stood, nil
}

// PutStart writes the row of a job's start, before the job's own row is
// written: a start without a job is ignored, a job without a start would never
// end.
func (s *Scheduler) PutStart(ctx context.Context, job crawl.JobUID) error {
	_, err := s.put(ctx, job, []frontier.Row{{Unit: crawl.StartUnit, State: frontier.Queued}})
	return err
}
