package sqspoll

import (
	"strings"
	"testing"
)

func TestATraceCountsEachFunctionOfItsChain(t *testing.T) {
	header := ""
	for n := 1; n <= 3; n++ {
		for _, function := range []string{"fetch", "parse"} {
			got := readTrace(header)
			if times := got.times(function); times != n-1 {
				t.Errorf("%s: %s was invoked %d times, want %d", header, function, times, n-1)
			}
			header = got.next(function)
		}
	}
	if times := readTrace(header).times("control"); times != 0 {
		t.Errorf("%s: control was invoked %d times", header, times)
	}
	if root := strings.Count(header, "Root=1-"); root != 1 || strings.Count(header, "Lineage=") != 1 {
		t.Errorf("header %s, want one root and one lineage", header)
	}
	kept := readTrace("Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=a87bd80c:1|68fd508a:5").next("fetch")
	if want := "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=a87bd80c:1|68fd508a:5|" + hashOf("fetch") + ":1"; kept != want {
		t.Errorf("header %s, want %s", kept, want)
	}
}

func TestABatchGoesOnWithItsLongestChain(t *testing.T) {
	short := readTrace(trace{}.next("fetch"))
	long := readTrace(short.next("fetch"))
	if got := longestChain([]record{{}, {trace: long}, {trace: short}}, "fetch").times("fetch"); got != 2 {
		t.Errorf("the batch goes on with %d invocations, want 2", got)
	}
}
