package topology

import (
	"fmt"
	"strconv"
)

// The variables that the functions read.
const (
	// EnvStack is the stack's name.
	EnvStack = "SKITTER_STACK"
	// EnvBucket is the bucket's name; empty means the stack's own.
	EnvBucket = "SKITTER_BUCKET"
	// EnvTimeScale divides every time of the stack, for tests; 1 if it is not
	// set.
	EnvTimeScale = "SKITTER_TIME_SCALE"
	// EnvAllowAddresses lists networks, with commas between, that requests
	// may go to although the address guard forbids them, such as
	// 127.0.0.0/8. It is empty in the cloud.
	EnvAllowAddresses = "SKITTER_ALLOW_ADDRESSES"
)

// Environment is what a stack's functions need to know of it, by variable.
func (s Stack) Environment() map[string]string {
	env := map[string]string{EnvStack: s.Name, EnvBucket: s.BucketName()}
	if s.scale != 1 {
		env[EnvTimeScale] = strconv.FormatFloat(s.scale, 'g', -1, 64)
	}
	return env
}

// FromEnvironment is the stack that a function belongs to. getenv returns a
// variable's value, empty if it is not set, as os.Getenv does. The error names
// the variable that is wrong.
func FromEnvironment(getenv func(string) string) (Stack, error) {
	name := getenv(EnvStack)
	if !namePattern.MatchString(name) {
		return Stack{}, fmt.Errorf("%s=%q: it must name the stack, 1 to 32 lower-case letters, digits and hyphens", EnvStack, name)
	}
	s := Default(name)
	s.Bucket = getenv(EnvBucket)
	text := getenv(EnvTimeScale)
	if text == "" {
		return s, nil
	}
	scale, err := strconv.ParseFloat(text, 64)
	if err != nil || !(scale >= 1 && scale <= MaxScale) { // said this way round, it refuses NaN
		return Stack{}, fmt.Errorf("%s=%q: it must be a number from 1 to %d", EnvTimeScale, text, MaxScale)
	}
	return s.Scaled(scale), nil
}
