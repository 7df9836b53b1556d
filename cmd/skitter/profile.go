package main

import (
	"fmt"
	"os"
	"runtime/pprof"
)

// profile writes a CPU profile of what follows into a file, for go tool pprof,
// until the returned function is called. Without a file it does nothing.
func profile(file string) (stop func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, wrongUse("--profile: %v", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}
