package aws

import (
	"context"
	"fmt"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/topology"
)

// A job takes two rows: first its name's, which decides and holds the whole
// job as it was created (j), then its own. Who finds a name without its job
// writes the job's row: the creator died in between, or is still at it, and
// whichever comes first, the row is the same. So no two jobs have a name, no
// name is taken for a job that never runs, and no job runs that has no name.

// nameEnds is by how much earlier than its job's row a name's expires, in
// seconds: the job's must be there for as long as anybody can find the name,
// or it would be written, and run, a second time.
const nameEnds = 24 * 60 * 60

func nameKey(project, name string) record {
	return record{"pk": asText("name#" + keyText(project)), "sk": asText(keyText(name))}
}

// Create implements [jobs.Store].
func (j *Jobs) Create(ctx context.Context, job crawl.Job) (crawl.Job, bool, error) {
	stands, wrote, err := j.create(ctx, job)
	if err != nil {
		return crawl.Job{}, false, fmt.Errorf("create job %s: %w", job.Name, err)
	}
	return stands, wrote, nil
}

func (j *Jobs) create(ctx context.Context, job crawl.Job) (crawl.Job, bool, error) {
	row, err := j.pack(job)
	if err != nil {
		return crawl.Job{}, false, err
	}
	name := nameKey(job.Project, job.Name)
	name["j"], name[topology.TTL] = row["j"], asNumber(j.expiry.after(job.Latest)-nameEnds)
	names, values := j.s.absent("pk")
	_, err = j.s.rows.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: j.s.table(topology.TableJobs), Item: name, ConditionExpression: awssdk.String(isAbsent),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err != nil {
		taken, err := j.s.lost(ctx, topology.TableJobs, nameKey(job.Project, job.Name), err)
		if err != nil {
			return crawl.Job{}, false, err
		}
		if taken == nil {
			return crawl.Job{}, false, errRefused
		}
		first, err := j.unpack(taken)
		if err != nil {
			return crawl.Job{}, false, err
		}
		if first.UID != job.UID {
			stands, err := j.complete(ctx, taken)
			return stands, false, err
		}
		// The SDK sent the put twice, or the caller came back with its job.
	}
	stands, err := j.putNew(ctx, row, job)
	return stands, err == nil, err
}

// putNew writes a job's row unless it is there, and returns what stands there.
func (j *Jobs) putNew(ctx context.Context, row record, job crawl.Job) (crawl.Job, error) {
	names, values := j.s.absent("pk")
	_, err := j.s.rows.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: j.s.table(topology.TableJobs), Item: row, ConditionExpression: awssdk.String(isAbsent),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err == nil {
		j.expiry.note(job)
		return job, nil
	}
	stands, err := j.s.lost(ctx, topology.TableJobs, jobKey(job.UID), err)
	if err != nil {
		return crawl.Job{}, err
	}
	if stands == nil {
		return crawl.Job{}, errRefused
	}
	return j.unpack(stands)
}

// complete returns the job that a name's row is of, and writes the job's row
// if it is not there.
func (j *Jobs) complete(ctx context.Context, name record) (crawl.Job, error) {
	first, err := j.unpack(name)
	if err != nil {
		return crawl.Job{}, err
	}
	job, found, err := j.read(ctx, first.UID)
	if err != nil || found {
		return job, err
	}
	row, err := j.pack(first)
	if err != nil {
		return crawl.Job{}, err
	}
	return j.putNew(ctx, row, first)
}

// Find implements [jobs.Store].
func (j *Jobs) Find(ctx context.Context, project, name string) (crawl.Job, error) {
	r, err := j.s.getRow(ctx, topology.TableJobs, nameKey(project, name))
	if err == nil && r == nil {
		return crawl.Job{}, fmt.Errorf("%w: %s in project %s", jobs.ErrNotFound, name, project)
	}
	var job crawl.Job
	if err == nil {
		job, err = j.complete(ctx, r)
	}
	if err != nil {
		return crawl.Job{}, fmt.Errorf("read job %s in project %s: %w", name, project, err)
	}
	return job, nil
}
