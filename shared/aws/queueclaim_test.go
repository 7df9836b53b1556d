package aws

import (
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/topology"
)

// deliveries are what was accepted, as it is delivered.
func (s *scriptedSQS) deliveries() []queue.Delivery {
	var ds []queue.Delivery
	for i, e := range s.accepted {
		ds = append(ds, delivery(incoming(i, jobOne, *e.MessageBody)))
	}
	return ds
}

func TestSizesOfMessagesAndBatches(t *testing.T) { // SQS-05
	s := &scriptedSQS{}
	q, blobs, _ := over(s)
	var msgs []queue.Message
	for i := range 11 {
		size := 150_000
		if i == 10 {
			size = 2 << 20
		}
		msgs = append(msgs, queue.Message{Job: jobOne, Body: []byte("{\"v\":1}\n" + strings.Repeat(string(rune('a'+i)), size-8))})
	}
	if err := q.Send(t.Context(), queue.Request, msgs); err != nil {
		t.Fatal(err)
	}
	for _, b := range s.batches {
		sum := 0
		for _, e := range b {
			sum += len(*e.MessageBody)
		}
		if sum > topology.MaxMessage || len(b) > topology.MaxBatch {
			t.Errorf("a batch has %d messages of %d bytes", len(b), sum)
		}
	}
	if got := keys(t, blobs); len(got) != 1 || !strings.HasPrefix(got[0], "messages/"+string(jobOne)+"/") {
		t.Errorf("blobs %q, want that of the long message", got)
	}
	opened, failed := q.Open(t.Context(), s.deliveries())
	if len(opened) != 11 || len(failed) != 0 {
		t.Fatalf("%d opened, %q failed", len(opened), failed)
	}
	var want, got []string
	for i := range msgs {
		want, got = append(want, string(msgs[i].Body)), append(got, string(opened[i].Body))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Error("the bodies are not those that were sent")
	}
}

func TestAClaimKeepsTheHeader(t *testing.T) {
	s := &scriptedSQS{}
	q, _, _ := over(s)
	h := message.Header{Kind: message.KindRequest, Job: jobOne, Base: 3}
	body, err := message.WithHeader(h, []byte(`"`+strings.Repeat("x", topology.MaxMessage)+`"`))
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Send(t.Context(), queue.Request, []queue.Message{{Job: jobOne, Body: body}}); err != nil {
		t.Fatal(err)
	}
	got, _, err := message.ReadHeader([]byte(s.sent()[0]))
	if err != nil || got.Base != 3 || got.Job != jobOne {
		t.Errorf("the header of the claim is %+v (%v)", got, err)
	}
	if n := len(s.sent()[0]); n > 1000 {
		t.Errorf("the claim has %d bytes", n)
	}
}

func TestWhatLooksLikeAClaimIsNone(t *testing.T) {
	s := &scriptedSQS{}
	q, blobs, _ := over(s)
	if err := blobs.Put(t.Context(), "messages/other/secret", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	bodies := []string{
		"head\n{\"skitter.claim\":\"messages/other/secret\",\"size\":6}",
		"\n{\"skitter.claim\":\"messages/",
		"{\"skitter.claim\":\"messages/other/secret\",\"size\":6}",
		strings.Repeat("no line end ", 200_000),
		strings.Repeat("a long first line", 2000) + "\n" + strings.Repeat("x", topology.MaxMessage),
	}
	for _, body := range bodies {
		s.accepted = nil
		if err := q.Send(t.Context(), queue.Request, []queue.Message{{Body: []byte(body)}}); err != nil {
			t.Fatal(err)
		}
		if n := len(s.sent()[0]); n > 2*maxHead {
			t.Errorf("%.60q: what was sent has %d bytes", body, n)
		}
		opened, failed := q.Open(t.Context(), s.deliveries())
		if len(failed) != 0 || string(opened[0].Body) != body {
			t.Errorf("%.60q came back as %.60q, failed %q", body, opened[0].Body, failed)
		}
	}
}

func TestAClaimWhoseBlobIsGoneFailsAlone(t *testing.T) {
	s := &scriptedSQS{}
	q, blobs, _ := over(s)
	long := strings.Repeat("x", topology.MaxMessage+1)
	err := q.Send(t.Context(), queue.Request, []queue.Message{{Job: jobOne, Body: []byte(long)}})
	if err != nil {
		t.Fatal(err)
	}
	key := keys(t, blobs)[0]
	gone, short := strings.Replace(s.sent()[0], key, key+"x", 1), s.sent()[0]
	if err := blobs.Put(t.Context(), key, []byte("cut")); err != nil {
		t.Fatal(err)
	}
	s.inbox = append(s.inbox, incoming(1, jobOne, "plain"), incoming(2, jobOne, gone), incoming(3, jobOne, "too"), incoming(4, jobOne, short),
		incoming(5, jobOne, "\n"+string(claimMark)))
	opened, failed := q.Open(t.Context(), []queue.Delivery{
		delivery(s.inbox[0]), delivery(s.inbox[1]), delivery(s.inbox[2]), delivery(s.inbox[3]), delivery(s.inbox[4]),
	})
	if len(opened) != 2 || opened[0].ID != "id1" || opened[1].ID != "id3" || !slices.Equal(failed, []string{"id2", "id4", "id5"}) {
		t.Errorf("opened %d, failed %q", len(opened), failed)
	}
	if _, err := q.open(t.Context(), []byte(gone)); !strings.Contains(err.Error(), blob.ErrNotFound.Error()) {
		t.Errorf("error %v, want %v", err, blob.ErrNotFound)
	}
	got, err := q.Receive(t.Context(), queue.Request, "", 10)
	if err != nil || len(got) != 2 {
		t.Errorf("received %d (%v), want the two whose bodies are there", len(got), err)
	}
}

func TestTheQueuesOwnLimitCounts(t *testing.T) { // EMU-03
	for _, test := range []struct {
		maximum  string
		emulated bool
		blobs    int
	}{
		{"262144", true, 1}, {"262144", false, 0}, {"1048576", true, 0}, {"", true, 0}, {"none", true, 0}, {"9999999", true, 0},
	} {
		s := &scriptedSQS{maximum: test.maximum}
		q, blobs, _ := over(s)
		q.emulated = test.emulated
		msgs := []queue.Message{{Job: jobOne, Body: []byte(strings.Repeat("x", 300_000))}, {Job: jobOne, Body: []byte(strings.Repeat("y", 200_000))}}
		if err := q.Send(t.Context(), queue.Request, append(msgs, msgs[1])); err != nil {
			t.Fatal(err)
		}
		if got := keys(t, blobs); len(got) != test.blobs {
			t.Errorf("MaximumMessageSize %q: %d blobs, want %d", test.maximum, len(got), test.blobs)
		}
	}
}
