package aws

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/topology"
)

// List implements [jobs.Store]. It reads the index, which follows the rows
// within a second as a rule: a job may be missing that was just created, and
// have the state that it had just before.
func (j *Jobs) List(ctx context.Context, project string, limit int, states ...crawl.JobState) ([]crawl.Job, error) {
	var all []crawl.Job
	for _, phase := range phasesOf(states) {
		list, err := j.listPhase(ctx, phase, limit, func(job crawl.Job) bool {
			return (project == "" || job.Project == project) && (len(states) == 0 || slices.Contains(states, job.State))
		})
		if err != nil {
			return nil, fmt.Errorf("list jobs: %w", err)
		}
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b crawl.Job) int {
		return cmp.Or(cmp.Compare(createdAt(b), createdAt(a)), cmp.Compare(b.Rev, a.Rev))
	})
	all = onceEach(all)
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	return all, nil
}

// phasesOf are the parts of the index that have jobs of some states; none are
// all.
func phasesOf(states []crawl.JobState) []string {
	if len(states) == 0 {
		return []string{phaseOpen, phaseEnded}
	}
	var phases []string
	for _, state := range states {
		if phase := phaseOf(state); !slices.Contains(phases, phase) {
			phases = append(phases, phase)
		}
	}
	return phases
}

// onceEach keeps the latest of what is listed twice: a job that ends between
// the two reads is found in both.
func onceEach(list []crawl.Job) []crawl.Job {
	return slices.CompactFunc(list, func(a, b crawl.Job) bool { return a.UID == b.UID })
}

// leastPage is how many jobs are read at least to find a few that are wanted.
const leastPage = 50

// listPhase reads jobs of one phase, newest first, at most limit (0: all) of
// those wanted.
func (j *Jobs) listPhase(ctx context.Context, phase string, limit int, wanted func(crawl.Job) bool) ([]crawl.Job, error) {
	in := &dynamodb.QueryInput{
		TableName: j.s.table(topology.TableJobs), IndexName: awssdk.String(topology.IndexPhase),
		KeyConditionExpression:    awssdk.String("phase = :phase"),
		ExpressionAttributeValues: record{":phase": asText(phase)},
		ScanIndexForward:          awssdk.Bool(false),
	}
	page := 0
	if limit > 0 {
		page = max(limit, leastPage)
	}
	var list []crawl.Job
	err := j.s.queryEach(ctx, in, page, func(r record) (bool, error) {
		job, err := j.unpack(r)
		if err != nil {
			return false, err
		}
		if wanted(job) {
			list = append(list, job)
		}
		return limit <= 0 || len(list) < limit, nil
	})
	return list, err
}
