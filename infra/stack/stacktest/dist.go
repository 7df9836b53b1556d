// Package stacktest stands in for what a stack is deployed from.
//
// It is for tests only.
package stacktest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skitterhq/skitter/shared/topology"
)

// Dist is a folder with a file in place of each binary, so that none need be
// built.
func Dist(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range topology.Default("any").Functions {
		path := filepath.Join(dir, f.Name, "bootstrap")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("the binary of "+f.Name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
