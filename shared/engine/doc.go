// Package engine is the flow of a crawl: the four functions, each told in the
// order of docs/architecture.md, section 1. They talk only through queues: a
// stage takes a batch of messages, works on the ports, and sends messages on.
//
// It runs chains that it is given and knows none of their parts, and it knows
// neither SQS nor SQLite: package assembly builds it, on either.
//
// The map. In Lambda, functions/NAME calls lambdahost.Main, whose Host.Invoke
// makes a batch of an event and hands it to a stage; on one machine the driver
// of assembly/machine does. Then, for a request:
//
//	Fetch          fetch.go    takes the batch
//	runBatch       intake.go   splits it: what may be poison (poison.go) apart,
//	                           then by job; oneJob reads the job and its Runtime
//	fetchable      fetch.go    leaves out duplicates
//	attempt        outcome.go  runs the downloader chain, whose innermost part
//	                           takes a turn (package slots) and dials (handlers)
//	sendOn         fetch.go    sends pages on, puts requests back, settles
//
//	Parse          parse.go    takes the page, runs the spider on it
//	outlet         outlet.go   admits its requests, sends its items, settles
//	Pipeline       pipeline.go keeps the items
//	account        account.go  counts, and asks for a look
//	Control        control.go  starts (start.go), looks, closes (close.go)
//	Sweep          sweep.go    finds what got lost
//	DeadLetters    letters.go  accounts for what queues gave up on (bury.go)
package engine
