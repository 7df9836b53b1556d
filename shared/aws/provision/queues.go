package provision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/skitterhq/skitter/shared/topology"
)

// The attributes that an emulator may refuse: with less, or without
// encryption, the stack works there.
var optional = []string{
	string(sqstypes.QueueAttributeNameMaximumMessageSize),
	string(sqstypes.QueueAttributeNameSqsManagedSseEnabled),
}

const redrivePolicy = string(sqstypes.QueueAttributeNameRedrivePolicy)

// queues are the stack's, the dead-letter queue first.
func (p *provisioner) queues() []topology.Queue {
	list := slices.Clone(p.stack.Queues)
	slices.SortStableFunc(list, func(a, b topology.Queue) int { return dead(b) - dead(a) })
	return list
}

func dead(q topology.Queue) int {
	if q.MaxReceives == 0 {
		return 1
	}
	return 0
}

func (p *provisioner) createQueues(ctx context.Context) error {
	deadARN := ""
	for _, q := range p.queues() {
		name := p.stack.QueueName(q.Name)
		arn, err := p.createQueue(ctx, name, attributes(q, deadARN))
		if err != nil {
			return p.queueFailure("create queue "+name, err)
		}
		if dead(q) == 1 {
			deadARN = arn
		}
	}
	return nil
}

// attributes are those that a queue shall have.
func attributes(q topology.Queue, deadARN string) map[string]string {
	seconds := func(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
	a := map[string]string{
		string(sqstypes.QueueAttributeNameVisibilityTimeout):      seconds(q.Visibility),
		string(sqstypes.QueueAttributeNameMessageRetentionPeriod): seconds(q.Retention),
		string(sqstypes.QueueAttributeNameMaximumMessageSize):     strconv.Itoa(topology.MaxMessage),
		string(sqstypes.QueueAttributeNameSqsManagedSseEnabled):   "true",
	}
	if q.MaxReceives > 0 && deadARN != "" {
		a[redrivePolicy] = fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, deadARN, q.MaxReceives)
	}
	return a
}

// createQueue makes a queue, or changes what is other than it should be, and
// returns its ARN.
func (p *provisioner) createQueue(ctx context.Context, name string, want map[string]string) (arn string, err error) {
	url, err := p.queueURL(ctx, name)
	if err == nil && url == "" {
		url, err = p.makeQueue(ctx, name, want)
	}
	if err != nil {
		return "", err
	}
	out, err := p.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll},
	})
	if err != nil {
		return "", err
	}
	return out.Attributes[string(sqstypes.QueueAttributeNameQueueArn)], p.setAttributes(ctx, url, different(want, out.Attributes))
}

// queueURL is empty if there is no such queue.
func (p *provisioner) queueURL(ctx context.Context, name string) (string, error) {
	out, err := p.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	var missing *sqstypes.QueueDoesNotExist
	if errors.As(err, &missing) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return awssdk.ToString(out.QueueUrl), nil
}

func (p *provisioner) makeQueue(ctx context.Context, name string, want map[string]string) (string, error) {
	out, err := p.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: want})
	if p.refused(err) {
		out, err = p.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: required(want)})
	}
	var recent *sqstypes.QueueDeletedRecently
	if errors.As(err, &recent) {
		return "", fmt.Errorf("it was deleted less than 60 s ago; try again in a minute: %w", err)
	}
	if err != nil {
		return "", err
	}
	return awssdk.ToString(out.QueueUrl), nil
}

// setAttributes changes some. An emulator may keep its own of the optional
// ones.
func (p *provisioner) setAttributes(ctx context.Context, url string, change map[string]string) error {
	if must := required(change); len(must) > 0 {
		if _, err := p.sqs.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: must}); err != nil {
			return err
		}
	}
	for _, name := range optional {
		value, ok := change[name]
		if !ok {
			continue
		}
		_, err := p.sqs.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: map[string]string{name: value}})
		if err != nil && !p.refused(err) {
			return err
		}
	}
	return nil
}

// required is a copy without the attributes that an emulator may refuse.
func required(attributes map[string]string) map[string]string {
	m := maps.Clone(attributes)
	maps.DeleteFunc(m, func(name, _ string) bool { return slices.Contains(optional, name) })
	return m
}

// refused reports whether an emulator does not take an attribute.
func (p *provisioner) refused(err error) bool {
	if err == nil || !p.emulated {
		return false
	}
	switch code(err) {
	case "InvalidAttributeName", "InvalidAttributeValue", "InvalidParameterValue", "UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation":
		return true
	}
	return p.unknown(err)
}

// different are the attributes that are wanted otherwise than they are.
func different(want, is map[string]string) map[string]string {
	change := map[string]string{}
	for name, value := range want {
		if value != is[name] && (name != redrivePolicy || !samePolicy(value, is[name])) {
			change[name] = value
		}
	}
	return change
}

// samePolicy compares policies as what they say: numbers come back as text
// from some.
func samePolicy(a, b string) bool {
	parse := func(s string) map[string]string {
		var fields map[string]any
		if json.Unmarshal([]byte(s), &fields) != nil {
			return nil
		}
		texts := map[string]string{}
		for name, value := range fields {
			texts[name] = fmt.Sprint(value)
		}
		return texts
	}
	x, y := parse(a), parse(b)
	return x != nil && reflect.DeepEqual(x, y)
}

func (p *provisioner) deleteQueues(ctx context.Context) error {
	for _, q := range slices.Backward(p.queues()) {
		name := p.stack.QueueName(q.Name)
		url, err := p.queueURL(ctx, name)
		if err == nil && url != "" {
			_, err = p.sqs.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &url})
		}
		if err != nil {
			return p.queueFailure("delete queue "+name, err)
		}
	}
	return nil
}
