package runtimeapi

import (
	"errors"
	"fmt"
	"time"
)

// ErrClosed is returned for what a pool was asked when it was closed, or what
// its closing broke off.
var ErrClosed = errors.New("the pool is closed")

// ErrTooLarge is returned for an event of more than [MaxPayload] bytes; the
// function does not see it.
var ErrTooLarge = errors.New("the event is larger than 6 MB")

// A FunctionError is what a function answers with in place of a response. Its
// environment takes the next event, unless it ends.
type FunctionError struct {
	// Type and Message are the runtime's errorType and errorMessage.
	Type, Message string
	// Payload is the whole JSON that the runtime posted.
	Payload []byte
}

func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// responseTooLarge is the error of a response of more than [maxResponse] bytes.
func responseTooLarge() *FunctionError {
	return &FunctionError{
		Type:    "Function.ResponseSizeTooLarge",
		Message: fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", maxResponse),
	}
}

// A TimeoutError ends an invocation that lasted too long. Its environment is
// killed.
type TimeoutError struct {
	// After is the function's time-out.
	After time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("Task timed out after %.2f seconds", e.After.Seconds())
}

// Timeout is true, as with the errors of package net.
func (e *TimeoutError) Timeout() bool { return true }

// An ExitError ends an invocation whose environment ended before it answered.
type ExitError struct {
	// State says how the process ended, such as "exit status 2" or "signal:
	// killed".
	State string
	// Line is what the process said last on its standard error output, or the
	// first line of its panic; it may be empty.
	Line string
}

func (e *ExitError) Error() string {
	return "Runtime.ExitError: the environment ended with " + e.State + said(e.Line)
}

// An InitError is a start that failed: the binary could not be run, ended
// before it asked for an event, took too long for that, or posted an error.
type InitError struct {
	// Type and Message are the runtime's errorType and errorMessage if it
	// posted any.
	Type, Message string
	// State says how the process ended; it is empty if it was never there.
	State string
	// Line is as in [ExitError].
	Line string
	// Err is why the process could not be started, if it could not, or that
	// it took too long.
	Err error
}

func (e *InitError) Error() string {
	switch {
	case e.Message != "" || e.Type != "":
		return fmt.Sprintf("the start failed: %s: %s (%s)", e.Type, e.Message, e.State)
	case e.Err != nil && e.State == "":
		return "the start failed: " + e.Err.Error()
	case e.Err != nil:
		return "the start failed: " + e.Err.Error() + said(e.Line)
	}
	return "the start failed: the process ended with " + e.State + " before it asked for an event" + said(e.Line)
}

func (e *InitError) Unwrap() error { return e.Err }

func said(line string) string {
	if line == "" {
		return ""
	}
	return ": " + line
}
