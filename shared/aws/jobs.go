package aws

import (
	"context"
	"encoding/json"
	"fmt"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/topology"
)

// Jobs keeps jobs, their names and counters and the leases in the table jobs.
// A job's row is j (the job as JSON) and v (its rev), and what the index is
// made of.
type Jobs struct {
	s      *Store
	expiry *expiry
}

func newJobs(s *Store) *Jobs { return &Jobs{s, newExpiry(s)} }

// Jobs returns the store of jobs.
func (s *Store) Jobs() *Jobs { return s.jobs }

var _ jobs.Store = (*Jobs)(nil)

// jobPartition is where a job's row and its counters are.
func jobPartition(uid crawl.JobUID) string { return "job#" + keyText(string(uid)) }

func jobKey(uid crawl.JobUID) record {
	return record{"pk": asText(jobPartition(uid)), "sk": asText("job")}
}

// The partitions of the index.
const (
	phaseOpen  = "open"
	phaseEnded = "ended"
)

func phaseOf(state crawl.JobState) string {
	if state.Ended() {
		return phaseEnded
	}
	return phaseOpen
}

// createdAt sorts jobs by time, and those of one time by their UIDs.
func createdAt(job crawl.Job) string {
	return job.Created.UTC().Format("2006-01-02T15:04:05.000000000Z") + "#" + keyText(string(job.UID))
}

func (j *Jobs) pack(job crawl.Job) (record, error) {
	encoded, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	r := jobKey(job.UID)
	r["j"], r["v"] = asBytes(encoded), asNumber(job.Rev)
	r["phase"], r["created"] = asText(phaseOf(job.State)), asText(createdAt(job))
	r[topology.TTL], r[token] = asNumber(j.expiry.after(job.Latest)), newToken()
	return r, nil
}

func (j *Jobs) unpack(r record) (crawl.Job, error) {
	in := reader{record: r}
	encoded := in.raw("j")
	if in.err != nil {
		return crawl.Job{}, fmt.Errorf("row of a job: %w", in.err)
	}
	var job crawl.Job
	if err := json.Unmarshal(encoded, &job); err != nil {
		return crawl.Job{}, fmt.Errorf("row of a job: %w", err)
	}
	j.expiry.note(job)
	return job, nil
}

// read reads a job's row strongly, and whether there is one.
func (j *Jobs) read(ctx context.Context, uid crawl.JobUID) (crawl.Job, bool, error) {
	return j.readAs(ctx, uid, true)
}

func (j *Jobs) readAs(ctx context.Context, uid crawl.JobUID, strong bool) (crawl.Job, bool, error) {
	r, err := j.s.readRow(ctx, topology.TableJobs, jobKey(uid), strong)
	if err != nil || r == nil {
		return crawl.Job{}, false, err
	}
	job, err := j.unpack(r)
	return job, err == nil, err
}

// Get implements [jobs.Store].
func (j *Jobs) Get(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) {
	return j.get(ctx, uid, true)
}

// Peek implements [jobs.Store] by an eventually consistent read.
func (j *Jobs) Peek(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) {
	return j.get(ctx, uid, false)
}

func (j *Jobs) get(ctx context.Context, uid crawl.JobUID, strong bool) (crawl.Job, error) {
	job, found, err := j.readAs(ctx, uid, strong)
	if err == nil && !found {
		return crawl.Job{}, fmt.Errorf("%w: %s", jobs.ErrNotFound, uid)
	}
	if err != nil {
		return crawl.Job{}, fmt.Errorf("read job %s: %w", uid, err)
	}
	return job, nil
}

// Update implements [jobs.Store].
func (j *Jobs) Update(ctx context.Context, job crawl.Job) (crawl.Job, bool, error) {
	stands, wrote, err := j.update(ctx, job)
	if err != nil {
		return crawl.Job{}, false, fmt.Errorf("update job %s: %w", job.UID, err)
	}
	return stands, wrote, nil
}

func (j *Jobs) update(ctx context.Context, job crawl.Job) (crawl.Job, bool, error) {
	names, values := j.s.present()
	values[":rev"] = asNumber(job.Rev)
	job.Rev++
	r, err := j.pack(job)
	if err != nil {
		return crawl.Job{}, false, err
	}
	_, err = j.s.rows.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: j.s.table(topology.TableJobs), Item: r, ConditionExpression: awssdk.String("v = :rev AND " + isPresent),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		ReturnValues:                        types.ReturnValueAllOld, // for the meter: a change of phase is a write of the index, too
	})
	if err == nil {
		j.expiry.note(job)
		return job, true, nil
	}
	stands, err := j.s.lost(ctx, topology.TableJobs, jobKey(job.UID), err)
	if err != nil {
		return crawl.Job{}, false, err
	}
	if stands == nil {
		return crawl.Job{}, false, jobs.ErrNotFound
	}
	old, err := j.unpack(stands)
	return old, err == nil && isOurs(stands, r[token]), err
}
