package aws

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/emulatortest"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/blob/blobtest"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/queue/queuetest"
	"github.com/skitterhq/skitter/shared/topology"
)

var stacks atomic.Int64

// freshStack has queues and a bucket, and a name of its own: tests share an
// emulator.
func freshStack() topology.Stack {
	stack := topology.Default(fmt.Sprintf("queues-%d", stacks.Add(1)))
	stack.Tables = nil
	return stack
}

// provisioned creates a stack and returns its ports.
func provisioned(t testing.TB, cfg awssdk.Config, stack topology.Stack) *Store {
	t.Helper()
	if err := provision.Create(t.Context(), cfg, stack); err != nil {
		t.Fatal(err)
	}
	return New(Config{AWS: cfg, Stack: stack, Now: time.Now})
}

// purge empties all queues of a stack.
func purge(t testing.TB, q *Queue) {
	t.Helper()
	for _, known := range q.stack.Queues {
		url, _, err := q.address(t.Context(), queue.Name(known.Name))
		if err == nil {
			_, err = q.client.(*sqs.Client).PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &url})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A testClock is moved by hand.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func newTestClock() *testClock { return &testClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestQueueConformance(t *testing.T) {
	queuetest.Run(t, func(t *testing.T) queuetest.Harness {
		c := newTestClock()
		stack := freshStack()
		return queuetest.Harness{
			Queue:      provisioned(t, awstest.New(c.Now).Config(), stack).Queue(),
			Advance:    c.Advance,
			Visibility: stack.Queue(topology.QueueRequest).Visibility,
		}
	})
}

func TestBlobConformance(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Harness {
		return blobtest.Harness{Store: provisioned(t, awstest.New(nil).Config(), freshStack()).Blobs()}
	})
}

// The clock of moto is the machine's and cannot be moved: what a test of the
// suite does before it moves the clock is tried there, the rest over awstest.
func TestQueueConformanceOverMoto(t *testing.T) {
	q := provisioned(t, emulatortest.Moto(t), freshStack()).Queue()
	queuetest.Run(t, func(t *testing.T) queuetest.Harness {
		switch name := t.Name(); {
		case strings.HasSuffix(name, "a_returned_message_comes_again_at_once"):
			t.Skip("moto deletes a message by the receipt of an earlier delivery")
		case strings.Contains(name, "/census_"), strings.Contains(name, "/discard_"), strings.Contains(name, "/bell_"), strings.Contains(name, "/next_due_"):
			t.Skip("SQS counts only about, and rings no bell")
		}
		purge(t, q)
		return queuetest.Harness{
			Queue:      q,
			Advance:    func(time.Duration) { t.Skip("moto's clock cannot be moved; the test runs whole over awstest") },
			Visibility: time.Minute,
		}
	})
}

func TestBlobConformanceOverMoto(t *testing.T) {
	stack := freshStack()
	stack.Queues = []topology.Queue{stack.Queue(topology.QueueDead)}
	blobs := provisioned(t, emulatortest.Moto(t), stack).Blobs()
	blobtest.Run(t, func(t *testing.T) blobtest.Harness {
		if err := blobs.DeletePrefix(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		return blobtest.Harness{Store: blobs}
	})
}
