package stack

import "github.com/skitterhq/skitter/shared/topology"

// Access is what one function may do beside taking from its queues, logging and,
// in control, writing feeds and losing events. It follows the calls that its stage makes, and no more.
type Access struct {
	// Tables are the actions on each table.
	Tables map[string][]string
	// Indexes are those that are queried, by table.
	Indexes map[string][]string
	// Send are the queues that it sends to.
	Send []string
	// Read, Write and Delete are prefixes of the bucket.
	Read, Write, Delete []string
}

// The actions on tables. Rows are never scanned, and tables never changed.
var (
	// onJobs reads a job and its counters, adds to counters (which forgets
	// those that are past their time), ends a job early and keeps dead letters.
	onJobs = []string{"GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"}
	// onUnits reads, admits, marks and settles units.
	onUnits = []string{"GetItem", "BatchGetItem", "PutItem", "UpdateItem"}
	// onHosts takes turns at slots and keeps robots.txt.
	onHosts = []string{"GetItem", "PutItem", "UpdateItem", "DeleteItem"}
)

// requests are the lanes of requests.
var requests = []string{topology.QueueRequestHigh, topology.QueueRequest, topology.QueueRequestLow}

// accesses are those of the four functions.
func accesses() map[string]Access {
	return map[string]Access{
		topology.Control: {
			Tables: map[string][]string{
				topology.TableJobs:     onJobs,
				topology.TableFrontier: append([]string{"Query"}, onUnits...),
				// It reads them for feeds, and writes one for a dead letter.
				topology.TableItems: {"Query", "BatchWriteItem"},
			},
			Indexes: map[string][]string{topology.TableJobs: {topology.IndexPhase}},
			// It sends what a dead letter held again, wherever that was.
			Send: append([]string{topology.QueueControl, topology.QueuePage, topology.QueueItem}, requests...),
			Read: []string{"jobs/", "requests/", "messages/", "items/", "start/"},
			// What is too long for its row or message, and dead letters.
			Write:  []string{"jobs/", "requests/", "messages/", "items/", "dead/"},
			Delete: []string{"pages/"},
		},
		topology.Fetch: {
			Tables: map[string][]string{topology.TableJobs: onJobs, topology.TableFrontier: onUnits, topology.TableHosts: onHosts},
			Send:   append([]string{topology.QueueControl, topology.QueuePage}, requests...),
			Read:   []string{"jobs/", "requests/", "messages/", "httpcache/"},
			Write:  []string{"requests/", "pages/", "messages/", "dead/", "httpcache/"},
			// What a POST makes void.
			Delete: []string{"httpcache/"},
		},
		topology.Parse: {
			Tables: map[string][]string{topology.TableJobs: onJobs, topology.TableFrontier: onUnits},
			Send:   append([]string{topology.QueueControl, topology.QueuePage, topology.QueueItem}, requests...),
			Read:   []string{"jobs/", "requests/", "pages/", "messages/"},
			Write:  []string{"requests/", "messages/", "dead/"},
		},
		topology.Pipeline: {
			Tables: map[string][]string{topology.TableJobs: onJobs, topology.TableItems: {"BatchWriteItem"}},
			Send:   []string{topology.QueueControl, topology.QueueItem},
			Read:   []string{"jobs/", "messages/"},
			Write:  []string{"items/", "messages/", "dead/"},
		},
	}
}
