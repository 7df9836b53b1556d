package weburl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// readShared returns a file of the folder ../shared beside the repository, or
// skips the test where there is none.
func readShared(t testing.TB, path ...string) []byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
	name := filepath.Join(append([]string{dir, "..", "shared"}, path...)...)
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		t.Skipf("the corpora are not here: %s", filepath.Join(path...))
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readSharedJSON(t testing.TB, into any, path ...string) {
	t.Helper()
	if err := json.Unmarshal(readShared(t, path...), into); err != nil {
		t.Fatalf("%s: %v", filepath.Join(path...), err)
	}
}
