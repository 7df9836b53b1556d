package lambdahost

import (
	"encoding/json"
	"time"

	"github.com/skitterhq/skitter/shared/meter"
)

// metrics are what one invocation is measured by.
type metrics struct {
	messages, failed, redelivered int
}

// namespace is where CloudWatch has the metrics. They are told apart by stack
// and function alone: each set of dimensions is paid for, so no URL, host or job
// is among them. Source: Amazon CloudWatch pricing, custom metrics.
const namespace = "Skitter"

// An embedded line is one that CloudWatch reads metrics from. Source: Amazon
// CloudWatch User Guide, "Specification: Embedded metric format".
type embedded struct {
	AWS struct {
		Timestamp         int64       `json:"Timestamp"`
		CloudWatchMetrics []directive `json:"CloudWatchMetrics"`
	} `json:"_aws"`
	Stack    string `json:"Stack"`
	Function string `json:"Function"`

	Messages    int     `json:"Messages"`
	Failed      int     `json:"Failed"`
	Redelivered int     `json:"Redelivered"`
	Duration    float64 `json:"Duration"` // milliseconds
	SQSRequests float64 `json:"SQSRequests"`
	WriteUnits  float64 `json:"WriteUnits"`
	ReadUnits   float64 `json:"ReadUnits"`
	S3Requests  float64 `json:"S3Requests"`
}

type directive struct {
	Namespace  string     `json:"Namespace"`
	Dimensions [][]string `json:"Dimensions"`
	Metrics    []metric   `json:"Metrics"`
}

type metric struct {
	Name string `json:"Name"`
	Unit string `json:"Unit"`
}

var directives = []directive{{
	Namespace: namespace, Dimensions: [][]string{{"Stack", "Function"}},
	Metrics: []metric{
		{"Messages", "Count"},
		{"Failed", "Count"},
		{"Redelivered", "Count"},
		{"Duration", "Milliseconds"},
		{"SQSRequests", "Count"},
		{"WriteUnits", "Count"},
		{"ReadUnits", "Count"},
		{"S3Requests", "Count"},
	},
}}

// emit writes the line of an invocation. One without messages, such as a sweep
// over nothing, has none: a stack that crawls nothing is not to be billed for
// its metrics.
func (h *Host) emit(m metrics, took time.Duration) {
	units := meter.Totals(h.Meter.Take())
	if h.Metrics == nil || m.messages == 0 {
		return
	}
	line := embedded{
		Stack: h.Stack.Name, Function: h.Function,
		Messages: m.messages, Failed: m.failed, Redelivered: m.redelivered,
		Duration:    float64(took.Microseconds()) / 1000,
		SQSRequests: units[meter.SQSRequest], WriteUnits: units[meter.WriteUnit], ReadUnits: units[meter.ReadUnit],
		S3Requests: units[meter.S3Put] + units[meter.S3Get],
	}
	line.AWS.Timestamp, line.AWS.CloudWatchMetrics = h.Now().UnixMilli(), directives
	text, err := json.Marshal(line)
	if err == nil {
		_, err = h.Metrics.Write(append(text, '\n'))
	}
	if err != nil {
		h.Log.Warn("metrics not written", "err", err)
	}
}
