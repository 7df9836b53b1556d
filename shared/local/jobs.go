package local

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// Jobs keeps the rows of jobs, their counters and the leases.
type Jobs struct{ s *Store }

// Jobs returns the store of jobs.
func (s *Store) Jobs() *Jobs { return &Jobs{s} }

var _ jobs.Store = (*Jobs)(nil)

// readJob reads the job of a query whose first column is its JSON; false if
// there is none.
func readJob(q *sqlite.Stmt) (crawl.Job, bool, error) {
	var job crawl.Job
	if !q.Next() {
		return job, false, q.End()
	}
	err := json.Unmarshal(q.ColBlob(0), &job)
	if endErr := q.End(); endErr != nil {
		err = endErr
	}
	return job, err == nil, err
}

func jobByUID(c *sqlite.Conn, uid crawl.JobUID) (crawl.Job, bool, error) {
	return readJob(c.Stmt(`SELECT job FROM jobs WHERE uid = ?`).Text(string(uid)))
}

func jobByName(c *sqlite.Conn, project, name string) (crawl.Job, bool, error) {
	return readJob(c.Stmt(`SELECT job FROM jobs WHERE project = ? AND name = ?`).Text(project).Text(name))
}

// Create implements [jobs.Store].
func (s *Jobs) Create(ctx context.Context, job crawl.Job) (crawl.Job, bool, error) {
	encoded, err := json.Marshal(job)
	if err != nil {
		return crawl.Job{}, false, fmt.Errorf("create job %s: %w", job.Name, err)
	}
	var stands crawl.Job
	var wrote bool
	err = s.s.writer.do(ctx, func(c *sqlite.Conn) error {
		old, found, err := jobByName(c, job.Project, job.Name)
		if stands, wrote = old, false; err != nil || found {
			return err
		}
		stands, wrote = job, true
		return c.Stmt(`INSERT INTO jobs (uid, project, name, created, rev, job) VALUES (?, ?, ?, ?, ?, ?)`).
			Text(string(job.UID)).Text(job.Project).Text(job.Name).Int(nano(job.Created)).Int(job.Rev).Text(string(encoded)).Run()
	})
	if err != nil {
		return crawl.Job{}, false, fmt.Errorf("create job %s: %w", job.Name, err)
	}
	return stands, wrote, nil
}

// Get implements [jobs.Store].
func (s *Jobs) Get(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) {
	return s.one(ctx, string(uid), func(c *sqlite.Conn) (crawl.Job, bool, error) { return jobByUID(c, uid) })
}

// Peek implements [jobs.Store].
func (s *Jobs) Peek(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) { return s.Get(ctx, uid) }

// Find implements [jobs.Store].
func (s *Jobs) Find(ctx context.Context, project, name string) (crawl.Job, error) {
	what := name + " in project " + project
	return s.one(ctx, what, func(c *sqlite.Conn) (crawl.Job, bool, error) { return jobByName(c, project, name) })
}

func (s *Jobs) one(ctx context.Context, what string, read func(c *sqlite.Conn) (crawl.Job, bool, error)) (crawl.Job, error) {
	var job crawl.Job
	var found bool
	err := s.s.writer.read(ctx, func(c *sqlite.Conn) (err error) {
		job, found, err = read(c)
		return err
	})
	if err == nil && !found {
		return crawl.Job{}, fmt.Errorf("%w: %s", jobs.ErrNotFound, what)
	}
	if err != nil {
		return crawl.Job{}, fmt.Errorf("read job %s: %w", what, err)
	}
	return job, nil
}

// Update implements [jobs.Store].
func (s *Jobs) Update(ctx context.Context, job crawl.Job) (crawl.Job, bool, error) {
	rev := job.Rev
	job.Rev++
	encoded, err := json.Marshal(job)
	if err != nil {
		return crawl.Job{}, false, fmt.Errorf("update job %s: %w", job.UID, err)
	}
	var stands crawl.Job
	var wrote bool
	err = s.s.writer.do(ctx, func(c *sqlite.Conn) error {
		err := c.Stmt(`UPDATE jobs SET rev = rev + 1, job = ? WHERE uid = ? AND rev = ?`).
			Text(string(encoded)).Text(string(job.UID)).Int(rev).Run()
		if stands, wrote = job, c.Changes() > 0; err != nil || wrote {
			return err
		}
		found := false
		if stands, found, err = jobByUID(c, job.UID); err == nil && !found {
			err = jobs.ErrNotFound
		}
		return err
	})
	if err != nil {
		return crawl.Job{}, false, fmt.Errorf("update job %s: %w", job.UID, err)
	}
	return stands, wrote, nil
}

// List implements [jobs.Store].
func (s *Jobs) List(ctx context.Context, project string, limit int, states ...crawl.JobState) ([]crawl.Job, error) {
	var list []crawl.Job
	err := s.s.readers.do(ctx, func(c *sqlite.Conn) error {
		list = list[:0]
		q := c.Stmt(`SELECT job FROM jobs WHERE ?1 = '' OR project = ?1 ORDER BY created DESC, uid DESC`).Text(project)
		for (limit <= 0 || len(list) < limit) && q.Next() {
			var job crawl.Job
			if err := json.Unmarshal(q.ColBlob(0), &job); err != nil {
				_ = q.End() // the first error says more
				return err
			}
			if len(states) == 0 || slices.Contains(states, job.State) {
				list = append(list, job)
			}
		}
		return q.End()
	})
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return list, nil
}

// Lease implements [jobs.Store]. It ends at once with this process.
func (s *Jobs) Lease(ctx context.Context, name string, seconds int) (bool, error) {
	if err := s.s.reapSometimes(ctx); err != nil {
		return false, fmt.Errorf("lease %s: %w", name, err)
	}
	const take = `INSERT INTO leases (name, until, process) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET until = excluded.until, process = excluded.process
		WHERE until <= ? OR process NOT IN (SELECT n FROM processes)`
	now := s.s.clock()
	until := now.Add(time.Duration(seconds) * time.Second)
	took := false
	err := s.s.writer.do(ctx, func(c *sqlite.Conn) error {
		err := c.Stmt(take).Text(name).Int(until.UnixNano()).Int(s.s.self).Int(now.UnixNano()).Run()
		took = c.Changes() > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("lease %s: %w", name, err)
	}
	return took, nil
}
