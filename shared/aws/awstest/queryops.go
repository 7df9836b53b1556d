package awstest

import (
	"hash/fnv"
	"slices"
)

// A readRequest is Query or Scan.
type readRequest struct {
	expressions
	TableName              string
	IndexName              string
	ConsistentRead         bool
	ExclusiveStartKey      item
	Limit                  *int
	ScanIndexForward       *bool
	Select                 string
	Segment, TotalSegments *int
	ReturnConsumedCapacity string
}

type readAnswer struct {
	Items               *[]item `json:",omitempty"`
	Count, ScannedCount int
	LastEvaluatedKey    item              `json:",omitempty"`
	ConsumedCapacity    *consumedCapacity `json:",omitempty"`
}

// A page gathers what one Query or Scan finds.
type page struct {
	b       *Backend
	in      readRequest
	request parsedRequest
	table   *table
	schema  keySchema // that of the index, if there is one
	rows    *collection
	start   *entry // where an earlier page ended

	items   []item
	scanned int
	bytes   int
	last    item
}

// page checks a request.
func (b *Backend) page(c *Call) (*page, error) {
	in, err := decode[readRequest](c)
	if err != nil {
		return nil, err
	}
	p := &page{b: b, in: in, items: []item{}}
	var bad *Error
	if p.table, bad = b.tableOf(in.TableName); bad != nil {
		return nil, bad
	}
	if p.request, bad = in.parse(); bad != nil {
		return nil, bad
	}
	p.schema, p.rows = p.table.schema, &p.table.rows
	if in.IndexName != "" {
		x := p.table.indexes[in.IndexName]
		if x == nil {
			return nil, validation("The table does not have the specified index: %s", in.IndexName)
		}
		if in.ConsistentRead {
			return nil, validation("Consistent reads are not supported on global secondary indexes")
		}
		p.schema, p.rows = x.schema, &x.rows
	}
	if in.Limit != nil && *in.Limit < 1 {
		return nil, validation("Value '%d' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1", *in.Limit)
	}
	if in.ExclusiveStartKey != nil {
		if bad := p.startAt(in.ExclusiveStartKey); bad != nil {
			return nil, bad
		}
	}
	return p, nil
}

// startAt makes the page begin after a key.
func (p *page) startAt(it item) *Error {
	it, err := checkedItem(it)
	if err != nil {
		return err
	}
	own, ok := p.schema.keyIn(it)
	base, ok2 := p.table.schema.keyIn(it)
	if !ok || !ok2 || len(it) != len(p.lastKey(it)) {
		return validation("The provided starting key is invalid")
	}
	p.start = &entry{own.rng, &row{key: base}}
	return nil
}

// lastKey is the key of an item with that of the index.
func (p *page) lastKey(it item) item {
	k := p.table.schema.keyItem(it)
	for name, v := range p.schema.keyItem(it) {
		k[name] = v
	}
	return k
}

// take looks at one row. It returns false when the page is full.
func (p *page) take(e entry) bool {
	it := p.b.seen(e.row, p.in.ConsistentRead)
	if p.rows != &p.table.rows {
		// An index that is behind has not got what has just come into it.
		if k, ok := p.schema.keyIn(it); !ok || k.rng != e.rng {
			return true
		}
	}
	if it == nil {
		return true
	}
	p.scanned++
	p.bytes += it.size()
	p.last = it
	if p.request.filter == nil || p.request.filter.holds(it) {
		p.items = append(p.items, it)
	}
	// The row that reaches the limit still belongs to the page.
	return p.bytes < maxPage && (p.in.Limit == nil || p.scanned < *p.in.Limit)
}

// answer is the page; full tells that there may be more.
func (p *page) answer(c *Call, full bool) readAnswer {
	out := readAnswer{Count: len(p.items), ScannedCount: p.scanned}
	if p.in.Select != "COUNT" {
		projected := make([]item, len(p.items))
		for i, it := range p.items {
			projected[i] = it.project(p.request.projection)
		}
		out.Items = &projected
	}
	if full && p.last != nil {
		out.LastEvaluatedKey = p.lastKey(p.last)
	}
	k := cost{table: p.table.name}
	units := readUnits(p.bytes, p.in.ConsistentRead)
	if p.in.IndexName != "" {
		k.indexRead = true
		k.addIndex(p.in.IndexName, units)
	} else {
		k.read = units
	}
	out.ConsumedCapacity = p.b.bill(c, k, p.in.ReturnConsumedCapacity)
	return out
}

func (b *Backend) query(c *Call) (any, error) {
	p, err := b.page(c)
	if err != nil {
		return nil, err
	}
	if p.request.keys == nil {
		return nil, validation("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	r, bad := p.schema.keyRange(p.request.keys)
	if bad != nil {
		return nil, bad
	}
	if p.request.filter != nil {
		if bad := p.schema.checkFilter(p.request.filter); bad != nil {
			return nil, bad
		}
	}
	var rows []entry
	if found := p.rows.byHash[r.hash]; found != nil {
		rows = found.rows
	}
	low, high := r.bounds(rows)
	backward := p.in.ScanIndexForward != nil && !*p.in.ScanIndexForward
	if p.start != nil {
		at, found := slices.BinarySearchFunc(rows, *p.start, entry.compare)
		if backward {
			high = min(high, at)
		} else if found {
			low = max(low, at+1)
		} else {
			low = max(low, at)
		}
	}
	full := false
	for i := low; i < high && !full; i++ {
		e := rows[i]
		if backward {
			e = rows[high-1-(i-low)]
		}
		full = !p.take(e)
	}
	return p.answer(c, full), nil
}

// checkFilter refuses a filter that looks at the key, which has its own
// condition.
func (s keySchema) checkFilter(c *condition) *Error {
	for _, kid := range c.kids {
		if err := s.checkFilter(kid); err != nil {
			return err
		}
	}
	for _, o := range c.args {
		if o.path == nil {
			continue
		}
		for _, a := range s.attributes() {
			if o.path[0].name == a.name {
				return validation("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", a.name)
			}
		}
	}
	return nil
}

func (b *Backend) scan(c *Call) (any, error) {
	p, err := b.page(c)
	if err != nil {
		return nil, err
	}
	in := p.in
	if (in.Segment == nil) != (in.TotalSegments == nil) || in.Segment != nil && (*in.Segment < 0 || *in.Segment >= *in.TotalSegments) {
		return nil, validation("The Segment parameter must be less than TotalSegments, and both or neither be given")
	}
	from, skip := p.scanFrom()
	full := false
	for _, part := range p.rows.order[from:] {
		if in.Segment != nil && int(uint64(part.hash)*uint64(*in.TotalSegments)>>32) != *in.Segment {
			continue
		}
		rows := part.rows
		if skip && part.key == p.startHash() {
			at, found := slices.BinarySearchFunc(rows, *p.start, entry.compare)
			if found {
				at++
			}
			rows = rows[at:]
		}
		for _, e := range rows {
			if full = !p.take(e); full {
				return p.answer(c, full), nil
			}
		}
	}
	return p.answer(c, full), nil
}

// startHash is the hash key where the earlier page ended.
func (p *page) startHash() string {
	k, _ := p.schema.keyIn(p.in.ExclusiveStartKey)
	return k.hash
}

// scanFrom is the partition at which a scan begins.
func (p *page) scanFrom() (from int, skip bool) {
	if p.start == nil {
		return 0, false
	}
	h := fnv.New32a()
	h.Write([]byte(p.startHash()))
	from, _ = slices.BinarySearchFunc(p.rows.order, &partition{key: p.startHash(), hash: h.Sum32()}, (*partition).compare)
	return from, true
}
