package aws

import (
	"context"
	"fmt"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/topology"
)

// Lease implements [jobs.Store]. Its row in the table jobs is u, until when.
func (j *Jobs) Lease(ctx context.Context, name string, seconds int) (bool, error) {
	now := j.s.now()
	until := now.Add(time.Duration(seconds) * time.Second)
	key := record{"pk": asText("lease#" + keyText(name)), "sk": asText("lease")}
	r := record{
		"pk": key["pk"], "sk": key["sk"], "u": asNumber(until.UnixNano()),
		token: newToken(), topology.TTL: asNumber(until.Add(day).Unix()),
	}
	_, err := j.s.rows.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: j.s.table(topology.TableJobs), Item: r,
		ConditionExpression:       awssdk.String("attribute_not_exists(#key) OR u <= :now"),
		ExpressionAttributeNames:  map[string]string{"#key": "pk"},
		ExpressionAttributeValues: record{":now": asNumber(now.UnixNano())},

		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err == nil {
		return true, nil
	}
	stands, err := j.s.lost(ctx, topology.TableJobs, key, err)
	if err != nil {
		return false, fmt.Errorf("lease %s: %w", name, err)
	}
	return isOurs(stands, r[token]), nil
}

// day is for how long rows are kept that no longer matter.
const day = 24 * time.Hour
