package local

import (
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// Names that are in the key of every row (jobs, queues) are kept once, and the
// rows have their numbers: shorter keys make smaller trees, and numbers are
// compared faster.
//
// A number, once given, is never changed, so it may be remembered; but only
// when it is known to be committed. numbers belongs to the writer's operations,
// one of which runs at a time.
type numbers struct {
	known map[string]int64
	fresh map[string]int64 // read or given by the transaction that runs
}

// maxNumbers is how many numbers are remembered at most.
const maxNumbers = 10_000

func newNumbers() *numbers { return &numbers{known: map[string]int64{}, fresh: map[string]int64{}} }

// find is the number of a name; 0 if it has none.
func (n *numbers) find(c *sqlite.Conn, name string) (int64, error) {
	if number, ok := n.known[name]; ok {
		return number, nil
	}
	number, err := findNumber(c, name)
	if number != 0 {
		n.fresh[name] = number
	}
	return number, err
}

// give is the number of a name, which gets one if it has none.
func (n *numbers) give(c *sqlite.Conn, name string) (int64, error) {
	number, err := n.find(c, name)
	if err != nil || number != 0 {
		return number, err
	}
	if err := c.Stmt(`INSERT INTO numbers (name) VALUES (?)`).Text(name).Run(); err != nil {
		return 0, err
	}
	return n.find(c, name)
}

// end is told the outcome of each transaction.
func (n *numbers) end(committed bool) {
	if len(n.fresh) == 0 {
		return
	}
	if committed {
		if len(n.known) > maxNumbers {
			clear(n.known)
		}
		for name, number := range n.fresh {
			n.known[name] = number
		}
	}
	clear(n.fresh)
}

// findNumber is find for connections that remember nothing.
func findNumber(c *sqlite.Conn, name string) (int64, error) {
	number := int64(0)
	q := c.Stmt(`SELECT n FROM numbers WHERE name = ?`).Text(name)
	if q.Next() {
		number = q.ColInt(0)
	}
	return number, q.End()
}
