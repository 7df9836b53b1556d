package extract

import (
	"fmt"
	"testing"
)

func TestCompiledSelectorsAreKeptAndBounded(t *testing.T) {
	var c cache[string, *Query]
	compiled := func(text string) func() (*Query, error) { return func() (*Query, error) { return CompileCSS(text) } }
	first, err := c.get("p", compiled("p"))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := c.get("p", compiled("p")); again != first {
		t.Error("a selector was compiled twice")
	}
	for i := range 3 * maxCompiled {
		text := fmt.Sprintf("p%d", i)
		if _, err := c.get(text, compiled(text)); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.kept) > maxCompiled {
		t.Errorf("%d are kept, want %d at most", len(c.kept), maxCompiled)
	}
}
