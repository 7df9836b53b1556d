package aws

import (
	"context"
	"fmt"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/origins"
	"github.com/skitterhq/skitter/shared/topology"
)

const (
	// originsKept is for how long an answer is kept that has expired: it may
	// be used while the file is unreachable. Source: RFC 9309, section 2.4,
	// which names no time.
	originsKept = 30 * day
	// longestBody is how much of a file stands in its origin's row; a row has
	// at most 400 KB. Source: Amazon DynamoDB Developer Guide, "Quotas".
	longestBody = 350_000
)

// Origins keeps the rows of origins in the table hosts. A row is c (status), e
// (expires), n (since), j (the file) or z (the file, compressed), f (the name
// of the row that has the rest of it), and u, until when it is leased.
type Origins struct{ s *Store }

// Origins returns the rows of origins.
func (s *Store) Origins() *Origins { return &Origins{s} }

var _ origins.Store = (*Origins)(nil)

func originKey(origin string) record { return record{"pk": asText("origin#" + keyText(origin))} }

// Get implements [origins.Store].
func (o *Origins) Get(ctx context.Context, origin string) (origins.Row, bool, error) {
	r, err := o.s.getRow(ctx, topology.TableHosts, originKey(origin))
	if err != nil {
		return origins.Row{}, false, fmt.Errorf("read origin %s: %w", origin, err)
	}
	in := reader{record: r}
	row := origins.Row{Status: int(in.number("c")), Expires: fromNano(in.number("e")), Since: fromNano(in.number("n"))}
	whole, err := o.body(ctx, &in, &row)
	if err == nil {
		err = in.err
	}
	if err != nil {
		return origins.Row{}, false, fmt.Errorf("read origin %s: %w", origin, err)
	}
	return row, row.Status != 0 && whole, nil
}

// body reads the file, and whether all of it is there.
func (o *Origins) body(ctx context.Context, in *reader, row *origins.Row) (bool, error) {
	name, body := "j", in.raw("j")
	if in.record["z"] != nil {
		name, body = "z", in.raw("z")
	}
	if rest := in.text("f"); rest != "" {
		r, err := o.s.getRow(ctx, topology.TableHosts, record{"pk": asText(rest)})
		if err != nil || r == nil {
			return false, err // without its rest the file is fetched again
		}
		more := reader{record: r}
		body = append(body[:len(body):len(body)], more.raw(name)...)
		if more.err != nil {
			return false, more.err
		}
	}
	if name == "z" {
		whole, err := decompress(body)
		if err != nil {
			return false, err
		}
		body = whole
	}
	row.Body = body
	return true, nil
}

// Put implements [origins.Store].
func (o *Origins) Put(ctx context.Context, origin string, row origins.Row) error {
	latest := row.Expires
	if now := o.s.now(); latest.Before(now) {
		latest = now
	}
	r := originKey(origin)
	r[topology.TTL] = asNumber(latest.Add(originsKept).Unix())
	setNumber(r, "c", int64(row.Status))
	setNumber(r, "e", nano(row.Expires))
	setNumber(r, "n", nano(row.Since))
	body, small := compressed(row.Body)
	if len(body) > longestBody {
		if err := o.putRest(ctx, origin, r, bodyName(small), body[longestBody:]); err != nil {
			return fmt.Errorf("write origin %s: %w", origin, err)
		}
		body = body[:longestBody]
	}
	setRaw(r, bodyName(small), body)
	_, err := o.s.rows.PutItem(ctx, &dynamodb.PutItemInput{TableName: o.s.table(topology.TableHosts), Item: r})
	if err != nil {
		return fmt.Errorf("write origin %s: %w", origin, err)
	}
	return nil
}

// bodyName is the attribute of a file in its row.
func bodyName(compressed bool) string {
	if compressed {
		return "z"
	}
	return "j"
}

// putRest writes what of a file has no place in its row into one of its own,
// which has the content's hash for its name and so never holds another's.
func (o *Origins) putRest(ctx context.Context, origin string, r record, name string, rest []byte) error {
	at := asText("rest#" + hash(origin+"\n"+string(rest)))
	r["f"] = at
	_, err := o.s.rows.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: o.s.table(topology.TableHosts),
		Item:      record{"pk": at, name: asBytes(rest), topology.TTL: r[topology.TTL]},
	})
	return err
}

// Lease implements [origins.Store].
func (o *Origins) Lease(ctx context.Context, origin string, until time.Time) (bool, error) {
	mine := newToken()
	stands, took, err := o.lease(ctx, origin, until, mine)
	if err == nil && !took && stands == nil {
		// What stands there is past its time.
		if err = o.s.forget(ctx, topology.TableHosts, originKey(origin)); err == nil {
			stands, took, err = o.lease(ctx, origin, until, mine)
		}
	}
	if err != nil {
		return false, fmt.Errorf("lease origin %s: %w", origin, err)
	}
	return took || isOurs(stands, mine), nil
}

// lease takes a lease if it is free, else it returns the row that stands
// there.
func (o *Origins) lease(ctx context.Context, origin string, until time.Time, mine types.AttributeValue) (record, bool, error) {
	names, values := o.s.absent("pk")
	values[":u"], values[":t"] = asNumber(nano(until)), mine
	values[":now"], values[":expires"] = asNumber(o.s.now().UnixNano()), asNumber(until.Add(day).Unix())
	_, err := o.s.rows.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: o.s.table(topology.TableHosts), Key: originKey(origin),
		UpdateExpression:         awssdk.String("SET u = :u, t = :t, #expires = if_not_exists(#expires, :expires)"),
		ConditionExpression:      awssdk.String("attribute_not_exists(#key) OR (" + isPresent + " AND (attribute_not_exists(u) OR u <= :now))"),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err == nil {
		return nil, true, nil
	}
	stands, err := o.s.lost(ctx, topology.TableHosts, originKey(origin), err)
	return stands, false, err
}
