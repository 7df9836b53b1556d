package awstest

import (
	"net/http"
	"time"
)

// A receiptEntry names a received message in a batch.
type receiptEntry struct {
	Id                string
	ReceiptHandle     string
	VisibilityTimeout *int
}

type batchAnswer struct {
	Successful []struct{ Id string } `json:",omitempty"`
	Failed     []failure             `json:",omitempty"`
}

func (b *Backend) deleteMessage(c *Call) (any, error) { return b.single(c, b.forget) }

func (b *Backend) changeVisibility(c *Call) (any, error) { return b.single(c, b.hide) }

func (b *Backend) deleteMessageBatch(c *Call) (any, error) { return b.batch(c, b.forget) }

func (b *Backend) changeVisibilityBatch(c *Call) (any, error) { return b.batch(c, b.hide) }

func (b *Backend) single(c *Call, do func(*queue, receiptEntry) *Error) (any, error) {
	in, err := decode[struct {
		queueRequest
		receiptEntry
	}](c)
	if err != nil {
		return nil, err
	}
	q, err := b.queueOf(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if e := do(q, in.receiptEntry); e != nil {
		return nil, e
	}
	return empty{}, nil
}

func (b *Backend) batch(c *Call, do func(*queue, receiptEntry) *Error) (any, error) {
	in, err := decode[struct {
		queueRequest
		Entries []receiptEntry
	}](c)
	if err != nil {
		return nil, err
	}
	q, err := b.queueOf(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(in.Entries))
	for i, e := range in.Entries {
		ids[i] = e.Id
	}
	if err := checkEntries(ids); err != nil {
		return nil, err
	}
	var out batchAnswer
	for i, e := range in.Entries {
		if c.refuses(i) {
			out.Failed = append(out.Failed, refused(e.Id))
		} else if bad := do(q, e); bad != nil {
			out.Failed = append(out.Failed, failed(e.Id, bad))
		} else {
			out.Successful = append(out.Successful, struct{ Id string }{e.Id})
		}
	}
	return out, nil
}

// forget deletes a message. What is gone or was received again is passed over:
// SQS may delete the latter, or not, and says that it did.
func (b *Backend) forget(q *queue, e receiptEntry) *Error {
	m, err := q.held(e.ReceiptHandle)
	if err != nil {
		return err
	}
	if m != nil {
		q.remove(m)
	}
	return nil
}

// hide sets when a received message can be received again.
func (b *Backend) hide(q *queue, e receiptEntry) *Error {
	if e.VisibilityTimeout == nil {
		return missingParameter("VisibilityTimeout")
	}
	if n := *e.VisibilityTimeout; n < 0 || n > maxVisibility {
		return invalidParameter("Value %d for parameter VisibilityTimeout is invalid. Reason: VisibilityTimeout must be an integer between 0 and %d.", n, maxVisibility)
	}
	m, err := q.held(e.ReceiptHandle)
	if err != nil {
		return err
	}
	now := b.now()
	if m == nil {
		return invalidParameter("Value %s for parameter ReceiptHandle is invalid. "+
			"Reason: Message does not exist or is not available for visibility timeout change.", e.ReceiptHandle)
	}
	if !m.due.After(now) {
		return &Error{
			Status: http.StatusBadRequest, Code: "MessageNotInflight", QueryCode: "AWS.SimpleQueueService.MessageNotInflight",
			Message: "The message referred to is not in flight.",
		}
	}
	q.moveTo(m, now.Add(time.Duration(*e.VisibilityTimeout)*time.Second))
	return nil
}
