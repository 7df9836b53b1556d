package awstest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// sqs carries out one operation of SQS.
func (b *Backend) sqs(op string, c *Call) (any, error) {
	switch op {
	case "CreateQueue":
		return b.createQueue(c)
	case "GetQueueUrl":
		return b.getQueueURL(c)
	case "GetQueueAttributes":
		return b.getQueueAttributes(c)
	case "SetQueueAttributes":
		return b.setQueueAttributes(c)
	case "ListQueues":
		return b.listQueues(c)
	case "DeleteQueue":
		return b.deleteQueue(c)
	case "PurgeQueue":
		return b.purgeQueue(c)
	case "SendMessage":
		return b.sendMessage(c)
	case "SendMessageBatch":
		return b.sendMessageBatch(c)
	case "ReceiveMessage":
		return b.receiveMessage(c)
	case "DeleteMessage":
		return b.deleteMessage(c)
	case "DeleteMessageBatch":
		return b.deleteMessageBatch(c)
	case "ChangeMessageVisibility":
		return b.changeVisibility(c)
	case "ChangeMessageVisibilityBatch":
		return b.changeVisibilityBatch(c)
	}
	return nil, unknown(c)
}

type empty struct{}

// queueRequest is what names the queue in nearly every request.
type queueRequest struct{ QueueUrl string }

func (b *Backend) queueOf(url string) (*queue, error) {
	if url == "" {
		return nil, missingParameter("QueueUrl")
	}
	q := b.queues[url[strings.LastIndexByte(url, '/')+1:]]
	if q == nil {
		return nil, noQueue()
	}
	return q, nil
}

func noQueue() *Error {
	return &Error{
		Status: http.StatusBadRequest, Code: "QueueDoesNotExist", QueryCode: "AWS.SimpleQueueService.NonExistentQueue",
		Message: "The specified queue does not exist.",
	}
}

func queueURL(c *Call, name string) string {
	host := c.Request.Host
	if host == "" {
		host = c.Request.URL.Host
	}
	return "http://" + host + "/" + Account + "/" + name
}

func (b *Backend) createQueue(c *Call) (any, error) {
	in, err := decode[struct {
		QueueName  string
		Attributes map[string]string
	}](c)
	if err != nil {
		return nil, err
	}
	if !queueName.MatchString(in.QueueName) {
		return nil, invalidParameter("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	}
	out := queueURLAnswer{queueURL(c, in.QueueName)}
	if q := b.queues[in.QueueName]; q != nil {
		for name, v := range in.Attributes {
			if have, _ := q.attribute(name, b.now()); have != v {
				return nil, &Error{
					Status: http.StatusBadRequest, Code: "QueueNameExists", QueryCode: "QueueAlreadyExists",
					Message: "A queue already exists with the same name and a different value for attribute " + name,
				}
			}
		}
		return out, nil
	}
	q := &queue{name: in.QueueName, attributes: defaultAttributes(), byID: map[string]*message{}, created: b.now()}
	if err := b.setAttributes(q, in.Attributes); err != nil {
		return nil, err
	}
	b.queues[q.name] = q
	return out, nil
}

type queueURLAnswer struct{ QueueUrl string }

func (b *Backend) getQueueURL(c *Call) (any, error) {
	in, err := decode[struct{ QueueName string }](c)
	if err != nil {
		return nil, err
	}
	if b.queues[in.QueueName] == nil {
		return nil, noQueue()
	}
	return queueURLAnswer{queueURL(c, in.QueueName)}, nil
}

func (b *Backend) getQueueAttributes(c *Call) (any, error) {
	in, err := decode[struct {
		queueRequest
		AttributeNames []string
	}](c)
	if err != nil {
		return nil, err
	}
	q, err := b.queueOf(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	b.expire(q)
	names := in.AttributeNames
	if slices.Contains(names, "All") {
		names = slices.Concat(computedAttributes, slices.Collect(maps.Keys(q.attributes)))
	}
	found := map[string]string{}
	for _, name := range names {
		if !slices.Contains(computedAttributes, name) && !otherAttributes[name] && attributeRanges[name] == [2]int{} {
			return nil, &Error{Status: http.StatusBadRequest, Code: "InvalidAttributeName", Message: "Unknown Attribute " + name + "."}
		}
		if v, ok := q.attribute(name, b.now()); ok {
			found[name] = v
		}
	}
	return struct {
		Attributes map[string]string `json:",omitempty"`
	}{found}, nil
}

func (b *Backend) setQueueAttributes(c *Call) (any, error) {
	in, err := decode[struct {
		queueRequest
		Attributes map[string]string
	}](c)
	if err != nil {
		return nil, err
	}
	q, err := b.queueOf(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	return empty{}, b.setAttributes(q, in.Attributes)
}

func (b *Backend) listQueues(c *Call) (any, error) {
	in, err := decode[struct {
		QueueNamePrefix string
		MaxResults      int
		NextToken       string
	}](c)
	if err != nil {
		return nil, err
	}
	var out struct {
		QueueUrls []string `json:",omitempty"`
		NextToken string   `json:",omitempty"`
	}
	last := ""
	for _, name := range slices.Sorted(maps.Keys(b.queues)) {
		if !strings.HasPrefix(name, in.QueueNamePrefix) || name <= in.NextToken {
			continue
		}
		if in.MaxResults > 0 && len(out.QueueUrls) == in.MaxResults {
			out.NextToken = last
			break
		}
		out.QueueUrls = append(out.QueueUrls, queueURL(c, name))
		last = name
	}
	return out, nil
}

func (b *Backend) deleteQueue(c *Call) (any, error) {
	in, err := decode[queueRequest](c)
	if err != nil {
		return nil, err
	}
	q, err := b.queueOf(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	delete(b.queues, q.name)
	return empty{}, nil
}

func (b *Backend) purgeQueue(c *Call) (any, error) {
	in, err := decode[queueRequest](c)
	if err != nil {
		return nil, err
	}
	q, err := b.queueOf(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	q.due, q.byID = nil, map[string]*message{}
	return empty{}, nil
}

// checkEntries checks the identifiers of a batch.
func checkEntries(ids []string) error {
	bad := func(code, format string, args ...any) error {
		return &Error{Status: http.StatusBadRequest, Code: code, QueryCode: "AWS.SimpleQueueService." + code, Message: fmt.Sprintf(format, args...)}
	}
	if len(ids) == 0 {
		return bad("EmptyBatchRequest", "There should be at least one entry in the request.")
	}
	if len(ids) > maxEntries {
		return bad("TooManyEntriesInBatchRequest", "Maximum number of entries per request are %d. You have sent %d.", maxEntries, len(ids))
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if !queueName.MatchString(id) {
			return bad("InvalidBatchEntryId", "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
		}
		if seen[id] {
			return bad("BatchEntryIdsNotDistinct", "Id %s repeated.", id)
		}
		seen[id] = true
	}
	return nil
}

// A failure is an entry of a batch that was not carried out.
type failure struct {
	Id          string
	Code        string
	Message     string
	SenderFault bool
}

// failed turns the error of one entry into its answer.
func failed(id string, e *Error) failure {
	code := e.Code
	if e.QueryCode != "" {
		code = e.QueryCode
	}
	return failure{Id: id, Code: code, Message: e.Message, SenderFault: e.Status < http.StatusInternalServerError}
}

// refused is the failure of an entry that a fault does not let pass.
func refused(id string) failure {
	return failure{Id: id, Code: "InternalError", Message: "Unable to process the entry."}
}
