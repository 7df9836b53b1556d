package awstest

import (
	"cmp"
	"hash/fnv"
	"slices"
	"sort"
	"time"
)

// Limits of DynamoDB. Source: Amazon DynamoDB Developer Guide, "Quotas in
// Amazon DynamoDB" and "Constraints in Amazon DynamoDB".
const (
	maxHashKey  = 2048
	maxRangeKey = 1024
	maxItem     = 400 << 10
	maxPage     = 1 << 20
)

// A keySchema says which attributes make up a key, and their types.
type keySchema struct{ hash, rng keyAttribute }

// A keyAttribute is one of a key; without a name there is none.
type keyAttribute struct{ name, kind string }

func (s keySchema) attributes() []keyAttribute {
	if s.rng.name == "" {
		return []keyAttribute{s.hash}
	}
	return []keyAttribute{s.hash, s.rng}
}

// A key is a row's, in bytes that sort as the values do.
type key struct{ hash, rng string }

// A table is a table with its indexes.
type table struct {
	name    string
	schema  keySchema
	created time.Time
	// definition is what CreateTable said.
	definition createTable
	ttl        string // the attribute, or empty
	recovery   bool   // point-in-time recovery
	rows       collection
	indexes    map[string]*index
}

type index struct {
	schema keySchema
	rows   collection
}

// A row is an item, and what it was before the last write. The item is nil if
// it was deleted, which is kept only for reads that are stale.
type row struct {
	key     key
	item    item
	size    int
	before  item
	changed time.Time
}

// seen is the item as a read sees it.
func (b *Backend) seen(r *row, strong bool) item {
	if strong || b.stale == 0 || b.now().Sub(r.changed) >= b.stale {
		return r.item
	}
	return r.before
}

// A collection holds rows by a key, which the rows of an index share.
type collection struct {
	byHash map[string]*partition
	order  []*partition // by the hash of the key
}

type partition struct {
	key  string
	hash uint32
	rows []entry // sorted
}

// An entry is a row with the sort key by which the collection has it.
type entry struct {
	rng string
	row *row
}

func (e entry) compare(f entry) int {
	return cmp.Or(cmp.Compare(e.rng, f.rng), cmp.Compare(e.row.key.hash, f.row.key.hash), cmp.Compare(e.row.key.rng, f.row.key.rng))
}

func (p *partition) compare(q *partition) int {
	return cmp.Or(cmp.Compare(p.hash, q.hash), cmp.Compare(p.key, q.key))
}

// partition returns the rows of a hash key, making the place for them.
func (c *collection) partition(hash string) *partition {
	if p := c.byHash[hash]; p != nil {
		return p
	}
	h := fnv.New32a()
	h.Write([]byte(hash))
	p := &partition{key: hash, hash: h.Sum32()}
	if c.byHash == nil {
		c.byHash = map[string]*partition{}
	}
	c.byHash[hash] = p
	i, _ := slices.BinarySearchFunc(c.order, p, (*partition).compare)
	c.order = slices.Insert(c.order, i, p)
	return p
}

func (c *collection) add(k key, r *row) {
	p := c.partition(k.hash)
	e := entry{k.rng, r}
	i, found := slices.BinarySearchFunc(p.rows, e, entry.compare)
	if !found {
		p.rows = slices.Insert(p.rows, i, e)
	}
}

func (c *collection) remove(k key, r *row) {
	p := c.byHash[k.hash]
	if p == nil {
		return
	}
	if i, found := slices.BinarySearchFunc(p.rows, entry{k.rng, r}, entry.compare); found {
		p.rows = slices.Delete(p.rows, i, i+1)
	}
	if len(p.rows) > 0 {
		return
	}
	delete(c.byHash, k.hash)
	i, _ := slices.BinarySearchFunc(c.order, p, (*partition).compare)
	c.order = slices.Delete(c.order, i, i+1)
}

// row finds a row of a table by its key; nil if there is none.
func (t *table) row(k key) *row {
	p := t.rows.byHash[k.hash]
	if p == nil {
		return nil
	}
	i := sort.Search(len(p.rows), func(i int) bool { return p.rows[i].rng >= k.rng })
	if i < len(p.rows) && p.rows[i].rng == k.rng {
		return p.rows[i].row
	}
	return nil
}

// current is the item that stands under a key.
func (t *table) current(k key) item {
	if r := t.row(k); r != nil {
		return r.item
	}
	return nil
}

// write puts an item in place of what stands under its key, or deletes it for
// nil, and returns what that costs.
func (b *Backend) write(t *table, k key, it item) cost {
	r := t.row(k)
	if r == nil {
		r = &row{key: k}
	}
	old, oldSize := r.item, r.size
	c := t.writeCost(old, it)
	r.before, r.changed = old, b.now()
	r.item, r.size = it, it.size()
	switch {
	case it != nil:
		t.rows.add(k, r)
	case b.stale == 0:
		t.rows.remove(k, r)
	}
	for name, x := range t.indexes {
		was, had := x.schema.keyIn(old)
		is, has := x.schema.keyIn(it)
		if had && (!has || was != is) {
			x.rows.remove(was, r)
		}
		if has && (!had || was != is) {
			x.rows.add(is, r)
		}
		c.addIndex(name, indexWrite(had, has, was == is, oldSize, r.size, old, it))
	}
	return c
}

// encode turns a key's value into bytes that sort as the values do.
func (a attribute) encode() string {
	switch {
	case a.S != nil:
		return *a.S
	case a.N != nil:
		d, _ := parseNumber(*a.N)
		return d.order()
	}
	return string(a.B)
}

// keyIn is an item's key in an index; ok is false if the index has not got it.
func (s keySchema) keyIn(it item) (k key, ok bool) {
	h, ok := it[s.hash.name]
	if !ok {
		return k, false
	}
	k.hash = h.encode()
	if s.rng.name != "" {
		r, ok := it[s.rng.name]
		if !ok {
			return k, false
		}
		k.rng = r.encode()
	}
	return k, true
}

// keyOf is the key of an item that is to be stored.
func (t *table) keyOf(it item) (key, *Error) {
	for _, a := range t.schema.attributes() {
		v, ok := it[a.name]
		if !ok {
			return key{}, validation("One or more parameter values were invalid: Missing the key %s in the item", a.name)
		}
		if v.kind() != a.kind {
			return key{}, validation("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s", a.name, a.kind, v.kind())
		}
	}
	k, _ := t.schema.keyIn(it)
	if err := t.schema.checkLength(k); err != nil {
		return k, err
	}
	for name, x := range t.indexes {
		for _, a := range x.schema.attributes() {
			if v, ok := it[a.name]; ok && v.kind() != a.kind {
				return k, validation("One or more parameter values were invalid: Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", a.name, a.kind, v.kind(), name)
			}
		}
		if ik, ok := x.schema.keyIn(it); ok {
			if err := x.schema.checkLength(ik); err != nil {
				return k, err
			}
		}
	}
	return k, nil
}

// checkLength holds the limits of key values.
func (s keySchema) checkLength(k key) *Error {
	const emptyKey = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s"
	words := map[string]string{"S": "string", "B": "binary", "N": "number"}
	switch {
	case k.hash == "":
		return validation(emptyKey, words[s.hash.kind], s.hash.name)
	case s.rng.name != "" && k.rng == "":
		return validation(emptyKey, words[s.rng.kind], s.rng.name)
	case len(k.hash) > maxHashKey:
		return validation("One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of%d bytes", maxHashKey)
	case len(k.rng) > maxRangeKey:
		return validation("One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of %d bytes", maxRangeKey)
	}
	return nil
}

// givenKey is the key that a request names by the key's attributes alone.
func (t *table) givenKey(it item) (key, *Error) {
	attributes := t.schema.attributes()
	ok := len(it) == len(attributes)
	for _, a := range attributes {
		if v, there := it[a.name]; !there || v.kind() != a.kind {
			ok = false
		}
	}
	if !ok {
		return key{}, validation("The provided key element does not match the schema")
	}
	k, _ := t.schema.keyIn(it)
	return k, t.schema.checkLength(k)
}

// keyItem is the part of an item that names it.
func (s keySchema) keyItem(it item) item {
	out := item{}
	for _, a := range s.attributes() {
		out[a.name] = it[a.name]
	}
	return out
}
