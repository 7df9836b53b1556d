package engine_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
)

// taken takes what waits on a queue, as if the queue had given up on it.
func taken(t *testing.T, w *worldtest.World, from queue.Name) []engine.DeadDelivery {
	t.Helper()
	batch, err := w.Base().Queue.Receive(t.Context(), from, "", 10)
	if err != nil || len(batch) == 0 {
		t.Fatalf("%d messages of %s, %v", len(batch), from, err)
	}
	letters := make([]engine.DeadDelivery, 0, len(batch))
	for _, d := range batch {
		letters = append(letters, engine.DeadDelivery{Delivery: d})
		if err := w.Base().Queue.Delete(t.Context(), from, []string{d.Receipt}); err != nil {
			t.Fatal(err)
		}
	}
	return letters
}

// begin starts the job and reads its start, and nothing more.
func begin(t *testing.T, w *worldtest.World) {
	t.Helper()
	w.Start()
	batch, err := w.Base().Queue.Receive(t.Context(), queue.Control, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	w.Work(queue.Control, w.Control, batch)
}

// letters are the dead letters that are kept of a job.
func letters(t *testing.T, w *worldtest.World, job crawl.JobUID) []string {
	t.Helper()
	list, err := w.Base().Dead.List(t.Context(), job, 0)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, l := range list {
		reasons = append(reasons, string(l.From)+": "+l.Reason)
	}
	return reasons
}

// A dead letter whose row has no mark never reached a function: it is sent
// again, three times, and then failed with its reason.
func TestADeadLetterThatNobodyReadIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "item a"}, NoCensus: true})
		begin(t, w)
		for round := range 4 {
			if failed := w.DeadLetters(t.Context(), taken(t, w, queue.Request)); len(failed) > 0 {
				t.Fatalf("round %d: %v are to be delivered again", round, failed)
			}
			if state := w.Row("/").State; (state == frontier.Queued) != (round < 3) {
				t.Errorf("round %d: the unit is %s", round, state)
			}
		}
		if row := w.Row("/"); row.State != frontier.Failed || row.Why != "dead: delivered too often" {
			t.Errorf("the unit is %s, %s", row.State, row.Why)
		}
		if got := letters(t, w, w.Job.UID); !slices.Equal(got, []string{"request: delivered too often"}) {
			t.Errorf("letters %v", got)
		}
		if job := w.Finish(); job.Reason != crawl.ReasonFinished {
			t.Errorf("the job ended with %s", job.Reason)
		}
	})
}

// One whose row was marked since it was sent has reached a function, and is not
// sent again; one whose unit is closed is forgotten.
func TestADeadLetterThatWasReadIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "item a"}, NoCensus: true})
		begin(t, w)
		letter := taken(t, w, queue.Request)
		if _, err := w.Rows.Mark(t.Context(), w.Job.UID, w.Row("/").Unit); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"first", "second"} {
			letter[0].ID = id
			if failed := w.DeadLetters(t.Context(), letter); len(failed) > 0 {
				t.Fatalf("%v are to be delivered again", failed)
			}
		}
		if row := w.Row("/"); row.State != frontier.Failed {
			t.Errorf("the unit is %s", row.State)
		}
		if got := letters(t, w, w.Job.UID); len(got) != 1 {
			t.Errorf("letters %v, want one: the unit was closed when the second came", got)
		}
	})
}

// A message that cannot be understood, and one whose job is gone, are kept with
// their reasons; neither is delivered for ever.
func TestWhatBelongsToNothingIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "item a"}})
		w.Start()
		strange := engine.DeadDelivery{Delivery: queue.Delivery{ID: "strange", Job: w.Job.UID, Body: []byte("no header")}}
		future := engine.DeadDelivery{Delivery: queue.Delivery{ID: "future", Job: w.Job.UID, Body: []byte(`{"v":99,"kind":"page","job":"` + string(w.Job.UID) + `"}` + "\n{}")}}
		if failed := w.DeadLetters(t.Context(), []engine.DeadDelivery{strange, future}); len(failed) > 0 {
			t.Fatalf("%v are to be delivered again", failed)
		}
		got := strings.Join(letters(t, w, w.Job.UID), "\n")
		for _, want := range []string{"message without a payload", "message version 99: this build reads 1 to 1"} {
			if !strings.Contains(got, want) {
				t.Errorf("letters %q have no %q", got, want)
			}
		}
		gone, err := message.Encode(message.Header{Kind: message.KindItem, Job: "gone", Unit: crawl.StartUnit, Run: "r"}, message.Item{})
		if err != nil {
			t.Fatal(err)
		}
		if failed := w.Pipeline(t.Context(), queue.Item, []queue.Delivery{{ID: "1", Job: "gone", Body: gone, Receives: 1}}); len(failed) > 0 {
			t.Errorf("a message of a job that is gone fails: %v", failed)
		}
		if got := letters(t, w, "gone"); !slices.Equal(got, []string{"item: the job is gone"}) {
			t.Errorf("letters %v", got)
		}
	})
}

// A damaged payload fails its message alone.
func TestADamagedMessageFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "link /a\nlink /b", "/a": "item a", "/b": "item b"}})
		w.Start()
		for w.StartQueued() || w.Row("/").State == frontier.Queued {
			w.Pump()
		}
		for _, stage := range []struct {
			from queue.Name
			work func(batch []queue.Delivery) []string
		}{
			{queue.Request, func(b []queue.Delivery) []string { return w.Fetch(t.Context(), queue.Request, b) }},
			{queue.Page, func(b []queue.Delivery) []string { return w.Parse(t.Context(), queue.Page, b) }},
			{queue.Item, func(b []queue.Delivery) []string { return w.Pipeline(t.Context(), queue.Item, b) }},
		} {
			batch, err := w.Base().Queue.Receive(t.Context(), stage.from, "", 10)
			if err != nil || len(batch) != 2 {
				t.Fatalf("%s: %d messages, %v", stage.from, len(batch), err)
			}
			header, _, _ := strings.Cut(string(batch[0].Body), "\n")
			damaged := batch[0]
			damaged.Body = []byte(header + "\n{\"req\":tru")
			if failed := stage.work([]queue.Delivery{damaged, batch[1]}); !slices.Equal(failed, []string{damaged.ID}) {
				t.Errorf("%s: %v failed, want the damaged one alone", stage.from, failed)
			}
			if stage.from != queue.Item { // the whole one, so that the next stage has two
				if failed := stage.work(batch[:1]); len(failed) > 0 {
					t.Errorf("%s: %v failed", stage.from, failed)
				}
			}
		}
	})
}
