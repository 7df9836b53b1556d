package topology_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

func TestTheDefaultStackIsValid(t *testing.T) {
	if err := topology.Default("skitter").Validate(); err != nil {
		t.Error(err)
	}
}

// Everything that would lose work, or that AWS would refuse, has its error.
func TestWhatIsWrongIsNamed(t *testing.T) {
	tests := []struct {
		name   string
		breaks func(s *topology.Stack)
		want   string
	}{
		{"a name with capitals", func(s *topology.Stack) { s.Name = "Skitter" }, `stack name "Skitter": it must be 1 to 32 lower-case letters`},
		{"a name that is long", func(s *topology.Stack) { s.Name = strings.Repeat("x", 33) }, "stack name"},
		{"no memory", func(s *topology.Stack) { s.Functions[0].Memory = 64 }, "function control: memory of 64 MB: Lambda takes 128 to 10240"},
		{"too long a time-out", func(s *topology.Stack) { s.Functions[0].Timeout = time.Hour }, "function control: time-out of 1h0m0s: Lambda takes up to 15m0s"},
		{"no time to work", func(s *topology.Stack) { s.Functions[1].Reserve = s.Functions[1].Timeout }, "function fetch: reserve and margin leave no time to work"},
		{"one invocation at a time", func(s *topology.Stack) { s.Functions[1].Sources[0].Concurrency = 1 }, "concurrency of 1 for queue request-high: Lambda takes 2 to 1000"},
		{"a large batch at once", func(s *topology.Stack) { s.Functions[3].Sources[0].Window = 0 }, "batch of 100 for queue item: more than 10 need a window"},
		{"a long window", func(s *topology.Stack) { s.Functions[3].Sources[0].Window = time.Hour }, "window of 1h0m0s for queue item"},
		{"an empty batch", func(s *topology.Stack) { s.Functions[3].Sources[0].Batch = 0 }, "batch of 0 for queue item: Lambda takes 1 to 10000"},
		{"a short visibility", func(s *topology.Stack) { s.Queues[2].Visibility = time.Minute }, "hides a message for 1m0s: it must be 7m30s or more"},
		{"few receives", func(s *topology.Stack) { s.Queues[0].MaxReceives = 3 }, "a message is given up on after 3 receives"},
		{"a dead-letter queue that forgets first", func(s *topology.Stack) { s.Queues[0].Retention = 14 * 24 * time.Hour }, "it would forget first"},
		{"a long retention", func(s *topology.Stack) { s.Queues[0].Retention = 15 * 24 * time.Hour }, "retention of 360h0m0s: SQS takes 1m0s to 336h0m0s"},
		{"a long delay", func(s *topology.Stack) { s.Times.Delay = time.Hour }, "delay of 1h0m0s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := topology.Default("skitter")
			test.breaks(&s)
			if err := s.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// Package queue and the topology speak of the same queues.
func TestTheQueuesAreThoseOfPackageQueue(t *testing.T) {
	want := append(queue.Requests(), queue.Control, queue.Page, queue.Item, queue.Dead)
	var got []queue.Name
	for _, q := range topology.Default("x").Queues {
		got = append(got, queue.Name(q.Name))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("queues %v, want %v", got, want)
	}
	if topology.Default("x").Times.Delay != queue.MaxDelay {
		t.Errorf("the longest delay is %s, that of package queue %s", topology.Default("x").Times.Delay, queue.MaxDelay)
	}
}

// A download that takes as long as it may ends before the work does, and a
// message that is hidden for as long as it can be moves before the watchdog
// takes it for lost.
func TestTimesFitTogether(t *testing.T) {
	s := topology.Default("x")
	fetch := s.Function(topology.Fetch)
	if s.Times.Download > fetch.Work()/2 {
		t.Errorf("a download may take %s, an invocation works for %s", s.Times.Download, fetch.Work())
	}
	for _, q := range s.Queues {
		if s.Times.Quiet < s.Times.Delay+q.Visibility {
			t.Errorf("quiet after %s, queue %s hides a message for %s", s.Times.Quiet, q.Name, s.Times.Delay+q.Visibility)
		}
	}
}

func TestTheEnvironmentGivesTheStackBack(t *testing.T) {
	for _, want := range []topology.Stack{topology.Default("a"), topology.Default("b-2").Scaled(20)} {
		env := want.Environment()
		got, err := topology.FromEnvironment(func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		if got.Name != want.Name || got.BucketName() != want.BucketName() || got.Times != want.Times || got.Queue(topology.QueuePage) != want.Queue(topology.QueuePage) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestTheEnvironmentIsChecked(t *testing.T) {
	for _, test := range []struct{ name, stack, scale, want string }{
		{"no stack", "", "", `SKITTER_STACK="": it must name the stack`},
		{"a scale that is no number", "x", "fast", `SKITTER_TIME_SCALE="fast": it must be a number from 1 to 300`},
		{"a scale that lengthens", "x", "0.5", `SKITTER_TIME_SCALE="0.5"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := topology.FromEnvironment(func(name string) string {
				return map[string]string{topology.EnvStack: test.stack, topology.EnvTimeScale: test.scale}[name]
			})
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want one that begins with %q", err, test.want)
			}
		})
	}
}

func TestScaledTimesAreShorter(t *testing.T) {
	whole := topology.Default("x")
	s := whole.Scaled(60)
	if got := s.Function(topology.Fetch).Timeout; got != 1250*time.Millisecond {
		t.Errorf("fetch may take %s, want 1.25s", got)
	}
	if got := s.Queue(topology.QueueRequest).Visibility; got != 8*time.Second {
		t.Errorf("a request is hidden for %s, want 7.5s in whole seconds, 8s", got)
	}
	if s.Times.Retention != whole.Times.Retention || s.Queue(topology.QueuePage).Retention != whole.Queue(topology.QueuePage).Retention {
		t.Error("times of days are scaled, too")
	}
	if whole.Function(topology.Fetch).Timeout != 75*time.Second {
		t.Error("the stack that was scaled has changed")
	}
}
