package check

import (
	"slices"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/topology"
)

func seconds(d time.Duration) int { return int(d / time.Second) }

// queues: each is there, with the topology's sizes and times.
func queues(v *view) {
	for _, q := range v.Queues {
		r := v.queue(q.Name)
		v.want(r, "VisibilityTimeout", seconds(q.Visibility))
		v.want(r, "MessageRetentionPeriod", seconds(q.Retention))
		v.want(r, "MaximumMessageSize", topology.MaxMessage)
		if r.get("FifoQueue") != nil {
			v.bad("%s is a FIFO queue, which delays no message by itself", r.id)
		}
	}
}

// visibility: a message is hidden for six times the function's time-out and the
// window, else it comes again while it is worked.
func visibility(v *view) {
	for _, f := range v.Functions {
		function := v.function(f.Name)
		for _, m := range v.mappings(function) {
			for _, q := range v.of("SQS::Queue") {
				if !points(m.get("EventSourceArn"), q.id) {
					continue
				}
				window := max(m.number("MaximumBatchingWindowInSeconds"), 0)
				if least := 6*function.number("Timeout") + window; q.number("VisibilityTimeout") < least {
					v.bad("%s hides messages for %d s, less than %d s", q.id, q.number("VisibilityTimeout"), least)
				}
			}
		}
	}
}

// redrive: every queue gives up to the dead-letter queue, and not before a
// message was received five times.
func redrive(v *view) {
	dead := v.queue(topology.QueueDead)
	for _, q := range v.Queues {
		r := v.queue(q.Name)
		if q.Name == topology.QueueDead {
			if r.get("RedrivePolicy") != nil {
				v.bad("%s is the dead-letter queue and gives up itself", r.id)
			}
			continue
		}
		if !points(r.get("RedrivePolicy.deadLetterTargetArn"), dead.id) {
			v.bad("%s does not give up to %s", r.id, dead.id)
		}
		v.want(r, "RedrivePolicy.maxReceiveCount", q.MaxReceives)
		if n := r.number("RedrivePolicy.maxReceiveCount"); n < 5 {
			v.bad("%s gives up after %d receives, less than 5", r.id, n)
		}
	}
}

// deadLetterQueue: it keeps a message for longer than any queue that gives up to
// it, and takes from these alone.
func deadLetterQueue(v *view) {
	dead := v.queue(topology.QueueDead)
	v.want(dead, "RedriveAllowPolicy.redrivePermission", "byQueue")
	sources := text(dead.get("RedriveAllowPolicy.sourceQueueArns"))
	n := 0
	for _, q := range v.Queues {
		if q.Name == topology.QueueDead {
			continue
		}
		n++
		r := v.queue(q.Name)
		if r.number("MessageRetentionPeriod") >= dead.number("MessageRetentionPeriod") {
			v.bad("%s forgets before %s does", dead.id, r.id)
		}
		if !strings.Contains(sources, `:`+v.QueueName(q.Name)+`"`) {
			v.bad("%s takes nothing from %s", dead.id, r.id)
		}
	}
	if all := list(dead.get("RedriveAllowPolicy.sourceQueueArns")); len(all) != n {
		v.bad("%s takes from %d queues, not %d", dead.id, len(all), n)
	}
}

// encryptedQueues: what lies in a queue is encrypted.
func encryptedQueues(v *view) {
	for _, r := range v.of("SQS::Queue") {
		if r.get("SqsManagedSseEnabled") != true && r.get("KmsMasterKeyId") == nil {
			v.bad("%s is not encrypted", r.id)
		}
	}
}

// tlsQueues: nobody speaks to a queue in the clear.
func tlsQueues(v *view) {
	for _, r := range v.of("SQS::Queue") {
		if !v.refusesClear("SQS::QueuePolicy", "Queues", r.id, "sqs:*") {
			v.bad("%s takes calls without TLS", r.id)
		}
	}
}

// refusesClear reports whether a policy denies everything to whoever comes
// without TLS.
func (v *view) refusesClear(kind, property, id, action string) bool {
	for _, p := range v.of(kind) {
		if !mentions(p.get(property), id) {
			continue
		}
		for _, s := range statements(p.id, p.get("PolicyDocument")) {
			if s.effect == "Deny" && slices.Contains(s.actions, any(action)) && mentions(s.resources, id) &&
				text(s.principal) == `{"AWS":"*"}` && text(s.condition) == `{"Bool":{"aws:SecureTransport":"false"}}` {
				return true
			}
		}
	}
	return false
}

// mapping is what feeds a function from a queue.
func (v *view) mapping(f topology.Function, source topology.Source) resource {
	function, queue := v.function(f.Name), v.queue(source.Queue)
	for _, m := range v.mappings(function) {
		if points(m.get("EventSourceArn"), queue.id) {
			return m
		}
	}
	v.bad("nothing feeds %s from %s", function.id, queue.id)
	return resource{id: "missing mapping of " + source.Queue}
}

// sources: each function is fed from its queues, in the topology's batches.
func sources(v *view) {
	n := 0
	for _, f := range v.Functions {
		for _, source := range f.Sources {
			n++
			m := v.mapping(f, source)
			v.want(m, "BatchSize", source.Batch)
			if window := max(m.number("MaximumBatchingWindowInSeconds"), 0); window != seconds(source.Window) {
				v.bad("%s waits %d s for a batch, not %d s", m.id, window, seconds(source.Window))
			}
			if m.get("Enabled") == false {
				v.bad("%s is switched off", m.id)
			}
			if m.get("FilterCriteria") != nil {
				v.bad("%s filters, which deletes messages", m.id)
			}
		}
	}
	if all := v.of("Lambda::EventSourceMapping"); len(all) != n {
		v.bad("there are %d sources, not %d", len(all), n)
	}
}

// partialBatch: a function says which messages of a batch are to come again;
// without it one that fails brings back all.
func partialBatch(v *view) {
	for _, m := range v.of("Lambda::EventSourceMapping") {
		v.want(m, "FunctionResponseTypes", []any{"ReportBatchItemFailures"})
	}
}

// concurrency: a queue has no more of its function than the topology says.
func concurrency(v *view) {
	for _, f := range v.Functions {
		for _, source := range f.Sources {
			m := v.mapping(f, source)
			if m.get("ProvisionedPollerConfig") != nil {
				if most(m) < source.Concurrency {
					v.bad("%s may invoke %d at a time, less than %d", m.id, most(m), source.Concurrency)
				}
				continue
			}
			v.want(m, "ScalingConfig.MaximumConcurrency", source.Concurrency)
		}
	}
}
