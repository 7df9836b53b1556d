package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
)

// Jobs keeps the rows of jobs, their counters and the leases.
type Jobs struct {
	clock func() time.Time

	mu     sync.Mutex
	rows   map[crawl.JobUID]crawl.Job
	counts map[crawl.JobUID]jobs.Counts // over all stages
	moved  map[crawl.JobUID]time.Time   // when they last changed
	leases map[string]time.Time         // until when
}

// NewJobs returns a store without jobs.
func NewJobs(clock func() time.Time) *Jobs {
	return &Jobs{
		clock: orNow(clock), rows: map[crawl.JobUID]crawl.Job{},
		counts: map[crawl.JobUID]jobs.Counts{}, leases: map[string]time.Time{},
		moved: map[crawl.JobUID]time.Time{},
	}
}

// Create implements [jobs.Store].
func (s *Jobs) Create(ctx context.Context, job crawl.Job) (crawl.Job, bool, error) {
	if err := ctx.Err(); err != nil {
		return crawl.Job{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.find(job.Project, job.Name); ok {
		return old, false, nil
	}
	if _, ok := s.rows[job.UID]; ok {
		return crawl.Job{}, false, fmt.Errorf("create job %s: its UID %s is taken", job.Name, job.UID)
	}
	s.rows[job.UID] = job
	return job, true, nil
}

func (s *Jobs) find(project, name string) (crawl.Job, bool) {
	for _, job := range s.rows {
		if job.Project == project && job.Name == name {
			return job, true
		}
	}
	return crawl.Job{}, false
}

// Get implements [jobs.Store].
func (s *Jobs) Get(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) {
	if err := ctx.Err(); err != nil {
		return crawl.Job{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	job, ok := s.rows[uid]
	if !ok {
		return crawl.Job{}, fmt.Errorf("%w: %s", jobs.ErrNotFound, uid)
	}
	return job, nil
}

// Find implements [jobs.Store].
func (s *Jobs) Find(ctx context.Context, project, name string) (crawl.Job, error) {
	if err := ctx.Err(); err != nil {
		return crawl.Job{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	job, ok := s.find(project, name)
	if !ok {
		return crawl.Job{}, fmt.Errorf("%w: %s in project %s", jobs.ErrNotFound, name, project)
	}
	return job, nil
}

// Update implements [jobs.Store].
func (s *Jobs) Update(ctx context.Context, job crawl.Job) (crawl.Job, bool, error) {
	if err := ctx.Err(); err != nil {
		return crawl.Job{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stands, ok := s.rows[job.UID]
	if !ok {
		return crawl.Job{}, false, fmt.Errorf("%w: %s", jobs.ErrNotFound, job.UID)
	}
	if stands.Rev != job.Rev {
		return stands, false, nil
	}
	job.Rev++
	s.rows[job.UID] = job
	return job, true, nil
}

// List implements [jobs.Store].
func (s *Jobs) List(ctx context.Context, project string, limit int, states ...crawl.JobState) ([]crawl.Job, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []crawl.Job
	for _, job := range s.rows {
		if (project == "" || job.Project == project) && (len(states) == 0 || slices.Contains(states, job.State)) {
			list = append(list, job)
		}
	}
	slices.SortFunc(list, func(a, b crawl.Job) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.UID, a.UID))
	})
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, nil
}

// Add implements [jobs.Store]. It keeps the sum over the stages only.
func (s *Jobs) Add(ctx context.Context, uid crawl.JobUID, _ jobs.Stage, delta jobs.Counts) (jobs.Counts, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	counts, ok := s.counts[uid]
	if !ok {
		counts = jobs.Counts{}
		s.counts[uid] = counts
	}
	for key, n := range delta {
		counts[key] += n
	}
	if len(delta) > 0 {
		s.moved[uid] = s.clock()
	}
	return maps.Clone(counts), nil
}

// Note implements [jobs.Store].
func (s *Jobs) Note(ctx context.Context, uid crawl.JobUID, stage jobs.Stage, delta jobs.Counts) error {
	_, err := s.Add(ctx, uid, stage, delta)
	return err
}

// Peek implements [jobs.Store].
func (s *Jobs) Peek(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) { return s.Get(ctx, uid) }

// Totals implements [jobs.Store].
func (s *Jobs) Totals(ctx context.Context, uid crawl.JobUID) (jobs.Counts, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := jobs.Counts{}
	maps.Copy(counts, s.counts[uid])
	return counts, nil
}

// Moved implements [jobs.Store].
func (s *Jobs) Moved(ctx context.Context, uid crawl.JobUID) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved[uid], nil
}

// Lease implements [jobs.Store].
func (s *Jobs) Lease(ctx context.Context, name string, seconds int) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	if until, ok := s.leases[name]; ok && until.After(now) {
		return false, nil
	}
	s.leases[name] = now.Add(time.Duration(seconds) * time.Second)
	return true, nil
}
