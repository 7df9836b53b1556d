package extract

import (
	"fmt"
	"testing"
)

func TestCompiledSelectorsAreKeptAndBounded(t *testing.T) {
	var c queryCache
	first, err := c.get("p")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := c.get("p"); again != first {
		t.Error("a selector was compiled twice")
	}
	for i := range 3 * maxCompiled {
		if _, err := c.get(fmt.Sprintf("p%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.queries) > maxCompiled {
		t.Errorf("%d are kept, want %d at most", len(c.queries), maxCompiled)
	}
}
