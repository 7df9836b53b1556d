package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead"
	"github.com/skitterhq/skitter/shared/origins"
	"github.com/skitterhq/skitter/shared/slotrows"
)

// SlotRows keeps the rows of slots. It knows no processes, so a lease ends by
// its time only.
type SlotRows struct {
	mu   sync.Mutex
	rows map[string]slotrows.Row
}

// NewSlotRows returns a store without rows.
func NewSlotRows() *SlotRows { return &SlotRows{rows: map[string]slotrows.Row{}} }

// Get implements [slotrows.Store].
func (s *SlotRows) Get(ctx context.Context, slot string) (slotrows.Row, error) {
	if err := ctx.Err(); err != nil {
		return slotrows.Row{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.rows[slot]
	row.Leases = slices.Clone(row.Leases)
	return row, nil
}

// Swap implements [slotrows.Store].
func (s *SlotRows) Swap(ctx context.Context, slot string, row slotrows.Row) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[slot].Version != row.Version {
		return false, nil
	}
	row.Version++
	row.Leases = slices.Clone(row.Leases)
	s.rows[slot] = row
	return true, nil
}

// Origins keeps the rows of origins.
type Origins struct {
	clock func() time.Time

	mu     sync.Mutex
	rows   map[string]origins.Row
	leases map[string]time.Time // until when
}

// NewOrigins returns a store without rows.
func NewOrigins(clock func() time.Time) *Origins {
	return &Origins{clock: orNow(clock), rows: map[string]origins.Row{}, leases: map[string]time.Time{}}
}

// Get implements [origins.Store].
func (s *Origins) Get(ctx context.Context, origin string) (origins.Row, bool, error) {
	if err := ctx.Err(); err != nil {
		return origins.Row{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.rows[origin]
	row.Body = clone(row.Body)
	return row, ok, nil
}

// Lease implements [origins.Store].
func (s *Origins) Lease(ctx context.Context, origin string, until time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases[origin].After(s.clock()) {
		return false, nil
	}
	s.leases[origin] = until
	return true, nil
}

// Put implements [origins.Store].
func (s *Origins) Put(ctx context.Context, origin string, row origins.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row.Body = clone(row.Body)
	s.rows[origin] = row
	delete(s.leases, origin)
	return nil
}

// Dead keeps the dead letters.
type Dead struct {
	mu      sync.Mutex
	letters map[crawl.JobUID]map[string]dead.Letter
}

// NewDead returns a store without letters.
func NewDead() *Dead { return &Dead{letters: map[crawl.JobUID]map[string]dead.Letter{}} }

// Put implements [dead.Store].
func (s *Dead) Put(ctx context.Context, l dead.Letter) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.letters[l.Job] == nil {
		s.letters[l.Job] = map[string]dead.Letter{}
	}
	l.Body = clone(l.Body)
	s.letters[l.Job][l.ID] = l
	return nil
}

// List implements [dead.Store].
func (s *Dead) List(ctx context.Context, job crawl.JobUID, limit int) ([]dead.Letter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []dead.Letter
	for _, l := range s.letters[job] {
		l.Body = nil
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b dead.Letter) int { return cmp.Compare(a.ID, b.ID) })
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, nil
}

// Get implements [dead.Store].
func (s *Dead) Get(ctx context.Context, job crawl.JobUID, id string) (dead.Letter, bool, error) {
	if err := ctx.Err(); err != nil {
		return dead.Letter{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.letters[job][id]
	l.Body = clone(l.Body)
	return l, ok, nil
}

// Delete implements [dead.Store].
func (s *Dead) Delete(ctx context.Context, job crawl.JobUID, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.letters[job], id)
	return nil
}
