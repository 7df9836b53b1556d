package sqspoll

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/skitterhq/skitter/shared/topology"
)

// serve invokes the function with a batch and deletes what it has done.
func (r *run) serve(ctx context.Context, b batch) {
	r.counts.underWay.Add(1)
	defer r.counts.underWay.Add(-1)
	if b = r.stop(b); len(b.records) == 0 {
		return
	}
	if r.Function != "" {
		ctx = context.WithValue(ctx, traceKey{}, longestChain(b.records, r.Function).next(r.Function))
	}
	response, err := r.invoke(ctx, b)
	var failed map[string]bool
	if err == nil {
		failed, err = failures(response, b)
	}
	if err != nil {
		r.counts.failures.Add(1)
		r.log.Warn("an invocation failed, and its messages come again", "messages", len(b.records), "err", err)
		return
	}
	var receipts []string
	for _, rec := range b.records {
		if !failed[rec.id] {
			receipts = append(receipts, rec.receipt)
		}
	}
	for len(receipts) > 0 {
		n := min(len(receipts), topology.MaxBatch)
		r.delete(ctx, receipts[:n])
		receipts = receipts[n:]
	}
}

// invoke calls the function, and again while it is throttled and the messages
// are hidden. It does not wait for a free environment when it is time to stop.
func (r *run) invoke(ctx context.Context, b batch) ([]byte, error) {
	event := b.event()
	until := b.records[0].received.Add(r.queue.visibility)
	for tries := 1; ; tries++ {
		response, err := r.Invoke(context.WithoutCancel(ctx), event)
		if !errors.Is(err, ErrThrottled) {
			r.counts.invocations.Add(1)
			return response, err
		}
		if ctx.Err() != nil || r.Now().Add(pause(tries)).After(until) {
			return nil, err
		}
		r.Sleep(ctx, pause(tries))
	}
}

const (
	// deleteTries is how often a delete is tried; with the SDK's own tries
	// that bridges what passes by itself. A message that is not deleted comes
	// again, which functions must bear anyway.
	deleteTries = 5
	// deleteLimit is how long deleting up to ten messages may take, so that an
	// endpoint that hangs does not keep Run from its end.
	deleteLimit = 30 * time.Second
)

// delete deletes up to ten messages by their receipts.
func (r *run) delete(ctx context.Context, receipts []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteLimit)
	defer cancel()
	open := make([]types.DeleteMessageBatchRequestEntry, len(receipts))
	for i, receipt := range receipts {
		id := strconv.Itoa(i)
		open[i] = types.DeleteMessageBatchRequestEntry{Id: &id, ReceiptHandle: &receipt}
	}
	var err error
	for tries := 1; ; tries++ {
		open, err = r.deleteOnce(ctx, open)
		if len(open) == 0 {
			return
		}
		if tries == deleteTries || ctx.Err() != nil {
			r.log.Warn("messages were not deleted, and come again", "messages", len(open), "err", err)
			return
		}
		r.Sleep(ctx, pause(tries))
	}
}

// deleteOnce returns the entries to try again, and why. An entry that is at
// fault itself, as one whose receipt is no longer good, is given up.
func (r *run) deleteOnce(ctx context.Context, entries []types.DeleteMessageBatchRequestEntry) ([]types.DeleteMessageBatchRequestEntry, error) {
	out, err := r.Client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &r.queue.url, Entries: entries})
	if err != nil {
		return entries, err
	}
	settled := map[string]bool{}
	for _, ok := range out.Successful {
		settled[text(ok.Id)] = true
	}
	r.counts.deleted.Add(int64(len(out.Successful)))
	reason := errors.New("the answer does not name them")
	for _, f := range out.Failed {
		reason = errors.New(text(f.Code) + ": " + text(f.Message))
		if f.SenderFault {
			settled[text(f.Id)] = true
			r.log.Warn("a message was not deleted, and comes again", "err", reason)
		}
	}
	var again []types.DeleteMessageBatchRequestEntry
	for _, e := range entries {
		if !settled[text(e.Id)] {
			again = append(again, e)
		}
	}
	return again, reason
}
