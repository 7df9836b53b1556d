// Package runtimeapi runs a Lambda function on one machine: it starts the
// function's bootstrap binary as often as there is work for it, and serves
// each of these processes the Lambda Runtime API, through which it takes
// events and gives its answers. So the very binary that is deployed runs here,
// unchanged.
//
// A [Pool] is one function and its environments. [Pool.Invoke] gives the event
// to the environment that was used last, starts one where all are busy and
// fewer than Config.Max live, and waits otherwise. As at AWS:
//
//   - One environment works on one event at a time, and stays for the next one.
//   - An invocation that lasts longer than Config.Timeout ends with a
//     [TimeoutError], and its process is killed.
//   - A process that ends while it has an event ends the invocation with an
//     [ExitError]; one that ends before it asked for the first event, or that
//     posts an error of its start, is an [InitError]. Another process takes its
//     place when there is work. Starts that fail are further apart each time.
//   - With Config.Freeze nothing of an environment runs between two events.
//   - A process has the variables that Lambda sets and those of Config.Env, and
//     of the parent's nothing but PATH, HOME and TMPDIR.
//
// What it leaves out: extensions, streamed answers, provisioned concurrency,
// and that memory is limited (Config.Memory is only told to the function). An
// environment lives until [Pool.Close].
//
// Processes are in process groups of their own. On Linux the system kills them
// when the parent dies, however it dies; elsewhere they notice that the Runtime
// API is gone, and end.
//
// Source of all that is said of Lambda here, where no other is named: AWS
// Lambda Developer Guide, "Using the Lambda runtime API for custom runtimes"
// and "Understanding the Lambda execution environment lifecycle".
package runtimeapi
