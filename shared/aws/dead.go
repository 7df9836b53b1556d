package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

// Dead keeps dead letters: a row in the table jobs, which is j (a [letter] as
// JSON), and the message in a blob, since nobody reads it but people.
type Dead struct {
	s      *Store
	bodies blob.Store
}

// Dead returns the store of dead letters.
func (s *Store) Dead() *Dead { return &Dead{s, s.blobs} }

var _ dead.Store = (*Dead)(nil)

// A letter is a dead letter without its message.
type letter struct {
	ID     string       `json:"id"`
	Unit   crawl.UnitID `json:"unit,omitzero"`
	From   queue.Name   `json:"from"`
	Reason string       `json:"reason,omitempty"`
	Time   time.Time    `json:"time,omitzero"`
	// Size is how long the message is; none is kept of an empty one.
	Size int `json:"size,omitempty"`
}

func letterKey(job crawl.JobUID, id string) record {
	return record{"pk": asText(letterPartition(job)), "sk": asText(keyText(id))}
}

func letterPartition(job crawl.JobUID) string { return "dead#" + keyText(string(job)) }

func letterBlob(job crawl.JobUID, id string) string {
	return "dead/" + segment(string(job)) + "/" + segment(id)
}

// Put implements [dead.Store]. The message is there before its row is.
func (d *Dead) Put(ctx context.Context, l dead.Letter) error {
	if err := d.put(ctx, l); err != nil {
		return fmt.Errorf("keep dead letter %s of job %s: %w", l.ID, l.Job, err)
	}
	return nil
}

func (d *Dead) put(ctx context.Context, l dead.Letter) error {
	encoded, err := json.Marshal(letter{l.ID, l.Unit, l.From, l.Reason, l.Time, len(l.Body)})
	if err != nil {
		return err
	}
	expires, err := d.s.jobs.expiry.of(ctx, l.Job)
	if err != nil {
		return err
	}
	if len(l.Body) > 0 {
		if err := d.bodies.Put(ctx, letterBlob(l.Job, l.ID), l.Body); err != nil {
			return err
		}
	}
	r := letterKey(l.Job, l.ID)
	r["j"], r[topology.TTL] = asBytes(encoded), asNumber(expires)
	_, err = d.s.rows.PutItem(ctx, &dynamodb.PutItemInput{TableName: d.s.table(topology.TableJobs), Item: r})
	return err
}

// unpack reads a row, and how long its message is.
func (d *Dead) unpack(job crawl.JobUID, r record) (dead.Letter, int, error) {
	in := reader{record: r}
	encoded := in.raw("j")
	if in.err != nil {
		return dead.Letter{}, 0, in.err
	}
	var l letter
	if err := json.Unmarshal(encoded, &l); err != nil {
		return dead.Letter{}, 0, err
	}
	return dead.Letter{ID: l.ID, Job: job, Unit: l.Unit, From: l.From, Reason: l.Reason, Time: l.Time}, l.Size, nil
}

// List implements [dead.Store].
func (d *Dead) List(ctx context.Context, job crawl.JobUID, limit int) ([]dead.Letter, error) {
	rows, err := d.s.query(ctx, d.s.partOf(topology.TableJobs, letterPartition(job), "", nil), max(limit, 0))
	if err != nil {
		return nil, fmt.Errorf("list dead letters of job %s: %w", job, err)
	}
	letters := make([]dead.Letter, len(rows))
	for i, r := range rows {
		if letters[i], _, err = d.unpack(job, r); err != nil {
			return nil, fmt.Errorf("list dead letters of job %s: %w", job, err)
		}
	}
	return letters, nil
}

// Get implements [dead.Store].
func (d *Dead) Get(ctx context.Context, job crawl.JobUID, id string) (dead.Letter, bool, error) {
	r, err := d.s.getRow(ctx, topology.TableJobs, letterKey(job, id))
	if err == nil && r == nil {
		return dead.Letter{}, false, nil
	}
	var l dead.Letter
	size := 0
	if err == nil {
		l, size, err = d.unpack(job, r)
	}
	if err == nil && size > 0 {
		l.Body, err = d.bodies.Get(ctx, letterBlob(job, id), 0, -1)
	}
	if err != nil {
		return dead.Letter{}, false, fmt.Errorf("read dead letter %s of job %s: %w", id, job, err)
	}
	return l, true, nil
}

// Delete implements [dead.Store]. The row goes first, so that none is without
// its message.
func (d *Dead) Delete(ctx context.Context, job crawl.JobUID, id string) error {
	_, err := d.s.rows.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: d.s.table(topology.TableJobs), Key: letterKey(job, id),
	})
	if err == nil {
		err = d.bodies.Delete(ctx, letterBlob(job, id))
	}
	if err != nil {
		return fmt.Errorf("delete dead letter %s of job %s: %w", id, job, err)
	}
	return nil
}
