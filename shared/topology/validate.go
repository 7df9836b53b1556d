package topology

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

// Validate reports everything of a stack that AWS would refuse or that would
// lose work, one error a line. A stack that is scaled breaks some rules on
// purpose and is not validated.
func (s Stack) Validate() error {
	var errs []error
	if !namePattern.MatchString(s.Name) {
		errs = append(errs, fmt.Errorf("stack name %q: it must be 1 to 32 lower-case letters, digits and hyphens, with no hyphen at an end", s.Name))
	}
	for _, f := range s.Functions {
		errs = append(errs, s.validFunction(f)...)
	}
	for _, q := range s.Queues {
		errs = append(errs, s.validQueue(q)...)
	}
	if s.Times.Delay > 15*time.Minute {
		errs = append(errs, fmt.Errorf("delay of %s: SQS holds a message back for 15m0s at most", s.Times.Delay))
	}
	return errors.Join(errs...)
}

func (s Stack) validFunction(f Function) []error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("function %s: "+format, append([]any{f.Name}, args...)...))
	}
	if f.Memory < 128 || f.Memory > 10240 {
		bad("memory of %d MB: Lambda takes 128 to 10240", f.Memory)
	}
	if f.Timeout <= 0 || f.Timeout > 15*time.Minute {
		bad("time-out of %s: Lambda takes up to 15m0s", f.Timeout)
	}
	if f.Reserve+f.Margin >= f.Timeout {
		bad("reserve and margin leave no time to work of %s", f.Timeout)
	}
	for _, src := range f.Sources {
		if src.Concurrency < 2 || src.Concurrency > 1000 {
			bad("concurrency of %d for queue %s: Lambda takes 2 to 1000", src.Concurrency, src.Queue)
		}
		if src.Batch < 1 || src.Batch > 10000 {
			bad("batch of %d for queue %s: Lambda takes 1 to 10000", src.Batch, src.Queue)
		}
		if src.Batch > 10 && src.Window < time.Second {
			bad("batch of %d for queue %s: more than 10 need a window of 1s or more", src.Batch, src.Queue)
		}
		if src.Window > 5*time.Minute {
			bad("window of %s for queue %s: Lambda takes up to 5m0s", src.Window, src.Queue)
		}
		q := s.Queue(src.Queue)
		if least := visibilityFactor*f.Timeout + src.Window; q.Visibility < least {
			bad("queue %s hides a message for %s: it must be %s or more, six times the time-out and the window", q.Name, q.Visibility, least)
		}
	}
	return errs
}

func (s Stack) validQueue(q Queue) []error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("queue %s: "+format, append([]any{q.Name}, args...)...))
	}
	if q.Visibility > 12*time.Hour {
		bad("visibility time-out of %s: SQS takes up to 12h0m0s", q.Visibility)
	}
	if q.Retention < time.Minute || q.Retention > 14*day {
		bad("retention of %s: SQS takes 1m0s to 336h0m0s", q.Retention)
	}
	if q.Name == QueueDead {
		return errs
	}
	if q.MaxReceives < 5 {
		bad("a message is given up on after %d receives: less than 5 loses healthy ones to throttling", q.MaxReceives)
	}
	if dead := s.Queue(QueueDead); dead.Retention <= q.Retention {
		bad("the dead-letter queue keeps a message for %s, no longer than this one (%s): it would forget first", dead.Retention, q.Retention)
	}
	return errs
}
