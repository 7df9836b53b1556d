package robots

import "testing"

// Parts that tests look at by themselves.
var (
	PathOf    = pathOf
	Normalize = normalize
)

// Match compiles a pattern and matches path, which must be normalized.
func Match(t testing.TB, pattern, path string) bool {
	t.Helper()
	return compile(pattern, false).matches(path)
}
