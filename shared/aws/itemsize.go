package aws

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	// documentOverhead is what a list or a map takes, in bytes, and
	// elementOverhead what each element of it takes. Source: Amazon DynamoDB
	// Developer Guide, "DynamoDB item sizes and formats".
	documentOverhead = 3
	elementOverhead  = 1
)

// itemSize is what DynamoDB takes an item for, in bytes, when it bills a read
// or a write: names and values. The 100 bytes that storing it costs are not in
// it. Source: Amazon DynamoDB Developer Guide, "DynamoDB item sizes and
// formats".
func itemSize(item map[string]types.AttributeValue) int {
	size := 0
	for name, v := range item {
		size += len(name) + valueSize(v)
	}
	return size
}

func valueSize(v types.AttributeValue) int {
	size := 0
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		size = len(v.Value)
	case *types.AttributeValueMemberN:
		size = numberSize(v.Value)
	case *types.AttributeValueMemberB:
		size = len(v.Value)
	case *types.AttributeValueMemberBOOL, *types.AttributeValueMemberNULL:
		size = 1
	case *types.AttributeValueMemberSS:
		for _, s := range v.Value {
			size += len(s)
		}
	case *types.AttributeValueMemberNS:
		for _, n := range v.Value {
			size += numberSize(n)
		}
	case *types.AttributeValueMemberBS:
		for _, b := range v.Value {
			size += len(b)
		}
	case *types.AttributeValueMemberL:
		size = documentOverhead
		for _, e := range v.Value {
			size += elementOverhead + valueSize(e)
		}
	case *types.AttributeValueMemberM:
		size = documentOverhead + itemSize(v.Value) + elementOverhead*len(v.Value)
	}
	return size
}

// numberSize is one byte for two significant digits, and one more. The guide
// says "approximately"; a sign, which it does not speak of, takes a byte
// according to github.com/zaccharles/dynamodb-calculator.
func numberSize(n string) int {
	n, _, _ = strings.Cut(strings.ToLower(n), "e")
	digits := strings.Trim(strings.Replace(strings.TrimLeft(n, "+-"), ".", "", 1), "0")
	size := (len(digits)+1)/2 + 1
	if strings.HasPrefix(n, "-") {
		size++
	}
	return size
}
