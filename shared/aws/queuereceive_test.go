package aws

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/queue"
)

func TestReceiveMakesSeveralCalls(t *testing.T) {
	s := &scriptedSQS{}
	q, _, _ := over(s)
	for i := range 27 {
		s.inbox = append(s.inbox, incoming(i, jobOne, "x"))
	}
	got, err := q.Receive(t.Context(), queue.Request, "", 25)
	if err != nil || len(got) != 25 || s.calls != 3 {
		t.Fatalf("received %d in %d calls (%v), want 25 in 3", len(got), s.calls, err)
	}
	want := queue.Delivery{ID: "id0", Job: jobOne, Body: []byte("x"), Receives: 3, Receipt: "receipt0"}
	if fmt.Sprint(got[0]) != fmt.Sprint(want) {
		t.Errorf("received %+v, want %+v", got[0], want)
	}
	if got, err := q.Receive(t.Context(), queue.Request, "", 0); err != nil || len(got) != 0 {
		t.Errorf("received %d (%v) where none was asked for", len(got), err)
	}
}

func TestOtherJobsMessagesAreGivenBack(t *testing.T) {
	s := &scriptedSQS{}
	q, _, _ := over(s)
	var others []string
	for i := range 30 {
		job := jobTwo
		if i == 5 || i == 25 {
			job = jobOne
		} else {
			others = append(others, fmt.Sprintf("receipt%d", i))
		}
		s.inbox = append(s.inbox, incoming(i, job, "x"))
	}
	got, err := q.Receive(t.Context(), queue.Request, jobOne, 10)
	if err != nil || len(got) != 2 || got[0].ID != "id5" || got[1].ID != "id25" {
		t.Errorf("received %v (%v), want the two of the job", got, err)
	}
	slices.Sort(others)
	slices.Sort(s.settled)
	if !slices.Equal(s.settled, others) || slices.Max(s.hidden) != 0 {
		t.Errorf("made due again: %q, hidden for up to %d s", s.settled, slices.Max(s.hidden))
	}
}

func TestReceiveGivesWhatItHasWhenACallFails(t *testing.T) {
	down := errors.New("down")
	s := &scriptedSQS{fail: func(call int) error { return map[bool]error{call > 1: down}[true] }}
	q, _, _ := over(s)
	for i := range 12 {
		s.inbox = append(s.inbox, incoming(i, jobOne, "x"))
	}
	if got, err := q.Receive(t.Context(), queue.Request, "", 12); err != nil || len(got) != 10 {
		t.Errorf("received %d (%v), want the ten of the first call", len(got), err)
	}
	if _, err := q.Receive(t.Context(), queue.Request, "", 12); !errors.Is(err, down) || !strings.Contains(err.Error(), "receive from request") {
		t.Errorf("error %v, want the call's", err)
	}
}

// settling runs a test for Delete and for Return.
func settling(t *testing.T, test func(t *testing.T, settle func(q *Queue, receipts []string) error)) {
	t.Run("delete", func(t *testing.T) {
		test(t, func(q *Queue, receipts []string) error { return q.Delete(t.Context(), queue.Page, receipts) })
	})
	t.Run("return", func(t *testing.T) {
		test(t, func(q *Queue, receipts []string) error {
			return q.Return(t.Context(), queue.Page, receipts, time.Second)
		})
	})
}

func someReceipts(n int) (receipts []string) {
	for i := range n {
		receipts = append(receipts, fmt.Sprintf("r%02d", i))
	}
	return receipts
}

func TestSettlingTriesAgainWhatFailed(t *testing.T) {
	settling(t, func(t *testing.T, settle func(*Queue, []string) error) {
		s := &scriptedSQS{judge: func(call int, receipt string) verdict {
			switch {
			case call > 3:
				return ""
			case receipt == "r03":
				return "InternalError"
			case receipt == "r17":
				return "missing"
			}
			return ""
		}}
		q, _, pauses := over(s)
		receipts := someReceipts(25)
		if err := settle(q, append(receipts, "r00", "r01")); err != nil {
			t.Fatal(err)
		}
		slices.Sort(s.settled)
		if !slices.Equal(s.settled, receipts) {
			t.Errorf("settled %q, want each once", s.settled)
		}
		if len(*pauses) < 2 {
			t.Errorf("%d pauses", len(*pauses))
		}
	})
}

func TestStaleReceiptsArePassedOver(t *testing.T) {
	settling(t, func(t *testing.T, settle func(*Queue, []string) error) {
		codes := []verdict{"!ReceiptHandleIsInvalid", "!InvalidParameterValue", "MessageNotInflight", "!AWS.SimpleQueueService.MessageNotInflight"}
		s := &scriptedSQS{judge: func(_ int, receipt string) verdict {
			if receipt < "r04" {
				return codes[receipt[2]-'0']
			}
			return ""
		}}
		q, _, pauses := over(s)
		if err := settle(q, someReceipts(8)); err != nil || len(s.settled) != 4 || len(*pauses) != 0 {
			t.Errorf("settled %q after %d pauses (%v), want four at once", s.settled, len(*pauses), err)
		}
	})
}

func TestSettlingFails(t *testing.T) {
	settling(t, func(t *testing.T, settle func(*Queue, []string) error) {
		s := &scriptedSQS{judge: func(int, string) verdict { return "!AccessDenied" }}
		q, _, _ := over(s)
		if err := settle(q, someReceipts(3)); err == nil || !strings.Contains(err.Error(), "AccessDenied") || !strings.Contains(err.Error(), "page") {
			t.Errorf("error %v, want one that says what and why", err)
		}
		if s.calls != 1 {
			t.Errorf("%d calls, want 1", s.calls)
		}
	})
}

func TestReturnHidesForWholeSecondsRoundedUp(t *testing.T) {
	for delay, want := range map[time.Duration]int32{-1: 0, 0: 0, 1: 1, 1500 * time.Millisecond: 2, 24 * time.Hour: 43_200} {
		s := &scriptedSQS{}
		q, _, _ := over(s)
		if err := q.Return(t.Context(), queue.Page, []string{"r"}, delay); err != nil || s.hidden[0] != want {
			t.Errorf("returned with delay %s: hidden for %v s (%v), want %d", delay, s.hidden, err, want)
		}
	}
}
