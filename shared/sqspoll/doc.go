// Package sqspoll does on one machine what Lambda's event source mapping of an
// SQS queue does: it receives messages, invokes a function with batches of
// them, and deletes those that the function does not report as failed.
//
// A [Mapping] is one queue and one function; [Mapping.Run] works until it is
// told to stop. As at AWS:
//
//   - A batch is invoked when it has Batch messages, when Window is over since
//     its first one, or when the next message would make the event larger than
//     6 MB. Without a window it is what one poll gave.
//   - Up to Concurrency invocations are under way. Nothing is received while
//     that many are, so a message spends its visibility time-out being worked
//     on, and not waiting.
//   - What an invocation that fails was given comes again after its visibility
//     time-out; so does each message whose identifier stands in the response's
//     batchItemFailures. All others are deleted. An identifier that is empty,
//     missing or none of the batch's fails the whole batch; so does a response
//     that is no JSON. A response that is empty or null, or has no list,
//     reports success. (The mapping is one with ReportBatchItemFailures.)
//   - An invocation that is throttled ([ErrThrottled]) is tried again while its
//     messages are hidden.
//
// SQS itself counts the receives and moves a message to the dead-letter queue.
//
// What it leaves out: first-in-first-out queues (their order is not kept when a
// message fails), filters, and the ramp of invocations, which is at its height
// from the start.
//
// Source of all that is said of Lambda here: AWS Lambda Developer Guide, "Using
// Lambda with Amazon SQS" and "Handling errors for an SQS event source in
// Lambda".
package sqspoll
