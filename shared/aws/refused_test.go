package aws

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/topology"
)

// refusing is a DynamoDB that refuses every conditional write and hands
// nothing over; standing is what a read finds.
func refusing(t *testing.T, standing record) (f *fakeRows, puts *int) {
	puts = new(int)
	return &fakeRows{
		putItem: func(*dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
			*puts++
			return nil, &types.ConditionalCheckFailedException{}
		},
		getItem: func(in *dynamodb.GetItemInput) (*dynamodb.GetItemOutput, error) {
			if !*in.ConsistentRead {
				t.Error("what stands there is not read strongly")
			}
			if *in.TableName != "fake-"+topology.TableFrontier {
				return &dynamodb.GetItemOutput{}, nil
			}
			return &dynamodb.GetItemOutput{Item: standing}, nil
		},
	}, puts
}

func TestWhatAnEmulatorDoesNotHandOverIsRead(t *testing.T) {
	want := frontier.Row{Unit: unitN(1), By: unitN(2), State: frontier.Done}
	standing := packUnit(fakeJob, want)
	standing[topology.TTL] = asNumber(noon.Unix() + 1)
	f, puts := refusing(t, standing)
	s, _ := storeOver(t, f)
	stands, err := s.Frontier().Put(t.Context(), fakeJob, []frontier.Row{{Unit: unitN(1), State: frontier.Queued}})
	if err != nil || stands[0] == nil || stands[0].By != want.By || *puts != 1 {
		t.Errorf("after %d puts %v stands there (%v), want %v", *puts, stands, err, want)
	}
}

func TestAPutThatIsRefusedWhereNothingStandsEnds(t *testing.T) {
	f, puts := refusing(t, nil)
	s, _ := storeOver(t, f)
	_, err := s.Frontier().Put(t.Context(), fakeJob, []frontier.Row{{Unit: unitN(1), State: frontier.Queued}})
	if err == nil || *puts != putTries {
		t.Errorf("%d puts, %v; want an error after %d", *puts, err, putTries)
	}
}
