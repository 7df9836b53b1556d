package lambdahost

import (
	"runtime/debug"
	"strconv"
)

const (
	// gcPercent lets the heap grow to four times what lives in it before it is
	// collected: a function's memory is paid for whether it is used or not,
	// and its CPU time is short.
	gcPercent = 300
	// heapShare is the part of a function's memory at which the collector
	// works harder than that, so that the rest is left for stacks and sockets.
	heapShare = 0.75
)

// useMemory has the garbage collector use the memory that a function has.
// Where that is not known all stays as it is.
func useMemory(getenv func(string) string) {
	megabytes, err := strconv.Atoi(getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"))
	if err != nil || megabytes <= 0 {
		return
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(int64(float64(megabytes) * heapShare * (1 << 20)))
}
