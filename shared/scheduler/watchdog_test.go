package scheduler_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/scheduler"
)

// stuck is a world with open rows in two lanes, a closed one and the start.
func stuck(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	if err := w.PutStart(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	low := child("p", "low")
	low.Request.Priority = -2
	w.admitted(child("p", "a"), child("p", "b"), low, child("p", "closed"))
	w.settle("closed", frontier.Done, "", 0)
	return w
}

func TestReviveSendsWhatIsQueuedAgain(t *testing.T) {
	tests := []struct {
		name  string
		probe bool
		want  []string
	}{
		{"without probes", false, []string{"a request", "b request", "low request-low", "start control"}},
		{"with a probe in each lane that was used", true, []string{
			" request probes request", " request-low probes request-low",
			"a request", "b request", "low request-low", "start control",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := stuck(t)
			got, err := w.Revive(t.Context(), job, test.probe)
			if want := (scheduler.Revival{Start: true, Requests: 3}); err != nil || got != want {
				t.Errorf("revived %+v, err %v; want %+v", got, err, want)
			}
			var sends []string
			for _, call := range w.calls {
				if call != "scan rows" {
					sends = append(sends, call)
				}
			}
			// A probe behind the messages says that they could have come.
			if test.probe && !slices.Contains([]string{"send 1 to request", "send 1 to request-low"}, sends[len(sends)-1]) {
				t.Errorf("calls %v, want the probes last", sends)
			}
			var lines []string
			for _, s := range w.sent() {
				line := s.Unit + " " + string(s.Lane)
				switch {
				case s.Request.Probe != "":
					line += " probes " + s.Request.Probe
				case s.Lane == queue.Control:
					if diff := cmp.Diff(message.Control{Do: message.DoStart}, s.Control); diff != "" {
						t.Errorf("the start is to begin anew (-want, +got):\n%s", diff)
					}
				default:
					if string(s.Request.Req) != string(w.row(s.Unit).Req) {
						t.Errorf("unit %s is sent as %s, want it from its row", s.Unit, s.Request.Req)
					}
				}
				lines = append(lines, line)
			}
			slices.Sort(lines)
			if diff := cmp.Diff(test.want, lines); diff != "" {
				t.Errorf("sent (-want, +got):\n%s", diff)
			}
		})
	}
}

func TestReviveOfAJobWithNothingQueuedSendsNothing(t *testing.T) {
	w := newWorld(t)
	if got, err := w.Revive(t.Context(), job, true); err != nil || got != (scheduler.Revival{}) || len(w.sent()) != 0 {
		t.Errorf("revived %+v, err %v; want nothing", got, err)
	}
}

func TestReviveGoesOnPastABatch(t *testing.T) {
	const rows = 1201 // a batch is 500
	w := newWorld(t)
	var children []scheduler.Child
	for k := range rows {
		u := crawl.UnitID{byte(k), byte(k >> 8), 1}
		children = append(children, scheduler.Child{Unit: u, Request: &crawl.Request{URL: fmt.Sprintf("http://a/%d", k)}})
	}
	w.admitted(children...)
	got, err := w.Revive(t.Context(), job, false)
	if want := (scheduler.Revival{Requests: rows}); err != nil || got != want {
		t.Errorf("revived %+v, err %v; want %+v", got, err, want)
	}
	seen := map[string]bool{}
	for _, s := range w.sent() {
		req, err := w.Unpack(t.Context(), job, s.Request.Req)
		if err != nil {
			t.Fatal(err)
		}
		seen[req.URL] = true
	}
	if len(seen) != rows {
		t.Errorf("%d different requests sent, want %d", len(seen), rows)
	}
	calls := w.count("send 500 to request", "send 201 to request")
	if calls != 3 {
		t.Errorf("%d sends of whole batches, want 3", calls)
	}
}

func TestReviveErrors(t *testing.T) {
	for _, call := range []string{"scan rows", "send 2 to request", "send 1 to request-low", "send 1 to control", "send 1 to request"} {
		w := stuck(t)
		w.fail = failAt(call)
		if _, err := w.Revive(t.Context(), job, true); !errors.Is(err, errPort) {
			t.Errorf("%s fails: err %v", call, err)
		}
	}
}

// After three rounds a unit is lost; a round counts for one lane only, and
// never for the start, which control sends again itself.
func TestProbedCountsRoundsOfOneLane(t *testing.T) {
	w := stuck(t)
	rounds := func() map[string]int {
		got := map[string]int{}
		for _, n := range []string{"a", "b", "low", "closed"} {
			got[n] = w.row(n).Rounds
		}
		return got
	}
	for round := 1; round <= scheduler.LostRounds; round++ {
		lost, err := w.Probed(t.Context(), job, queue.Request)
		if err != nil {
			t.Fatal(err)
		}
		var want []crawl.UnitID
		if round == scheduler.LostRounds {
			want = []crawl.UnitID{unit("a"), unit("b")}
		}
		if diff := cmp.Diff(want, lost); diff != "" {
			t.Errorf("round %d: lost (-want, +got):\n%s", round, diff)
		}
		if diff := cmp.Diff(map[string]int{"a": round, "b": round, "low": 0, "closed": 0}, rounds()); diff != "" {
			t.Errorf("round %d: rounds (-want, +got):\n%s", round, diff)
		}
	}
	w.calls = nil
	if lost, err := w.Probed(t.Context(), job, queue.RequestHigh); err != nil || len(lost) > 0 {
		t.Errorf("a lane without rows: lost %v, err %v", lost, err)
	}
	if n := w.count("round 0"); n > 0 {
		t.Errorf("%d writes of no round", n)
	}
	// A row that was lost but not settled, since its settler died, is lost again.
	if lost, err := w.Probed(t.Context(), job, queue.Request); err != nil || len(lost) != 2 {
		t.Errorf("one more round: lost %v, err %v; want both again", lost, err)
	}
	for _, call := range []string{"scan rows", "round 2"} {
		w.fail = failAt(call)
		if lost, err := w.Probed(t.Context(), job, queue.Request); !errors.Is(err, errPort) || lost != nil {
			t.Errorf("%s fails: lost %v, err %v", call, lost, err)
		}
	}
}

func TestStranded(t *testing.T) {
	w := newWorld(t)
	if _, ok, err := w.Stranded(t.Context(), job); ok || err != nil {
		t.Errorf("without a census: ok %t, err %v; want it not known", ok, err)
	}
	w.ports.Census = w.queue
	w.again()
	if stranded, ok, err := w.Stranded(t.Context(), job); !stranded || !ok || err != nil {
		t.Errorf("with empty queues: stranded %t, ok %t, err %v", stranded, ok, err)
	}
	if err := w.SendControl(t.Context(), job, message.Control{Do: message.DoLook}, time.Minute); err != nil {
		t.Fatal(err)
	}
	if stranded, ok, err := w.Stranded(t.Context(), job); stranded || !ok || err != nil {
		t.Errorf("with a message that is delayed: stranded %t, ok %t, err %v", stranded, ok, err)
	}
	if stranded, ok, err := w.Stranded(t.Context(), "other"); !stranded || !ok || err != nil {
		t.Errorf("another job: stranded %t, ok %t, err %v", stranded, ok, err)
	}
}

func TestSendControl(t *testing.T) {
	w := newWorld(t)
	if err := w.SendControl(t.Context(), job, message.Control{Do: message.DoStop, Reason: "enough"}, 0); err != nil {
		t.Fatal(err)
	}
	want := []sending{{Unit: "start", Lane: queue.Control, Control: message.Control{Do: message.DoStop, Reason: "enough"}}}
	if diff := cmp.Diff(want, w.sent()); diff != "" {
		t.Errorf("sent (-want, +got):\n%s", diff)
	}
	w.fail = failAt("send 1 to control")
	if err := w.SendControl(t.Context(), job, message.Control{Do: message.DoStop}, 0); !errors.Is(err, errPort) {
		t.Errorf("err %v, want the port's", err)
	}
}

func TestOrdersKeepTheirDelayAndAttempt(t *testing.T) {
	w := newWorld(t)
	w.ports.Queue = w.queue
	w.again()
	turn := w.clock.Add(time.Minute)
	orders := []scheduler.Order{
		{Unit: unit("a"), Request: message.Request{Req: []byte(`{}`), Attempt: 2, Turn: turn, Priority: -1}, Delay: time.Minute},
		{Unit: unit("b"), Request: message.Request{Req: []byte(`{}`), Priority: -1}},
	}
	if err := w.SendRequests(t.Context(), job, orders); err != nil {
		t.Fatal(err)
	}
	due := w.sent()
	if len(due) != 1 || due[0].Unit != "b" {
		t.Errorf("due at once: %+v, want b alone", due)
	}
	w.clock = w.clock.Add(time.Minute)
	got, err := w.queue.Receive(t.Context(), queue.RequestLow, job, 10)
	if err != nil || len(got) != 1 {
		t.Fatalf("after the delay: %d messages, err %v; want 1", len(got), err)
	}
	_, payload, err := message.ReadHeader(got[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	var r message.Request
	if err := message.Decode(payload, &r); err != nil {
		t.Fatal(err)
	}
	want := message.Request{Req: []byte(`{}`), Attempt: 2, Turn: turn, Priority: -1}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("message (-want, +got):\n%s", diff)
	}
}
