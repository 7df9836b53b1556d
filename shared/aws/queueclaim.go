package aws

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/skitterhq/skitter/shared/queue"
)

// A claim stands in a message for the body that lies in the bucket. It is the
// message's second line; the first is the body's own, so that the header of a
// dead letter can be read without its body.
type claim struct {
	Key  string `json:"skitter.claim"`
	Size int    `json:"size"` // of the body in bytes
}

// claimMark begins the second line of a message that is a claim, and of no
// other: a body that looks like one is sent as a claim itself.
var claimMark = []byte(`{"skitter.claim":"messages/`)

// maxHead is the longest first line in bytes that a claim keeps. A header is
// some hundred bytes; what is longer is none.
const maxHead = 16 << 10

// claims returns the bodies as they are sent: those that are too long, or look
// like a claim, are put into the bucket.
//
// The blob stays when the message is deleted, since a second delivery of it
// may be under way; the bucket forgets it by age.
func (q *Queue) claims(ctx context.Context, msgs []queue.Message, limit int) ([]string, error) {
	bodies := make([]string, len(msgs))
	var long []int
	for i := range msgs {
		if len(msgs[i].Body)+q.overhead() > limit || isClaim(msgs[i].Body) {
			long = append(long, i)
		} else {
			bodies[i] = string(msgs[i].Body)
		}
	}
	if len(long) == 0 {
		return bodies, nil
	}
	err := together(ctx, len(long), func(ctx context.Context, k int) (err error) {
		i := long[k]
		bodies[i], err = q.check(ctx, msgs[i])
		if err != nil {
			return fmt.Errorf("put the body of message %d, %d bytes, into the bucket: %w", i+1, len(msgs[i].Body), err)
		}
		return nil
	})
	return bodies, err
}

// check puts a body into the bucket and returns the claim to it.
func (q *Queue) check(ctx context.Context, msg queue.Message) (string, error) {
	job := string(msg.Job)
	if job == "" {
		job = "none"
	}
	c := claim{Key: "messages/" + job + "/" + rand.Text(), Size: len(msg.Body)}
	if err := q.blobs.Put(ctx, c.Key, msg.Body); err != nil {
		return "", err
	}
	line, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	head, _, ok := bytes.Cut(msg.Body, []byte("\n"))
	if !ok || len(head) > maxHead {
		head = nil
	}
	return string(head) + "\n" + string(line), nil
}

func isClaim(body []byte) bool {
	_, rest, _ := bytes.Cut(body, []byte("\n"))
	return bytes.HasPrefix(rest, claimMark)
}

// Open fetches the bodies of deliveries that are claims; the others are as
// they were. It returns those that have their bodies, in order, and the IDs of
// those whose body could not be fetched: each is that message's failure alone,
// and is logged. Receive has done it already; whoever gets messages by another
// way, as Lambda does, calls it.
func (q *Queue) Open(ctx context.Context, deliveries []queue.Delivery) (opened []queue.Delivery, failed []string) {
	errs := make([]error, len(deliveries))
	bodies := make([][]byte, len(deliveries))
	// No error is returned to together: one message's does not stop others.
	_ = together(ctx, len(deliveries), func(ctx context.Context, i int) error {
		bodies[i], errs[i] = q.open(ctx, deliveries[i].Body)
		return nil
	})
	for i, d := range deliveries {
		if errs[i] != nil {
			slog.WarnContext(ctx, "the body of a message cannot be fetched", "message", d.ID, "job", d.Job, "error", errs[i])
			failed = append(failed, d.ID)
			continue
		}
		d.Body = bodies[i]
		opened = append(opened, d)
	}
	return opened, failed
}

// open returns the body that a message stands for.
func (q *Queue) open(ctx context.Context, body []byte) ([]byte, error) {
	if !isClaim(body) {
		return body, nil
	}
	_, line, _ := bytes.Cut(body, []byte("\n"))
	var c claim
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, fmt.Errorf("read a claim: %w", err)
	}
	full, err := q.blobs.Get(ctx, c.Key, 0, -1)
	if err != nil {
		return nil, err
	}
	if len(full) != c.Size {
		return nil, fmt.Errorf("blob %s has %d bytes, its claim says %d", c.Key, len(full), c.Size)
	}
	return full, nil
}
