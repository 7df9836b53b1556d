package aws

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/skitterhq/skitter/shared/topology"
)

// An answer is what SQS says of a batch: the IDs of the entries that it did,
// and what was wrong with others. Whoever is named in neither was not done.
type answer struct {
	done   []string
	failed []sqstypes.BatchResultErrorEntry
}

// A batchCall does some entries of a batch, by their numbers. The ID of an
// entry is its number, so it is short, plain and distinct whatever the message
// is.
type batchCall func(ctx context.Context, entries []int) (answer, error)

// tryBatch does a batch of n entries and again what of it failed.
func (q *Queue) tryBatch(ctx context.Context, n int, call batchCall, passOver func(code string) bool) error {
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	for try := 1; ; try++ {
		got, err := call(ctx, left)
		var why error
		switch {
		case err == nil:
			left, why, err = unsettled(left, got, passOver)
		case throttled(err):
			why, err = err, nil
		}
		if err != nil {
			return err
		}
		if len(left) == 0 {
			return nil
		}
		if try == batchTries {
			return fmt.Errorf("%d of %d entries failed %d times: %w", len(left), n, try, why)
		}
		if err := q.pause(ctx, try); err != nil {
			return fmt.Errorf("%w, while waiting to try again after: %w", err, why)
		}
	}
}

// unsettled returns the entries that are to be tried again, and why. An entry
// that can never be done is an error.
func unsettled(entries []int, got answer, passOver func(code string) bool) (left []int, why, err error) {
	done := map[string]bool{}
	for _, id := range got.done {
		done[id] = true
	}
	failed := map[string]sqstypes.BatchResultErrorEntry{}
	for _, f := range got.failed {
		failed[awssdk.ToString(f.Id)] = f
	}
	for _, i := range entries {
		id := strconv.Itoa(i)
		f, bad := failed[id]
		code := awssdk.ToString(f.Code)
		switch {
		case bad && passOver(code):
		case bad && f.SenderFault && !throttleCode(code):
			return nil, nil, entryError(i, f)
		case bad:
			left, why = append(left, i), entryError(i, f)
		case !done[id]:
			left, why = append(left, i), fmt.Errorf("entry %d is missing from the answer", i)
		}
	}
	return left, why, nil
}

// An entryFault is what SQS says is wrong with one entry of a batch.
type entryFault struct {
	entry         int
	code, message string
}

func (e *entryFault) Error() string {
	return fmt.Sprintf("entry %d: %s: %s", e.entry, e.code, e.message)
}

func entryError(entry int, f sqstypes.BatchResultErrorEntry) error {
	return &entryFault{entry: entry, code: awssdk.ToString(f.Code), message: awssdk.ToString(f.Message)}
}

// throttled reports whether a whole call was refused for its rate.
func throttled(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && throttleCode(api.ErrorCode())
}

// throttleCode reports whether a code means that there were too many calls.
// Codes of entries are those of other services, too, such as KmsThrottled.
func throttleCode(code string) bool {
	_, known := retry.DefaultThrottleErrorCodes[code]
	return known || strings.Contains(code, "Throttl")
}

// never passes nothing over.
func never(string) bool { return false }

// A span is a part of a slice: from its first to before its last.
type span struct{ from, to int }

// inTens cuts n entries into batches.
func inTens(n int) []span {
	var spans []span
	for from := 0; from < n; from += topology.MaxBatch {
		spans = append(spans, span{from, min(from+topology.MaxBatch, n)})
	}
	return spans
}

// atOnce is how many calls one Send, Delete or Return has under way.
const atOnce = 8

// together does n things, a few at a time. After an error it begins no more.
func together(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	if n == 1 {
		return do(ctx, 0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		slots = make(chan struct{}, atOnce)
	)
	for i := range n {
		slots <- struct{}{}
		mu.Lock()
		stop := first != nil
		mu.Unlock()
		if stop {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := do(ctx, i); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = err
				}
			}
		})
	}
	wg.Wait()
	return first
}
