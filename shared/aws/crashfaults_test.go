package aws_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/topology"
)

// A fault is what can go wrong with one request to a service.
type fault int

const (
	noFault fault = iota
	// crashBefore ends the invocation before the request, crashAfter after
	// it: all that it still asks for fails, and its messages come again.
	crashBefore
	crashAfter
	// unsent fails the request, and lostForGood the answer, in a way that the
	// SDK does not try again.
	unsent
	lostForGood
	// lostAnswer, unavailable and throttled are tried again by the SDK.
	lostAnswer
	unavailable
	throttled
	// throttledLong goes on for longer than anybody tries again.
	throttledLong
	// throttledForHours goes on until messages have been given up on.
	throttledForHours
	// delayBefore and delayAfter stretch the request beyond the visibility
	// time-out of what the invocation works.
	delayBefore
	delayAfter
	// refuseFirst leaves the first entry of a batch undone, refuseSecond every
	// second from the first on, refuseAll all; refuseLong does that to every
	// such batch for longer than anybody tries again.
	refuseFirst
	refuseSecond
	refuseAll
	refuseLong
)

func (f fault) String() string {
	return [...]string{
		"none", "crash before", "crash after", "unsent", "lost for good", "lost answer", "unavailable", "throttled", "throttled long", "throttled for hours",
		"delay before", "delay after", "first refused", "every second refused", "all refused", "all refused long",
	}[f]
}

// outage is longer than the tries of any adapter, a minute, and shorter than
// the visibility time-outs, six minutes and more.
const outage = 3 * time.Minute

// bearable are the faults that adapters make good by themselves: the engine
// does not hear of them, and nothing waits for a time-out.
func (f fault) bearable() bool {
	switch f {
	case lostAnswer, unavailable, throttled, refuseFirst, refuseSecond, refuseAll:
		return true
	}
	return false
}

// faultsOf are the faults that a request can have.
func faultsOf(name string) []fault {
	last := delayAfter
	if op, _, _ := strings.Cut(name, " "); strings.Contains(op, "Batch") || op == "s3.DeleteObjects" {
		last = refuseLong
	}
	var list []fault
	for f := crashBefore; f <= last; f++ {
		if f != throttledForHours {
			list = append(list, f)
		}
	}
	return list
}

// A point is the nth request of a name, from 0, in invocations of a crawl.
type point struct {
	name  string
	nth   int
	fault fault
}

func (p point) String() string { return fmt.Sprintf("%s at %s #%d", p.fault, p.name, p.nth) }

// An injector makes faults between the SDK and its backend.
type injector struct {
	stack topology.Stack

	mu      sync.Mutex
	plan    []point
	seen    map[string]int
	outages map[string]outageOf
	log     []string
}

// An outageOf is a fault of all requests of a name, until a time.
type outageOf struct {
	fault fault
	until time.Time
}

// inject makes the clients of a configuration meet the faults of a plan.
func inject(inside *awstest.Backend, stack topology.Stack, plan ...point) (*injector, awssdk.Config) {
	f := &injector{stack: stack, plan: plan, seen: map[string]int{}, outages: map[string]outageOf{}}
	inside.SetHook(f.hook)
	cfg := inside.Config()
	cfg.HTTPClient = faultyClient{cfg.HTTPClient}
	cfg.Retryer = nil // each adapter's own, which wait
	return f, cfg
}

// counted is how many requests of each name there were.
func (f *injector) counted() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.seen)
}

// happened says which faults there were.
func (f *injector) happened() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

// next is what goes wrong with the next request of a name.
func (f *injector) next(name string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.seen[name]
	f.seen[name]++
	if o := f.outages[name]; time.Now().Before(o.until) {
		return o.fault
	}
	for _, p := range f.plan {
		if p.name != name || p.nth != n {
			continue
		}
		f.log = append(f.log, p.String())
		switch p.fault {
		case throttledLong:
			f.outages[name] = outageOf{throttled, time.Now().Add(outage)}
			return throttled
		case throttledForHours:
			f.outages[name] = outageOf{throttled, time.Now().Add(time.Hour)}
			return throttled
		case refuseLong:
			f.outages[name] = outageOf{refuseAll, time.Now().Add(outage)}
			return refuseAll
		}
		return p.fault
	}
	return noFault
}

// ending is the key of the error that a request is to end with, a *error.
type ending struct{}

// final is an error that the SDK does not try again.
type final struct{ error }

// CanceledError is what the SDK asks errors for.
func (final) CanceledError() bool { return true }

var errUnanswered = final{errors.New("injected fault")}

func (f *injector) hook(c *awstest.Call) awstest.Fault {
	ctx := c.Request.Context()
	end, ok := ctx.Value(ending{}).(*error)
	if !ok {
		return awstest.Fault{}
	}
	switch f.next(f.name(c)) {
	case crashBefore:
		worldtest.Crash(ctx)
		return awstest.Fault{Dropped: true}
	case crashAfter:
		return awstest.Fault{After: func() { worldtest.Crash(ctx) }}
	case unsent:
		*end = errUnanswered
		return awstest.Fault{Dropped: true}
	case lostForGood:
		*end = errUnanswered
	case lostAnswer:
		return awstest.Fault{Lost: true}
	case unavailable:
		return awstest.Fault{Error: awstest.Unavailable(c.Op)}
	case throttled:
		return awstest.Fault{Error: awstest.Throttled(c.Op)}
	case delayBefore:
		time.Sleep(f.delay(ctx))
	case delayAfter:
		return awstest.Fault{After: func() { time.Sleep(f.delay(ctx)) }}
	case refuseFirst:
		return awstest.Fault{Refuse: func(i int) bool { return i == 0 }}
	case refuseSecond:
		return awstest.Fault{Refuse: func(i int) bool { return i%2 == 0 }}
	case refuseAll:
		return awstest.Fault{Refuse: func(int) bool { return true }}
	}
	return awstest.Fault{}
}

// delay is a third longer than what an invocation works is hidden, and so eight
// times as long as an invocation may last. Control's is the longest, and what
// comes from no queue is control's; it is shorter than the time after which the
// watchdog wakes.
func (f *injector) delay(ctx context.Context) time.Duration {
	from, _ := worldtest.Invoked(ctx)
	return f.stack.Queue(cmp.Or(string(from), topology.QueueControl)).Visibility * 4 / 3
}

// name is an operation, and the queue, table or folder that it is about.
func (f *injector) name(c *awstest.Call) string {
	var in struct {
		QueueUrl, TableName string
		RequestItems        map[string]json.RawMessage
	}
	about := ""
	if strings.HasPrefix(c.Op, "s3.") {
		// /bucket/folder/...
		if parts := strings.Split(c.Request.URL.Path, "/"); len(parts) > 3 {
			about = parts[2]
		}
	} else if err := json.Unmarshal(c.Body, &in); err == nil {
		about = path.Base(in.QueueUrl) + in.TableName
		for table := range in.RequestItems {
			about = table
		}
		about = strings.TrimPrefix(strings.TrimPrefix(about, "."), f.stack.Name+"-")
	}
	return strings.TrimSpace(c.Op + " " + about)
}

// A faultyClient fails the requests of invocations that have crashed, and makes
// its own requests known to the injector.
type faultyClient struct{ client awssdk.HTTPClient }

func (c faultyClient) Do(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if _, ok := worldtest.Invoked(ctx); !ok {
		return c.client.Do(req) // the world looks
	}
	if worldtest.Crashed(ctx) {
		return nil, final{worldtest.ErrCrashed}
	}
	end := new(error)
	resp, err := c.client.Do(req.WithContext(context.WithValue(ctx, ending{}, end)))
	switch {
	case worldtest.Crashed(ctx):
		return nil, final{worldtest.ErrCrashed}
	case *end != nil:
		return nil, *end
	}
	return resp, err
}
