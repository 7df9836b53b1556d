package awstest

import (
	"net/http"
	"strings"
)

// A Hook is called before each operation and decides what goes wrong. It may
// call the Backend. It must be safe for concurrent use.
type Hook func(c *Call) Fault

// A Fault is what goes wrong with one call; the zero value is nothing. At most
// one of Dropped, Error and Lost has an effect, in this order.
type Fault struct {
	// Dropped ends the connection without carrying the operation out.
	Dropped bool
	// Error is answered in place of carrying the operation out.
	Error *Error
	// Lost carries the operation out and ends the connection without an
	// answer.
	Lost bool
	// Refuse tells of each entry of a batch, by its place in the request,
	// whether it is left undone: an entry of Failed in batches of SQS,
	// UnprocessedItems or UnprocessedKeys in those of DynamoDB, an Error in
	// DeleteObjects. Keys of a BatchGetItem count through all tables, in the
	// order of the tables' names.
	Refuse func(i int) bool
	// After is called when the operation has been carried out, before its
	// answer is seen.
	After func()
}

// SetHook makes h decide about every call from now on; nil for none.
func (b *Backend) SetHook(h Hook) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hook = h
}

// An Error is an error of a service as it is answered.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code is what the SDK maps to its types, such as
	// "ConditionalCheckFailedException".
	Code string
	// QueryCode is the code of SQS's older protocol, which SDK clients show
	// in place of Code; empty for the same.
	QueryCode string
	Message   string

	item item // what stands there, for failed conditions
	// reasons are those of each part of a transaction.
	reasons []cancelReason
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Throttled returns the error with which a service refuses a call because
// there are too many, by the operation as in [Call.Op].
func Throttled(op string) *Error {
	switch service, _, _ := strings.Cut(op, "."); service {
	case "sqs":
		return &Error{Status: http.StatusForbidden, Code: "RequestThrottled", Message: "The request was denied due to request throttling."}
	case "dynamodb":
		return &Error{
			Status: http.StatusBadRequest, Code: "ProvisionedThroughputExceededException",
			Message: "The level of configured provisioned throughput for the table was exceeded. " +
				"Consider increasing your provisioning level with the UpdateTable API.",
		}
	default:
		return &Error{Status: http.StatusServiceUnavailable, Code: "SlowDown", Message: "Please reduce your request rate."}
	}
}

// Unavailable returns an error of the service's own, by the operation as in
// [Call.Op].
func Unavailable(op string) *Error {
	code := "InternalError"
	if strings.HasPrefix(op, "dynamodb.") {
		code = "InternalServerError"
	}
	return &Error{Status: http.StatusInternalServerError, Code: code, Message: "We encountered an internal error. Please try again."}
}
