package awstest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Limits of SQS. Source: SQS API Reference, CreateQueue and SendMessage; SQS
// Developer Guide, "Quotas, messages".
const (
	maxEntries    = 10
	maxBytes      = 1 << 20
	maxDelay      = 900
	maxVisibility = 12 * 60 * 60
	maxWait       = 20
)

// attributeRanges are the attributes that are numbers, with their ranges.
var attributeRanges = map[string][2]int{
	"DelaySeconds":                  {0, maxDelay},
	"MaximumMessageSize":            {1024, maxBytes},
	"MessageRetentionPeriod":        {60, 14 * 24 * 60 * 60},
	"ReceiveMessageWaitTimeSeconds": {0, maxWait},
	"VisibilityTimeout":             {0, maxVisibility},
	"KmsDataKeyReusePeriodSeconds":  {60, 24 * 60 * 60},
}

// otherAttributes are kept as they are.
var otherAttributes = map[string]bool{
	"Policy": true, "RedrivePolicy": true, "RedriveAllowPolicy": true,
	"KmsMasterKeyId": true, "SqsManagedSseEnabled": true,
}

func defaultAttributes() map[string]string {
	return map[string]string{
		"DelaySeconds": "0", "MaximumMessageSize": strconv.Itoa(maxBytes), "MessageRetentionPeriod": "345600",
		"ReceiveMessageWaitTimeSeconds": "0", "VisibilityTimeout": "30", "SqsManagedSseEnabled": "true",
	}
}

type redrivePolicy struct {
	target      string // a queue's name
	maxReceives int
}

var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

func invalidParameter(format string, args ...any) *Error {
	return &Error{Status: 400, Code: "InvalidParameterValueException", QueryCode: "InvalidParameterValue", Message: fmt.Sprintf(format, args...)}
}

func missingParameter(name string) *Error {
	return &Error{
		Status: 400, Code: "MissingRequiredParameterException", QueryCode: "MissingParameter",
		Message: "The request must contain the parameter " + name + ".",
	}
}

// setAttributes takes over attributes, all or none.
func (b *Backend) setAttributes(q *queue, attributes map[string]string) error {
	for name, v := range attributes {
		if r, ok := attributeRanges[name]; ok {
			if n, err := strconv.Atoi(v); err != nil || n < r[0] || n > r[1] {
				return &Error{Status: 400, Code: "InvalidAttributeValue", Message: "Invalid value for the parameter " + name + "."}
			}
		} else if !otherAttributes[name] {
			return &Error{Status: 400, Code: "InvalidAttributeName", Message: "Unknown Attribute " + name + "."}
		}
	}
	redrive := q.redrive
	if policy, ok := attributes["RedrivePolicy"]; ok {
		var err error
		if redrive, err = b.parseRedrive(policy); err != nil {
			return err
		}
	}
	maps.Copy(q.attributes, attributes)
	q.redrive = redrive
	q.visibility = seconds(q.attributes["VisibilityTimeout"])
	q.delay = seconds(q.attributes["DelaySeconds"])
	q.retention = seconds(q.attributes["MessageRetentionPeriod"])
	q.wait = seconds(q.attributes["ReceiveMessageWaitTimeSeconds"])
	q.maxSize, _ = strconv.Atoi(q.attributes["MaximumMessageSize"])
	q.modified = b.now()
	return nil
}

// parseRedrive reads a redrive policy; an empty one is none.
func (b *Backend) parseRedrive(policy string) (redrivePolicy, error) {
	if policy == "" {
		return redrivePolicy{}, nil
	}
	bad := func(why string) error {
		return &Error{Status: 400, Code: "InvalidParameterValueException", QueryCode: "InvalidParameterValue",
			Message: "Value " + policy + " for parameter RedrivePolicy is invalid. Reason: " + why}
	}
	var in struct {
		DeadLetterTargetArn string      `json:"deadLetterTargetArn"`
		MaxReceiveCount     json.Number `json:"maxReceiveCount"`
	}
	if err := json.Unmarshal([]byte(policy), &in); err != nil {
		return redrivePolicy{}, bad("Redrive policy is not a valid JSON map.")
	}
	n, err := strconv.Atoi(in.MaxReceiveCount.String())
	if err != nil || n < 1 || n > 1000 {
		return redrivePolicy{}, bad("Invalid value for maxReceiveCount.")
	}
	name := in.DeadLetterTargetArn[strings.LastIndexByte(in.DeadLetterTargetArn, ':')+1:]
	if b.queues[name] == nil {
		return redrivePolicy{}, bad("Dead letter target does not exist.")
	}
	return redrivePolicy{target: name, maxReceives: n}, nil
}

// attribute returns one attribute, and whether it has a value.
func (q *queue) attribute(name string, now time.Time) (string, bool) {
	visible, held, delayed := 0, 0, 0
	if strings.HasPrefix(name, "ApproximateNumber") {
		visible, held, delayed = q.counts(now)
	}
	switch name {
	case "ApproximateNumberOfMessages":
		return strconv.Itoa(visible), true
	case "ApproximateNumberOfMessagesNotVisible":
		return strconv.Itoa(held), true
	case "ApproximateNumberOfMessagesDelayed":
		return strconv.Itoa(delayed), true
	case "QueueArn":
		return q.arn(), true
	case "CreatedTimestamp":
		return strconv.FormatInt(q.created.Unix(), 10), true
	case "LastModifiedTimestamp":
		return strconv.FormatInt(q.modified.Unix(), 10), true
	}
	v, ok := q.attributes[name]
	return v, ok && v != ""
}

var computedAttributes = []string{
	"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed",
	"QueueArn", "CreatedTimestamp", "LastModifiedTimestamp",
}
