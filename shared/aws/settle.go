package aws

import (
	"context"
	"maps"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/topology"
)

// isQueued is the condition of every change of a unit's row. A change that has
// a token is made once, however often it is sent.
const isQueued = "s = :queued AND " + isPresent

// setting is the update that sets attributes, each to the value of its name
// after a colon, and removes others.
func setting(set record, remove []string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, name+" = :"+name)
	}
	update := "SET " + strings.Join(parts, ", ")
	if len(remove) > 0 {
		update += " REMOVE " + strings.Join(remove, ", ")
	}
	return update
}

// change updates the row of a queued unit. It returns the attributes that it
// changed and whether this very call did; mine is its token, nil for a change
// that may be made twice.
func (f *Frontier) change(ctx context.Context, key record, update string, set record, mine types.AttributeValue) (record, bool, error) {
	condition := isQueued
	names, values := f.s.present()
	values[":queued"] = asText(string(frontier.Queued))
	for name, value := range set {
		values[":"+name] = value
	}
	in := &dynamodb.UpdateItemInput{
		TableName: f.s.table(topology.TableFrontier), Key: key, UpdateExpression: &update,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValues: types.ReturnValueUpdatedNew,
	}
	if mine != nil {
		condition += " AND (attribute_not_exists(t) OR t <> :t)"
		in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	in.ConditionExpression = awssdk.String(condition)
	out, err := f.s.rows.UpdateItem(ctx, in)
	if err == nil {
		return out.Attributes, true, nil
	}
	if mine == nil {
		return nil, false, refusedIsFine(err)
	}
	stands, err := f.s.lost(ctx, topology.TableFrontier, key, err)
	if err != nil {
		return nil, false, err
	}
	return stands, isOurs(stands, mine), nil
}
