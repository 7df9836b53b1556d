package sqspoll

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// traceAttribute is what SQS keeps a trace header under that came with a
// message. Source: SQS API Reference, MessageSystemAttributeNameForSends.
const traceAttribute = "AWSTraceHeader"

// A trace is an X-Ray trace header, whose Lineage counts how often each
// function was invoked in the chain. Source: AWS X-Ray Developer Guide,
// "Tracing header".
type trace struct {
	rest []string // all fields but Lineage
	hops []hop
}

// A hop is one function of a chain.
type hop struct {
	function string // its hash
	times    int
}

// readTrace reads a header. What is no field of a lineage is passed over.
func readTrace(header string) trace {
	var t trace
	for field := range strings.SplitSeq(header, ";") {
		list, ok := strings.CutPrefix(field, "Lineage=")
		if !ok {
			if field != "" {
				t.rest = append(t.rest, field)
			}
			continue
		}
		for one := range strings.SplitSeq(list, "|") {
			function, count, _ := strings.Cut(one, ":")
			if times, err := strconv.Atoi(count); err == nil {
				t.hops = append(t.hops, hop{function, times})
			}
		}
	}
	return t
}

// times is how often a function was invoked in the chain.
func (t trace) times(function string) int {
	for _, h := range t.hops {
		if h.function == hashOf(function) {
			return h.times
		}
	}
	return 0
}

// next is the header of the function's next invocation in the chain.
func (t trace) next(function string) string {
	hash := hashOf(function)
	hops := slices.DeleteFunc(slices.Clone(t.hops), func(h hop) bool { return h.function == hash })
	hops = append(hops, hop{hash, t.times(function) + 1})
	var lineage []string
	for _, h := range hops {
		lineage = append(lineage, fmt.Sprintf("%s:%d", h.function, h.times))
	}
	fields := t.rest
	if len(fields) == 0 {
		id := make([]byte, 12)
		_, _ = rand.Read(id) // it never fails
		fields = []string{fmt.Sprintf("Root=1-%08x-%x", time.Now().Unix(), id), "Sampled=0"}
	}
	return strings.Join(append(slices.Clone(fields), "Lineage="+strings.Join(lineage, "|")), ";")
}

func hashOf(function string) string {
	sum := sha256.Sum256([]byte(function))
	return hex.EncodeToString(sum[:4])
}

// longestChain is the trace of a batch: that of the record whose chain has the
// most invocations of the function. AWS does not say which one Lambda goes on
// with.
func longestChain(records []record, function string) trace {
	return slices.MaxFunc(records, func(a, b record) int {
		return cmp.Compare(a.trace.times(function), b.trace.times(function))
	}).trace
}

// stop takes those records out of a batch whose chain has invoked the function
// as often as it may.
func (r *run) stop(b batch) batch {
	if r.Hops == 0 {
		return b
	}
	var going batch
	for _, rec := range b.records {
		if rec.trace.times(r.Function) < r.Hops {
			going.add(rec)
			continue
		}
		r.counts.stopped.Add(1)
		r.log.Error("a message is not worked: its chain has invoked the function too often", "function", r.Function, "message", rec.id, "times", r.Hops)
	}
	return going
}

type traceKey struct{}

// Trace is the trace header of an invocation, from the context of
// Mapping.Invoke; empty where the mapping counts no chains.
func Trace(ctx context.Context) string {
	header, _ := ctx.Value(traceKey{}).(string)
	return header
}
