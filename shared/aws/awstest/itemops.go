package awstest

import (
	"net/http"
	"slices"
)

// An expressions is the part of a request that has to do with expressions.
type expressions struct {
	ConditionExpression       *string
	FilterExpression          *string
	KeyConditionExpression    *string
	ProjectionExpression      *string
	UpdateExpression          *string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues map[string]attribute
}

// A parsedRequest has what the expressions of a request say; nil where there
// is none.
type parsedRequest struct {
	condition, filter, keys *condition
	update                  *update
	projection              []path
}

// parse reads all expressions of a request.
func (e expressions) parse() (p parsedRequest, err *Error) {
	holders := &placeholders{names: e.ExpressionAttributeNames, used: map[string]bool{}}
	if e.ExpressionAttributeValues != nil {
		if holders.values, err = checkedItem(e.ExpressionAttributeValues); err != nil {
			return p, err
		}
	}
	for _, x := range []struct {
		kind   string
		source *string
		to     **condition
	}{
		{"ConditionExpression", e.ConditionExpression, &p.condition},
		{"FilterExpression", e.FilterExpression, &p.filter},
		{"KeyConditionExpression", e.KeyConditionExpression, &p.keys},
	} {
		if x.source == nil {
			continue
		}
		if *x.to, err = parse(x.kind, *x.source, holders, (*parser).condition); err != nil {
			return p, err
		}
	}
	if e.ProjectionExpression != nil {
		if p.projection, err = parse("ProjectionExpression", *e.ProjectionExpression, holders, (*parser).paths); err != nil {
			return p, err
		}
	}
	if e.UpdateExpression != nil {
		if p.update, err = parse("UpdateExpression", *e.UpdateExpression, holders, (*parser).update); err != nil {
			return p, err
		}
	}
	return p, holders.unused()
}

// A writeRequest is PutItem, UpdateItem or DeleteItem.
type writeRequest struct {
	expressions
	TableName                           string
	Item, Key                           item
	ReturnValues                        string
	ReturnValuesOnConditionCheckFailure string
	ReturnConsumedCapacity              string
	ReturnItemCollectionMetrics         string
}

// A prepared write knows what stands there and what is to.
type prepared struct {
	table         *table
	key           key
	before, after item
	request       parsedRequest
	holds         bool // whether its condition does
}

// prepare reads a write and says what it would do; nothing is changed.
func (b *Backend) prepare(op string, in writeRequest) (w prepared, err *Error) {
	if w.table, err = b.tableOf(in.TableName); err != nil {
		return w, err
	}
	if w.request, err = in.parse(); err != nil {
		return w, err
	}
	if op == "PutItem" {
		if w.after, err = checkedItem(in.Item); err != nil {
			return w, err
		}
		w.key, err = w.table.keyOf(w.after)
	} else {
		w.key, err = w.table.givenKey(in.Key)
	}
	if err != nil {
		return w, err
	}
	w.before = w.table.current(w.key)
	w.holds = w.request.condition == nil || w.request.condition.holds(w.before)
	if !w.holds {
		return w, nil
	}
	if op == "UpdateItem" {
		if err = w.updated(in.Key); err != nil {
			return w, err
		}
	}
	if n := w.after.size(); n > maxItem {
		return w, validation("Item size has exceeded the maximum allowed size")
	}
	return w, nil
}

// updated finds out what an update makes of the item.
func (w *prepared) updated(given item) (err *Error) {
	before := w.before
	if before == nil {
		before = given
	}
	if w.request.update == nil {
		w.after = before
		return nil
	}
	for _, p := range w.request.update.paths() {
		for _, a := range w.table.schema.attributes() {
			if p[0].name == a.name {
				return validation("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", a.name)
			}
		}
	}
	if w.after, err = w.request.update.apply(before); err != nil {
		return err
	}
	_, err = w.table.keyOf(w.after)
	return err
}

// conditionFailed is the error of a write whose condition does not hold.
func (w prepared) conditionFailed(returned string) *Error {
	e := &Error{Status: http.StatusBadRequest, Code: "ConditionalCheckFailedException", Message: "The conditional request failed"}
	if returned == "ALL_OLD" {
		e.item = w.before
	}
	return e
}

type writeAnswer struct {
	Attributes       item              `json:",omitempty"`
	ConsumedCapacity *consumedCapacity `json:",omitempty"`
}

// writeItem carries out PutItem, UpdateItem or DeleteItem.
func (b *Backend) writeItem(op string, c *Call, returnable ...string) (any, error) {
	in, err := decode[writeRequest](c)
	if err != nil {
		return nil, err
	}
	if in.ReturnValues != "" && in.ReturnValues != "NONE" && !slices.Contains(returnable, in.ReturnValues) {
		return nil, validation("ReturnValues can only be NONE or %v: %s", returnable, in.ReturnValues)
	}
	w, bad := b.prepare(op, in)
	if bad != nil {
		return nil, bad
	}
	if !w.holds {
		b.bill(c, w.table.writeCost(w.before, w.after), "")
		return nil, w.conditionFailed(in.ReturnValuesOnConditionCheckFailure)
	}
	k := b.write(w.table, w.key, w.after)
	return writeAnswer{w.returned(in.ReturnValues), b.bill(c, k, in.ReturnConsumedCapacity)}, nil
}

// returned is what ReturnValues asks for. Of a nested value that an update
// touches it is the whole attribute.
func (w prepared) returned(want string) item {
	source := w.after
	if want == "ALL_OLD" || want == "UPDATED_OLD" {
		source = w.before
	}
	switch want {
	case "ALL_OLD", "ALL_NEW":
		return source
	case "UPDATED_OLD", "UPDATED_NEW":
		out := item{}
		if w.request.update == nil {
			return out
		}
		for _, p := range w.request.update.paths() {
			if v, ok := source[p[0].name]; ok {
				out[p[0].name] = v
			}
		}
		return out
	}
	return nil
}

func (b *Backend) putItem(c *Call) (any, error) { return b.writeItem("PutItem", c, "ALL_OLD") }

func (b *Backend) deleteItem(c *Call) (any, error) { return b.writeItem("DeleteItem", c, "ALL_OLD") }

func (b *Backend) updateItem(c *Call) (any, error) {
	return b.writeItem("UpdateItem", c, "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
}

func (b *Backend) getItem(c *Call) (any, error) {
	in, err := decode[struct {
		expressions
		TableName              string
		Key                    item
		ConsistentRead         bool
		ReturnConsumedCapacity string
	}](c)
	if err != nil {
		return nil, err
	}
	t, bad := b.tableOf(in.TableName)
	if bad != nil {
		return nil, bad
	}
	p, bad := in.parse()
	if bad != nil {
		return nil, bad
	}
	k, bad := t.givenKey(in.Key)
	if bad != nil {
		return nil, bad
	}
	it, read := b.read(t, k, in.ConsistentRead)
	out := struct {
		Item             item              `json:",omitempty"`
		ConsumedCapacity *consumedCapacity `json:",omitempty"`
	}{ConsumedCapacity: b.bill(c, read, in.ReturnConsumedCapacity)}
	if it != nil {
		out.Item = it.project(p.projection)
	}
	return out, nil
}

// read reads one item, nil if it is not there.
func (b *Backend) read(t *table, k key, strong bool) (item, cost) {
	var it item
	if r := t.row(k); r != nil {
		it = b.seen(r, strong)
	}
	return it, cost{table: t.name, read: readUnits(it.size(), strong)}
}
