//go:build !linux

package casetest

import "testing"

// openings cannot tell here whether a file is opened; that its content is
// nowhere is checked everywhere.
func openings(_ *testing.T, _ string, do func()) int {
	do()
	return 0
}
