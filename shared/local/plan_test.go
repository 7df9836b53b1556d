package local

import (
	"strings"
	"testing"
)

// TestWalksFollowAnIndex asks SQLite how it will run the queries that must not
// grow with the tables: by an index to the first row, and on in its order.
func TestWalksFollowAnIndex(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, query := range map[string]string{
		"due of a job":         dueOfJob,
		"take of a job":        takeOfJob,
		"next job":             nextJob,
		"next due of a job":    nextOfJob,
		"free of a job":        freeOfJob,
		"scan of the frontier": scanRows,
		"scan of items":        scanItems,
		"scan after an item":   scanItemsAfter,
	} {
		q := s.writer.conn.Stmt(`EXPLAIN QUERY PLAN ` + query)
		var plan []string
		for q.Next() {
			plan = append(plan, q.ColText(3))
		}
		if err := q.End(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := strings.Join(plan, "; ")
		if got == "" || strings.Contains(got, "SCAN") || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
