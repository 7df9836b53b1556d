package awstest

import (
	"maps"
	"slices"
)

// Limits of the batches. Source: Amazon DynamoDB API Reference, BatchGetItem
// and BatchWriteItem.
const (
	maxGets       = 100
	maxWrites     = 25
	maxBatchBytes = 16 << 20
)

// keysOf are the keys of one table in a BatchGetItem.
type keysOf struct {
	Keys                     []item
	ConsistentRead           *bool             `json:",omitempty"`
	ProjectionExpression     *string           `json:",omitempty"`
	ExpressionAttributeNames map[string]string `json:",omitempty"`
}

func (b *Backend) batchGetItem(c *Call) (any, error) {
	in, err := decode[struct {
		RequestItems           map[string]keysOf
		ReturnConsumedCapacity string
	}](c)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, r := range in.RequestItems {
		n += len(r.Keys)
	}
	if n == 0 {
		return nil, validation("The requestItems parameter is required for BatchGetItem")
	}
	if n > maxGets {
		return nil, validation("Too many items requested for the BatchGetItem call")
	}
	var out struct {
		Responses        map[string][]item
		UnprocessedKeys  map[string]keysOf
		ConsumedCapacity []*consumedCapacity `json:",omitempty"`
	}
	out.Responses, out.UnprocessedKeys = map[string][]item{}, map[string]keysOf{}
	g := getter{b: b, c: c}
	// All is checked before anything is read.
	for _, check := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
			r := in.RequestItems[name]
			found, left, k, err := g.get(name, r, check)
			if err != nil {
				return nil, err
			}
			if check {
				continue
			}
			out.Responses[name] = found
			if len(left) > 0 {
				r.Keys = left
				out.UnprocessedKeys[name] = r
			}
			if used := b.bill(c, k, in.ReturnConsumedCapacity); used != nil {
				out.ConsumedCapacity = append(out.ConsumedCapacity, used)
			}
		}
	}
	return out, nil
}

// A getter reads the keys of a BatchGetItem.
type getter struct {
	b     *Backend
	c     *Call
	at    int // the place of the key in the request
	bytes int
}

// get reads the keys of one table, or only checks them.
func (g *getter) get(name string, r keysOf, check bool) (found, left []item, k cost, err *Error) {
	t, err := g.b.tableOf(name)
	if err != nil {
		return nil, nil, k, err
	}
	p, err := expressions{ProjectionExpression: r.ProjectionExpression, ExpressionAttributeNames: r.ExpressionAttributeNames}.parse()
	if err != nil {
		return nil, nil, k, err
	}
	strong := r.ConsistentRead != nil && *r.ConsistentRead
	k.table = name
	found = []item{}
	seen := map[key]bool{}
	for _, given := range r.Keys {
		at, err := t.givenKey(given)
		if err != nil {
			return nil, nil, k, err
		}
		if seen[at] {
			return nil, nil, k, validation("Provided list of item keys contains duplicates")
		}
		seen[at] = true
		if check {
			continue
		}
		it, read := g.b.read(t, at, strong)
		refused := g.c.refuses(g.at)
		g.at++
		if refused || g.bytes+it.size() > maxBatchBytes {
			left = append(left, given)
			continue
		}
		g.bytes += it.size()
		k.add(read)
		if it != nil {
			found = append(found, it.project(p.projection))
		}
	}
	return found, left, k, nil
}

// A batchWrite is one write of a BatchWriteItem.
type batchWrite struct {
	PutRequest    *struct{ Item item } `json:",omitempty"`
	DeleteRequest *struct{ Key item }  `json:",omitempty"`
}

func (w batchWrite) request(table string) (op string, in writeRequest, err *Error) {
	switch {
	case w.PutRequest != nil && w.DeleteRequest == nil:
		return "PutItem", writeRequest{TableName: table, Item: w.PutRequest.Item}, nil
	case w.DeleteRequest != nil && w.PutRequest == nil:
		return "DeleteItem", writeRequest{TableName: table, Key: w.DeleteRequest.Key}, nil
	}
	return "", in, validation("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
}

func (b *Backend) batchWriteItem(c *Call) (any, error) {
	in, err := decode[struct {
		RequestItems                map[string][]batchWrite
		ReturnConsumedCapacity      string
		ReturnItemCollectionMetrics string
	}](c)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, list := range in.RequestItems {
		n += len(list)
	}
	if n == 0 {
		return nil, validation("The requestItems parameter is required for BatchWriteItem")
	}
	if n > maxWrites {
		return nil, validation("Too many items requested for the BatchWriteItem call")
	}
	if len(c.Body) > 2*maxBatchBytes {
		return nil, validation("The batch is longer than %d bytes", maxBatchBytes)
	}
	names := slices.Sorted(maps.Keys(in.RequestItems))
	writes := map[string][]prepared{}
	for _, name := range names {
		list, bad := b.prepareAll(name, in.RequestItems[name])
		if bad != nil {
			return nil, bad
		}
		writes[name] = list
	}
	var out struct {
		UnprocessedItems map[string][]batchWrite
		ConsumedCapacity []*consumedCapacity `json:",omitempty"`
	}
	out.UnprocessedItems = map[string][]batchWrite{}
	at := 0
	for _, name := range names {
		k := cost{table: name}
		for i, w := range writes[name] {
			if c.refuses(at) {
				out.UnprocessedItems[name] = append(out.UnprocessedItems[name], in.RequestItems[name][i])
			} else {
				k.add(b.write(w.table, w.key, w.after))
			}
			at++
		}
		if used := b.bill(c, k, in.ReturnConsumedCapacity); used != nil {
			out.ConsumedCapacity = append(out.ConsumedCapacity, used)
		}
	}
	return out, nil
}

// prepareAll checks the writes of one table.
func (b *Backend) prepareAll(name string, list []batchWrite) ([]prepared, *Error) {
	var out []prepared
	seen := map[key]bool{}
	for _, one := range list {
		op, r, err := one.request(name)
		if err != nil {
			return nil, err
		}
		w, err := b.prepare(op, r)
		if err != nil {
			return nil, err
		}
		if seen[w.key] {
			return nil, validation("Provided list of item keys contains duplicates")
		}
		seen[w.key] = true
		out = append(out, w)
	}
	return out, nil
}
