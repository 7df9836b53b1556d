package aws

import (
	"context"
	"errors"
	"fmt"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/topology"
)

// Frontier keeps the rows of units in the table frontier. Its rows are s
// (state), b (by), p (priority), d (depth), q (request), m (marks), r (rounds),
// and of the outcome u (run), i (items), w (why).
type Frontier struct{ s *Store }

// Frontier returns the rows of units.
func (s *Store) Frontier() *Frontier { return &Frontier{s} }

var _ frontier.Store = (*Frontier)(nil)

// partition is the part of a job's rows that a shard has, in the tables
// frontier and items.
func partition(job crawl.JobUID, shard int) string { return fmt.Sprintf("%s#%02x", job, shard) }

// partitionOf is the part that a unit's rows are in.
func partitionOf(job crawl.JobUID, unit crawl.UnitID) string {
	return partition(job, unit.Shard(frontier.Shards))
}

func unitKey(job crawl.JobUID, unit crawl.UnitID) record {
	return record{"job": asText(partitionOf(job, unit)), "unit": asBytes(unit[:])}
}

func packUnit(job crawl.JobUID, row frontier.Row) record {
	r := unitKey(job, row.Unit)
	if !row.By.IsZero() {
		r["b"] = asBytes(row.By[:])
	}
	setText(r, "s", string(row.State))
	setNumber(r, "p", int64(row.Priority))
	setNumber(r, "d", int64(row.Depth))
	setRaw(r, "q", row.Req)
	setNumber(r, "m", int64(row.Marks))
	setNumber(r, "r", int64(row.Rounds))
	setText(r, "u", string(row.Run))
	setNumber(r, "i", int64(row.Items))
	setText(r, "w", row.Why)
	return r
}

func unpackUnit(r record) (frontier.Row, error) {
	in := reader{record: r}
	row := frontier.Row{
		State: frontier.State(in.text("s")), Priority: int(in.number("p")), Depth: int(in.number("d")),
		Req: in.raw("q"), Marks: int(in.number("m")), Rounds: int(in.number("r")),
		Outcome: frontier.Outcome{Run: crawl.RunID(in.text("u")), Items: int(in.number("i")), Why: in.text("w")},
	}
	if unit := in.raw("unit"); copy(row.Unit[:], unit) != len(unit) || len(unit) != len(row.Unit) {
		return row, fmt.Errorf("row of a unit of %d bytes", len(unit))
	}
	copy(row.By[:], in.raw("b"))
	if in.err != nil {
		return row, fmt.Errorf("row of unit %s: %w", row.Unit, in.err)
	}
	return row, nil
}

// Get implements [frontier.Store].
func (f *Frontier) Get(ctx context.Context, job crawl.JobUID, units []crawl.UnitID, c frontier.Consistency) (map[crawl.UnitID]frontier.Row, error) {
	rows := make(map[crawl.UnitID]frontier.Row, len(units))
	asked := make(map[crawl.UnitID]bool, len(units))
	var keys []record
	for _, unit := range units {
		if !asked[unit] {
			asked[unit] = true
			keys = append(keys, unitKey(job, unit))
		}
	}
	found, err := f.s.batchGet(ctx, topology.TableFrontier, keys, c == frontier.Strong)
	if err != nil {
		return nil, fmt.Errorf("read %d units of job %s: %w", len(keys), job, err)
	}
	for _, r := range found {
		row, err := unpackUnit(r)
		if err != nil {
			return nil, fmt.Errorf("read units of job %s: %w", job, err)
		}
		rows[row.Unit] = row
	}
	return rows, nil
}

// Put implements [frontier.Store].
func (f *Frontier) Put(ctx context.Context, job crawl.JobUID, rows []frontier.Row) ([]*frontier.Row, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	expires, err := f.s.jobs.expiry.of(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("write %d units of job %s: %w", len(rows), job, err)
	}
	mine := newToken()
	stands := make([]*frontier.Row, len(rows))
	err = forEach(ctx, len(rows), func(ctx context.Context, i int) (err error) {
		r := packUnit(job, rows[i])
		r[topology.TTL], r[token] = asNumber(expires), mine
		stands[i], err = f.putOne(ctx, r, unitKey(job, rows[i].Unit))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("write %d units of job %s: %w", len(rows), job, err)
	}
	return stands, nil
}

// putOne writes a row, or returns the one that stands there.
func (f *Frontier) putOne(ctx context.Context, r, key record) (*frontier.Row, error) {
	for range putTries {
		names, values := f.s.absent("unit")
		_, err := f.s.rows.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: f.s.table(topology.TableFrontier), Item: r, ConditionExpression: awssdk.String(isAbsent),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		if err == nil {
			return nil, nil
		}
		stands, err := f.s.lost(ctx, topology.TableFrontier, key, err)
		if err != nil || isOurs(stands, r[token]) {
			return nil, err
		}
		if stands != nil {
			row, err := unpackUnit(stands)
			return &row, err
		}
	}
	return nil, errRefused
}

// putTries is how often a row is put whose place is found empty after it was
// refused: what stood there can expire in between, once.
const putTries = 3

var errRefused = errors.New("a row is refused, and none stands there")

// Settle implements [frontier.Store].
func (f *Frontier) Settle(ctx context.Context, job crawl.JobUID, list []frontier.Settlement) ([]bool, error) {
	mine := newToken()
	closed := make([]bool, len(list))
	err := forEach(ctx, len(list), func(ctx context.Context, i int) error {
		s := list[i]
		set, remove := record{"s": asText(string(s.State))}, []string(nil)
		setText(set, "u", string(s.Run))
		setNumber(set, "i", int64(s.Items))
		setText(set, "w", s.Why)
		for _, name := range []string{"u", "i", "w"} {
			if _, ok := set[name]; !ok {
				remove = append(remove, name)
			}
		}
		set[token] = mine
		_, did, err := f.change(ctx, unitKey(job, s.Unit), setting(set, remove), set, mine)
		closed[i] = did
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("settle %d units of job %s: %w", len(list), job, err)
	}
	return closed, nil
}

// Mark implements [frontier.Store].
func (f *Frontier) Mark(ctx context.Context, job crawl.JobUID, unit crawl.UnitID) (int, error) {
	mine := newToken()
	row, did, err := f.change(ctx, unitKey(job, unit), "SET t = :t ADD m :m", record{token: mine, "m": asNumber(1)}, mine)
	in := reader{record: row}
	marks := in.number("m")
	if err == nil {
		err = in.err
	}
	if err != nil {
		return 0, fmt.Errorf("mark unit %s of job %s: %w", unit, job, err)
	}
	if !did {
		return 0, nil
	}
	return int(marks), nil
}

// Round implements [frontier.Store].
func (f *Frontier) Round(ctx context.Context, job crawl.JobUID, rounds map[crawl.UnitID]int) error {
	units := make([]crawl.UnitID, 0, len(rounds))
	for unit := range rounds {
		units = append(units, unit)
	}
	err := forEach(ctx, len(units), func(ctx context.Context, i int) error {
		set := record{"r": asNumber(int64(rounds[units[i]]))}
		_, _, err := f.change(ctx, unitKey(job, units[i]), setting(set, nil), set, nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("set the rounds of %d units of job %s: %w", len(units), job, err)
	}
	return nil
}

// Scan implements [frontier.Store].
func (f *Frontier) Scan(ctx context.Context, job crawl.JobUID, shard int, after *crawl.UnitID, limit int) ([]frontier.Row, error) {
	if shard < 0 || shard >= frontier.Shards {
		return nil, fmt.Errorf("scan shard %d of job %s: there are 0 to %d", shard, job, frontier.Shards-1)
	}
	condition, value := "", types.AttributeValue(nil)
	if after != nil {
		condition, value = sortsAfter, asBytes(after[:])
	}
	found, err := f.s.query(ctx, f.s.partOf(topology.TableFrontier, partition(job, shard), condition, value), limit)
	if err != nil {
		return nil, fmt.Errorf("scan shard %d of job %s: %w", shard, job, err)
	}
	rows := make([]frontier.Row, len(found))
	for i, r := range found {
		if rows[i], err = unpackUnit(r); err != nil {
			return nil, fmt.Errorf("scan shard %d of job %s: %w", shard, job, err)
		}
	}
	return rows, nil
}
