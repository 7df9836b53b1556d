package aws

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/emulatortest"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

// take receives and deletes until nothing is there, and counts how often each
// body came.
func take(t *testing.T, q *Queue, from queue.Name) map[string]int {
	t.Helper()
	times := map[string]int{}
	for {
		got, err := q.Receive(t.Context(), from, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 {
			return times
		}
		var receipts []string
		for _, d := range got {
			times[string(d.Body)]++
			receipts = append(receipts, d.Receipt)
		}
		if err := q.Delete(t.Context(), from, receipts); err != nil {
			t.Fatal(err)
		}
	}
}

// The real client meets what SQS does on a bad day: entries that fail, calls
// that are throttled, answers that are lost.
func TestNothingIsLostOnABadDay(t *testing.T) {
	c := newTestClock()
	b := awstest.New(c.Now)
	stack := freshStack()
	q := provisioned(t, b.Config(), stack).Queue()
	s := &scriptedSQS{}
	quick, _, pauses := over(s)
	q.wait = quick.wait
	b.SetHook(func(call *awstest.Call) awstest.Fault {
		switch {
		case !strings.HasSuffix(call.Op, "Batch"):
			return awstest.Fault{}
		// The SDK tries three times in all, so two of these fail no call.
		case call.N == 2:
			return awstest.Fault{Dropped: true}
		case call.N == 3:
			return awstest.Fault{Lost: true}
		case call.N%7 == 1:
			return awstest.Fault{Refuse: func(i int) bool { return i%2 == call.N%2 }}
		case call.N%7 == 4:
			return awstest.Fault{Error: awstest.Throttled(call.Op)}
		}
		return awstest.Fault{}
	})
	msgs, want := numbered(200)
	if err := q.Send(t.Context(), queue.Request, msgs); err != nil {
		t.Fatal(err)
	}
	times := take(t, q, queue.Request)
	for _, body := range want {
		if times[body] == 0 {
			t.Errorf("%s is lost", body)
		}
	}
	if len(*pauses) == 0 {
		t.Error("nothing had to be tried again")
	}
	c.Advance(stack.Queue(topology.QueueRequest).Visibility)
	if left := take(t, q, queue.Request); len(left) > 0 {
		t.Errorf("%d messages came again after they were deleted", len(left))
	}
}

// What the clock decides is tried at moto with one visibility time-out and one
// delay of a second, and at awstest with the same.
func TestSecondsAtAnEmulator(t *testing.T) {
	c := newTestClock()
	tests := []struct {
		name  string
		store func(t *testing.T, stack topology.Stack) *Store
		sleep func(time.Duration)
	}{
		{"awstest", func(t *testing.T, stack topology.Stack) *Store {
			return provisioned(t, awstest.New(c.Now).Config(), stack)
		}, c.Advance},
		{"moto", func(t *testing.T, stack topology.Stack) *Store {
			return provisioned(t, emulatortest.Moto(t), stack)
		}, time.Sleep},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			stack := freshStack()
			stack.Queues = []topology.Queue{stack.Queue(topology.QueueDead), stack.Queue(topology.QueueRequest)}
			stack.Queues[1].Visibility = time.Second
			q := test.store(t, stack).Queue()
			msgs := []queue.Message{{Job: jobOne, Body: []byte("received")}, {Job: jobTwo, Body: []byte("delayed"), Delay: time.Millisecond}}
			if err := q.Send(t.Context(), queue.Request, msgs[:1]); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			first, err := q.Receive(t.Context(), queue.Request, "", 10)
			if err != nil || len(first) != 1 || first[0].Job != jobOne || first[0].Receives != 1 {
				t.Fatalf("received %+v (%v)", first, err)
			}
			if err := q.Send(t.Context(), queue.Request, msgs[1:]); err != nil {
				t.Fatal(err)
			}
			got, err := q.Receive(t.Context(), queue.Request, "", 10)
			if err != nil || len(got) != 0 && time.Since(begun) < time.Second { // a machine may be busy for longer
				t.Errorf("received %+v (%v) before the second is over", got, err)
			}
			test.sleep(time.Second + 200*time.Millisecond)
			var again []string
			got, err = q.Receive(t.Context(), queue.Request, "", 10)
			for _, d := range got {
				again = append(again, fmt.Sprintf("%s %s %d", d.Job[:1], d.Body, d.Receives))
			}
			slices.Sort(again)
			if want := []string{"1 received 2", "2 delayed 1"}; err != nil || !slices.Equal(again, want) {
				t.Errorf("received %q (%v), want %q", again, err, want)
			}
		})
	}
}

func TestLongMessagesOverMoto(t *testing.T) { // SQS-05, EMU-03
	stack := freshStack()
	q := provisioned(t, emulatortest.Moto(t), stack).Queue()
	url, limit, err := q.address(t.Context(), queue.Page)
	if err != nil || limit != topology.MaxMessage {
		t.Fatalf("the longest message is %d bytes (%v)", limit, err)
	}
	send := func() map[string]int {
		var msgs []queue.Message
		for i := range 11 {
			size := 150_000
			if i == 10 {
				size = 2 << 20
			}
			msgs = append(msgs, queue.Message{Job: jobOne, Body: []byte("{}\n" + strings.Repeat(string(rune('a'+i)), size))})
		}
		if err := q.Send(t.Context(), queue.Page, msgs); err != nil {
			t.Fatal(err)
		}
		return take(t, q, queue.Page)
	}
	if got := send(); len(got) != 11 {
		t.Errorf("%d messages arrived, want 11", len(got))
	}
	if got := keys(t, q.blobs); len(got) != 1 {
		t.Errorf("%d blobs, want that of the long message", len(got))
	}
	client := q.client.(*sqs.Client)
	_, err = client.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: map[string]string{"MaximumMessageSize": "100000"}})
	if err != nil {
		t.Fatal(err)
	}
	q = newQueue(client, stack, q.blobs.(*Blobs))
	if got := send(); len(got) != 11 {
		t.Errorf("%d messages arrived of a queue of short ones, want 11", len(got))
	}
	if got := keys(t, q.blobs); len(got) != 12 {
		t.Errorf("%d blobs, want one of before and eleven", len(got))
	}
}
