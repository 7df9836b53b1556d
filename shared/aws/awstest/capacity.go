package awstest

import "maps"

// Capacity is what DynamoDB would bill, in units. Source: Amazon DynamoDB
// Developer Guide, "DynamoDB read and write operations".
type Capacity struct{ Read, Write float64 }

// Capacity returns what the calls of each operation have consumed, by
// "dynamodb.Operation". Writes whose condition failed are among them, although
// no answer says what they cost.
func (b *Backend) Capacity() map[string]Capacity {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.capacity)
}

// A cost is what one operation consumes of one table.
type cost struct {
	table       string
	read, write float64
	indexes     map[string]float64
	// indexRead tells whether what the indexes cost is for reading.
	indexRead bool
}

func (c *cost) addIndex(name string, units float64) {
	if units == 0 {
		return
	}
	if c.indexes == nil {
		c.indexes = map[string]float64{}
	}
	c.indexes[name] += units
}

// add adds another cost of the same table.
func (c *cost) add(d cost) {
	c.table = d.table
	c.read += d.read
	c.write += d.write
	for name, units := range d.indexes {
		c.addIndex(name, units)
	}
}

// times is the cost of doing it in a transaction.
func (c cost) times(n float64) cost {
	out := cost{table: c.table, read: c.read * n, write: c.write * n}
	for name, units := range c.indexes {
		out.addIndex(name, units*n)
	}
	return out
}

// writeUnits is what writing an item of a size costs.
func writeUnits(size int) float64 { return float64(max(1, (size+1023)/1024)) }

// readUnits is what reading some bytes at once costs.
func readUnits(size int, strong bool) float64 {
	units := float64(max(1, (size+4095)/4096))
	if strong {
		return units
	}
	return units / 2
}

// writeCost is what a write costs the table itself: by the larger of the item
// before and after it.
func (t *table) writeCost(before, after item) cost {
	return cost{table: t.name, write: writeUnits(max(before.size(), after.size()))}
}

// indexWrite is what a write costs an index: nothing if its entry stays as it
// is, two writes if the entry moves.
func indexWrite(had, has, samePlace bool, oldSize, newSize int, old, it item) float64 {
	switch {
	case !had && !has:
		return 0
	case had && has && samePlace:
		if (attribute{M: old}).equal(attribute{M: it}) {
			return 0
		}
		return writeUnits(max(oldSize, newSize))
	}
	units := 0.0
	if had {
		units += writeUnits(oldSize)
	}
	if has {
		units += writeUnits(newSize)
	}
	return units
}

type capacityUnits struct{ CapacityUnits float64 }

type consumedCapacity struct {
	TableName              string
	CapacityUnits          float64
	Table                  *capacityUnits           `json:",omitempty"`
	GlobalSecondaryIndexes map[string]capacityUnits `json:",omitempty"`
}

// bill counts a cost and returns what the answer says of it; nil if it was not
// asked for.
func (b *Backend) bill(c *Call, k cost, want string) *consumedCapacity {
	total := k.read + k.write
	sum := b.capacity[c.Op]
	sum.Read += k.read
	sum.Write += k.write
	for _, units := range k.indexes {
		total += units
		if k.indexRead {
			sum.Read += units
		} else {
			sum.Write += units
		}
	}
	b.capacity[c.Op] = sum
	if want != "TOTAL" && want != "INDEXES" {
		return nil
	}
	out := &consumedCapacity{TableName: k.table, CapacityUnits: total}
	if want == "INDEXES" {
		out.Table = &capacityUnits{k.read + k.write}
		for name, units := range k.indexes {
			if out.GlobalSecondaryIndexes == nil {
				out.GlobalSecondaryIndexes = map[string]capacityUnits{}
			}
			out.GlobalSecondaryIndexes[name] = capacityUnits{units}
		}
	}
	return out
}
