package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/topology"
)

// A stage's counters are one row of the table jobs: an attribute a counter, its
// name after "c:", and m, when one of them last moved.
const (
	countersKey = "counters#"
	counterName = "c:"
)

// mostCounters is to how many counters one update adds: an expression has at
// most 4 KB and 300 operators. Source: Amazon DynamoDB Developer Guide,
// "Quotas", expression parameters.
const mostCounters = 100

// Add implements [jobs.Store].
func (j *Jobs) Add(ctx context.Context, uid crawl.JobUID, stage jobs.Stage, delta jobs.Counts) (jobs.Counts, error) {
	totals, err := j.add(ctx, uid, stage, delta)
	if err != nil {
		return nil, fmt.Errorf("add to the counters of job %s: %w", uid, err)
	}
	return totals, nil
}

// Note implements [jobs.Store].
func (j *Jobs) Note(ctx context.Context, uid crawl.JobUID, stage jobs.Stage, delta jobs.Counts) error {
	if _, err := j.note(ctx, uid, stage, delta); err != nil {
		return fmt.Errorf("add to the counters of job %s: %w", uid, err)
	}
	return nil
}

func (j *Jobs) add(ctx context.Context, uid crawl.JobUID, stage jobs.Stage, delta jobs.Counts) (jobs.Counts, error) {
	own, err := j.note(ctx, uid, stage, delta)
	if err != nil {
		return nil, err
	}
	if own == nil {
		stage = "" // its row was not written, so it is read with the others
	}
	totals, _, err := j.counters(ctx, uid, stage)
	if err != nil {
		return nil, err
	}
	_, err = addUp(totals, own)
	return totals, err
}

// note adds to a stage's counters and returns its row; nil if there is nothing
// to add.
func (j *Jobs) note(ctx context.Context, uid crawl.JobUID, stage jobs.Stage, delta jobs.Counts) (record, error) {
	if len(delta) == 0 {
		return nil, nil
	}
	key := record{"pk": asText(jobPartition(uid)), "sk": asText(countersKey + keyText(string(stage)))}
	expires, err := j.expiry.of(ctx, uid)
	if err != nil {
		return nil, err
	}
	var own record
	for names := range slices.Chunk(slices.Sorted(maps.Keys(delta)), mostCounters) {
		if own, err = j.addSome(ctx, key, names, delta, expires); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// addSome adds to some counters of a stage, and returns the stage's row. A row
// that is past its time is forgotten first. What the SDK sends twice in a row
// counts once: units that seem never to settle would keep the job open until
// the watchdog's round.
func (j *Jobs) addSome(ctx context.Context, key record, counters []string, delta jobs.Counts, expires int64) (record, error) {
	mine := newToken()
	in := &dynamodb.UpdateItemInput{
		TableName: j.s.table(topology.TableJobs), Key: key, ReturnValues: types.ReturnValueAllNew,
		ConditionExpression: awssdk.String("attribute_not_exists(#key) OR (" + isPresent + " AND (attribute_not_exists(t) OR t <> :t))"),

		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = j.s.absent("pk")
	var adds []string
	for i, name := range counters {
		place := strconv.Itoa(i)
		adds = append(adds, "#c"+place+" :c"+place)
		in.ExpressionAttributeNames["#c"+place] = counterName + name
		in.ExpressionAttributeValues[":c"+place] = asNumber(delta[name])
	}
	in.UpdateExpression = awssdk.String("SET m = :m, t = :t, #expires = :expires ADD " + strings.Join(adds, ", "))
	in.ExpressionAttributeValues[":t"] = mine
	in.ExpressionAttributeValues[":m"] = asNumber(j.s.now().UnixNano())
	in.ExpressionAttributeValues[":expires"] = asNumber(expires)
	out, err := j.s.rows.UpdateItem(ctx, in)
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		stands, unread := j.s.lost(ctx, topology.TableJobs, key, err)
		if unread != nil || isOurs(stands, mine) {
			return stands, unread
		}
		if err := j.s.forget(ctx, topology.TableJobs, key); err != nil {
			return nil, err
		}
		out, err = j.s.rows.UpdateItem(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

// forget deletes a row that is past its time.
func (s *Store) forget(ctx context.Context, table string, key record) error {
	names, values := s.present()
	_, err := s.rows.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: s.table(table), Key: key, ConditionExpression: awssdk.String("#expires <= :seconds"),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	return refusedIsFine(err)
}

// Totals implements [jobs.Store].
func (j *Jobs) Totals(ctx context.Context, uid crawl.JobUID) (jobs.Counts, error) {
	totals, _, err := j.counters(ctx, uid, "")
	if err != nil {
		return nil, fmt.Errorf("read the counters of job %s: %w", uid, err)
	}
	return totals, nil
}

// Moved implements [jobs.Store].
func (j *Jobs) Moved(ctx context.Context, uid crawl.JobUID) (time.Time, error) {
	_, moved, err := j.counters(ctx, uid, "")
	if err != nil {
		return time.Time{}, fmt.Errorf("read when job %s moved: %w", uid, err)
	}
	return fromNano(moved), nil
}

// counters are the sums of a job over all stages but one, "" for none, and
// when one of them last moved.
func (j *Jobs) counters(ctx context.Context, uid crawl.JobUID, but jobs.Stage) (jobs.Counts, int64, error) {
	in := j.s.partOf(topology.TableJobs, jobPartition(uid), beginsWith, asText(countersKey))
	rows, err := j.s.query(ctx, in, 0)
	if err != nil {
		return nil, 0, err
	}
	totals, moved := jobs.Counts{}, int64(0)
	for _, r := range rows {
		if sk := (&reader{record: r}).text("sk"); but != "" && sk == countersKey+keyText(string(but)) {
			continue
		}
		at, err := addUp(totals, r)
		if err != nil {
			return nil, 0, err
		}
		moved = max(moved, at)
	}
	return totals, moved, nil
}

// addUp adds a stage's counters to the totals, and returns when one of them
// last moved.
func addUp(totals jobs.Counts, r record) (moved int64, err error) {
	in := reader{record: r}
	for attribute := range r {
		if name, ok := strings.CutPrefix(attribute, counterName); ok {
			totals[name] += in.number(attribute)
		}
	}
	return in.number("m"), in.err
}
