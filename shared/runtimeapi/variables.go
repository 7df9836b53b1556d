package runtimeapi

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// handed are the parent's variables that a process gets, too.
var handed = []string{"PATH", "HOME", "TMPDIR"}

// variables is the environment of a process that finds the Runtime API at
// address. Of two values of one variable the later counts. AWS_EXECUTION_ENV
// is not among them, since a binary alone (provided.al2023) has none.
// Source: AWS Lambda Developer Guide, "Defined runtime environment variables".
func (c Config) variables(address string) []string {
	var env []string
	for _, name := range handed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	root := filepath.Dir(c.Command[0])
	env = append(env, "LANG=en_US.UTF-8", "TZ=:UTC")
	env = append(env, c.Env...)
	return append(env,
		"_HANDLER=bootstrap",
		"AWS_REGION="+c.Region,
		"AWS_DEFAULT_REGION="+c.Region,
		"AWS_LAMBDA_FUNCTION_NAME="+c.Name,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE="+strconv.Itoa(c.Memory),
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/"+c.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME="+time.Now().UTC().Format("2006/01/02")+"/[$LATEST]"+randomHex(16),
		"AWS_LAMBDA_RUNTIME_API="+address,
		"LAMBDA_TASK_ROOT="+root,
		"LAMBDA_RUNTIME_DIR="+root,
	)
}

// requestID returns a new random UUID (version 4).
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// traceID returns an X-Ray trace header of a trace that is not sampled.
// Source: AWS X-Ray Developer Guide, "Tracing header".
func traceID() string {
	return fmt.Sprintf("Root=1-%08x-%s;Parent=%s;Sampled=0", time.Now().Unix(), randomHex(12), randomHex(8))
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}
