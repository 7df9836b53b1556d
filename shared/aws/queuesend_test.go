package aws

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

func TestSendTriesAgainWhatFailedAndNothingElse(t *testing.T) {
	// At first some entries fail and some are not mentioned.
	s := &scriptedSQS{judge: func(call int, body string) verdict {
		switch {
		case call > 3 || strings.HasSuffix(body, "0") || strings.HasSuffix(body, "3") || strings.HasSuffix(body, "6"):
			return ""
		case strings.HasSuffix(body, "1"), strings.HasSuffix(body, "4"):
			return "InternalError"
		}
		return "missing"
	}}
	q, _, pauses := over(s)
	msgs, want := numbered(10)
	if err := q.Send(t.Context(), queue.Request, msgs); err != nil {
		t.Fatal(err)
	}
	if got := s.sent(); !slices.Equal(got, want) {
		t.Errorf("accepted %q, want each once", got)
	}
	var sizes []int
	for _, b := range s.batches {
		sizes = append(sizes, len(b))
	}
	if !slices.Equal(sizes, []int{10, 7, 7, 7}) { // the script does three of ten
		t.Errorf("batches of %v, want one of all and three of what failed", sizes)
	}
	if len(*pauses) != 3 || (*pauses)[0] < firstPause/2 || (*pauses)[2] <= firstPause {
		t.Errorf("pauses %v, want three that grow", *pauses)
	}
}

func TestSendGivesUp(t *testing.T) {
	s := &scriptedSQS{judge: func(_ int, body string) verdict {
		if body == "m004" {
			return "ServiceUnavailable"
		}
		return ""
	}}
	q, _, pauses := over(s)
	msgs, _ := numbered(10)
	err := q.Send(t.Context(), queue.Request, msgs)
	if err == nil || !strings.Contains(err.Error(), "ServiceUnavailable: said the script") || !strings.Contains(err.Error(), "send 10 messages to request") {
		t.Errorf("error %v, want one that says what failed and why", err)
	}
	if len(s.batches) != batchTries || len(*pauses) != batchTries-1 {
		t.Errorf("%d batches and %d pauses, want %d tries", len(s.batches), len(*pauses), batchTries)
	}
}

func TestSendersFaultIsAnErrorAtOnce(t *testing.T) {
	s := &scriptedSQS{judge: func(_ int, body string) verdict {
		if body == "m007" {
			return "!InvalidMessageContents"
		}
		return ""
	}}
	q, _, _ := over(s)
	msgs, _ := numbered(10)
	err := q.Send(t.Context(), queue.Request, msgs)
	if err == nil || !strings.Contains(err.Error(), "entry 7: InvalidMessageContents") {
		t.Errorf("error %v, want one that names entry 7", err)
	}
	if len(s.batches) != 1 {
		t.Errorf("%d tries, want 1", len(s.batches))
	}
}

func TestSendWaitsWhereItIsThrottled(t *testing.T) {
	throttle := &smithy.GenericAPIError{Code: "RequestThrottled", Message: "slower"}
	tests := map[string]*scriptedSQS{
		"a call":   {fail: func(call int) error { return map[bool]error{call < 3: throttle}[true] }},
		"an entry": {judge: func(call int, _ string) verdict { return map[bool]verdict{call < 3: "!KmsThrottled"}[true] }},
	}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			q, _, pauses := over(s)
			msgs, want := numbered(3)
			if err := q.Send(t.Context(), queue.Request, msgs); err != nil {
				t.Fatal(err)
			}
			if got := s.sent(); !slices.Equal(got, want) || len(*pauses) != 2 {
				t.Errorf("accepted %q after %d pauses, want all after 2", got, len(*pauses))
			}
		})
	}
}

func TestSendEndsWithItsContext(t *testing.T) {
	s := &scriptedSQS{judge: func(int, string) verdict { return "InternalError" }}
	q, _, _ := over(s)
	ctx, cancel := context.WithCancel(t.Context())
	q.wait = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	msgs, _ := numbered(3)
	if err := q.Send(ctx, queue.Request, msgs); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "InternalError") {
		t.Errorf("error %v, want that of the context and what was waited for", err)
	}
}

func TestOtherErrorsOfACallAreNotTriedAgain(t *testing.T) {
	wrong := errors.New("connection refused")
	s := &scriptedSQS{fail: func(int) error { return wrong }}
	q, _, pauses := over(s)
	msgs, _ := numbered(3)
	if err := q.Send(t.Context(), queue.Request, msgs); !errors.Is(err, wrong) || len(*pauses) != 0 {
		t.Errorf("error %v after %d pauses, want the call's at once: the SDK has tried it again", err, len(*pauses))
	}
}

func TestEntriesHavePlainDistinctIDs(t *testing.T) { // SQS-13
	s := &scriptedSQS{}
	q, _, _ := over(s)
	msgs := []queue.Message{
		{Job: jobOne, Body: []byte("http://example.com/")}, {Job: jobOne, Body: []byte("x")}, {Job: jobOne, Body: []byte("x")},
	}
	if err := q.Send(t.Context(), queue.Request, msgs); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range s.batches[0] {
		ids = append(ids, *e.Id)
		if *e.MessageGroupId != string(jobOne) {
			t.Errorf("group %q, want the job", *e.MessageGroupId)
		}
	}
	if !slices.Equal(ids, []string{"0", "1", "2"}) {
		t.Errorf("IDs %q", ids)
	}
}

func TestDelaysAreWholeSecondsRoundedUp(t *testing.T) {
	s := &scriptedSQS{}
	q, _, _ := over(s)
	delays := []time.Duration{-time.Second, 0, 1, time.Second, time.Second + 1, 899*time.Second + 1, time.Hour}
	var msgs []queue.Message
	for _, d := range delays {
		msgs = append(msgs, queue.Message{Job: jobOne, Body: []byte("x"), Delay: d})
	}
	if err := q.Send(t.Context(), queue.Request, msgs); err != nil {
		t.Fatal(err)
	}
	var got []int32
	for _, e := range s.batches[0] {
		got = append(got, e.DelaySeconds)
	}
	if want := []int32{0, 0, 1, 1, 2, 900, 900}; !slices.Equal(got, want) {
		t.Errorf("delays %v, want %v", got, want)
	}
}

func TestTextThatSQSRefusesIsFoundFirst(t *testing.T) { // SQS-06
	tests := []struct{ body, want string }{
		{"a\uFFFEb", "byte 1 of the body is the character U+FFFE"},
		{"\uFFFF", "byte 0 of the body is the character U+FFFF"},
		{"abc\x00", "byte 3 of the body is the character U+0000"},
		{"\x1b[0m", "U+001B"},
		{"ok\xff", "byte 2 of the body is 0xff, which is not UTF-8"},
		{"\xed\xa0\x80", "not UTF-8"}, // half a surrogate pair
		{"", "empty"},
	}
	for _, test := range tests {
		s := &scriptedSQS{}
		q, _, _ := over(s)
		msgs, _ := numbered(20)
		msgs[15].Body = []byte(test.body)
		err := q.Send(t.Context(), queue.Request, msgs)
		if err == nil || !strings.Contains(err.Error(), "message 16 of 20") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want one that names message 16 and says %q", test.body, err, test.want)
		}
		if len(s.batches) != 0 {
			t.Errorf("%q: %d batches were sent", test.body, len(s.batches))
		}
	}
	for _, body := range []string{"\t\n\r ~", "\u007f", "größer ☃", "\uD7FF\uE000\uFFFD", "\U00010000\U0010FFFF", "\U0001F600"} {
		if err := checkText([]byte(body)); err != nil {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestQueuesAreLookedUpOnce(t *testing.T) {
	s := &scriptedSQS{}
	q, _, _ := over(s)
	msgs, _ := numbered(30)
	_ = together(t.Context(), 10, func(ctx context.Context, _ int) error { return q.Send(ctx, queue.Page, msgs) })
	if s.lookUps["t-page"] != 1 {
		t.Errorf("%d look-ups, want 1", s.lookUps["t-page"])
	}
	if len(s.accepted) != 300 {
		t.Errorf("%d messages were sent, want 300", len(s.accepted))
	}
}

func TestAQueueThatIsNotThereIsNamed(t *testing.T) {
	q, _, _ := over(&scriptedSQS{})
	msgs, _ := numbered(1)
	if err := q.Send(t.Context(), "unheard-of", msgs); err == nil || !strings.Contains(err.Error(), `no queue "unheard-of"`) {
		t.Errorf("error %v, want one that names the queue", err)
	}
	q.stack = topology.Default("missing")
	if err := q.Send(t.Context(), queue.Page, msgs); err == nil || !strings.Contains(err.Error(), "queue missing-page does not exist: stack missing is not there; deploy it, or run skitter up") {
		t.Errorf("error %v, want one that says what to do", err)
	}
}

func TestBatchesKeepTheirLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		sizes := make([]int, r.IntN(60))
		for i := range sizes {
			sizes[i] = 1 + r.IntN([]int{100, 10_000, 70_000, topology.MaxMessage}[r.IntN(4)])
		}
		next := 0
		for _, b := range pack(sizes, topology.MaxMessage) {
			sum := 0
			for _, size := range sizes[b.from:b.to] {
				sum += size
			}
			if b.from != next || b.to <= b.from || b.to-b.from > topology.MaxBatch || sum > topology.MaxMessage {
				t.Fatalf("sizes %v: batch %v of %d bytes", sizes, b, sum)
			}
			next = b.to
		}
		if next != len(sizes) {
			t.Fatalf("%d of %d messages are packed", next, len(sizes))
		}
	}
}

func TestBatchesAreBilledLeast(t *testing.T) {
	same := func(n, size int) []int { return slices.Repeat([]int{size}, n) }
	tests := []struct {
		sizes          []int
		steps, batches int
	}{
		{nil, 0, 0},
		{same(1, 10), 1, 1},
		{same(100, 600), 10, 10},
		{same(10, 65_536), 10, 1},
		{same(18, 7_000), 2, 2}, // 9 and 9, not 10 and 8: 70,000 bytes would be two steps
		{append(same(9, 7_000), 7_000, 1, 1, 1, 1), 2, 2}, // the small ones go where they cost nothing
		{same(3, 700_000), 33, 3},
	}
	for _, test := range tests {
		steps := 0
		batches := pack(test.sizes, topology.MaxMessage)
		for _, b := range batches {
			sum := 0
			for _, size := range test.sizes[b.from:b.to] {
				sum += size
			}
			steps += billedSteps(sum)
		}
		if steps != test.steps || len(batches) != test.batches {
			t.Errorf("%.60s: %d steps in %d batches, want %d in %d", fmt.Sprint(test.sizes), steps, len(batches), test.steps, test.batches)
		}
	}
}

func TestAnEmulatorWithoutGroupsGetsTheJobOtherwise(t *testing.T) {
	var s *scriptedSQS
	s = &scriptedSQS{fail: func(int) error {
		for _, e := range s.batches[len(s.batches)-1] {
			if e.MessageGroupId != nil {
				return &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: "The request include parameter that is not valid for this queue type"}
			}
		}
		return nil
	}}
	q, _, _ := over(s)
	msgs, want := numbered(3)
	if err := q.Send(t.Context(), queue.Request, msgs); err == nil {
		t.Error("AWS itself refused groups, and it was no error")
	}
	q.emulated = true
	for range 2 {
		if err := q.Send(t.Context(), queue.Request, msgs); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.sent(); len(got) != 2*len(want) || len(s.batches) != 4 {
		t.Errorf("accepted %q in %d batches, want all twice and one refusal for each first try", got, len(s.batches))
	}
	if got := *s.accepted[0].MessageAttributes[jobAttribute].StringValue; got != string(jobOne) {
		t.Errorf("job attribute %q, want %s", got, jobOne)
	}
}
