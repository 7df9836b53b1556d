package aws

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/jars"
	"github.com/skitterhq/skitter/shared/topology"
)

// Jars keeps the cookies that do not travel in their requests, in the table
// frontier, in partitions beside those of the units. A row is j (the text) or z
// (the text, compressed).
type Jars struct{ s *Store }

// Jars returns the store of cookies.
func (s *Store) Jars() *Jars { return &Jars{s} }

var _ jars.Store = (*Jars)(nil)

// jarKey spreads a job's rows over as many partitions as its units have, since
// one takes 1,000 write units a second.
func jarKey(job crawl.JobUID, hash jars.Hash) record {
	name := []byte(hash)
	return record{"job": asText(partition(job, int(name[0])%frontier.Shards) + "#jar"), "unit": asBytes(name)}
}

// Put implements [jars.Store].
func (j *Jars) Put(ctx context.Context, job crawl.JobUID, text string) error {
	expires, err := j.s.jobs.expiry.of(ctx, job)
	if err != nil {
		return fmt.Errorf("keep cookies of job %s: %w", job, err)
	}
	r := jarKey(job, jars.HashOf(text))
	body, small := compressed([]byte(text))
	setRaw(r, bodyName(small), body)
	r[topology.TTL] = asNumber(expires)
	_, err = j.s.rows.PutItem(ctx, &dynamodb.PutItemInput{TableName: j.s.table(topology.TableFrontier), Item: r})
	if err != nil {
		return fmt.Errorf("keep cookies of job %s: %w", job, err)
	}
	return nil
}

// Get implements [jars.Store]. A row never changes, so whatever a read finds is
// right, and the cheaper one goes first: only what it misses is read strongly.
func (j *Jars) Get(ctx context.Context, job crawl.JobUID, hash jars.Hash) (string, error) {
	text, err := j.get(ctx, job, hash)
	if err != nil {
		return "", fmt.Errorf("read cookies %.50s of job %s: %w", hash, job, err)
	}
	return text, nil
}

func (j *Jars) get(ctx context.Context, job crawl.JobUID, hash jars.Hash) (string, error) {
	if hash == "" || len(hash) > longestKey {
		return "", jars.ErrNotFound // DynamoDB takes no such key
	}
	for _, strong := range []bool{false, true} {
		r, err := j.s.readRow(ctx, topology.TableFrontier, jarKey(job, hash), strong)
		if err != nil {
			return "", err
		}
		if r != nil {
			return unpackJar(r)
		}
	}
	return "", jars.ErrNotFound
}

func unpackJar(r record) (string, error) {
	in := reader{record: r}
	body := in.raw("j")
	if r["z"] != nil {
		packed := in.raw("z")
		if in.err != nil {
			return "", in.err
		}
		var err error
		if body, err = decompress(packed); err != nil {
			return "", err
		}
	}
	return string(body), in.err
}
