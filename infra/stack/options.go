package stack

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skitterhq/skitter/shared/topology"
)

// Options are what a deployment may choose. Each is given by name as a value of
// CDK's context: -c NAME=VALUE.
type Options struct {
	// Name is the stack's: option "name", skitter if it is not given.
	Name string
	// Prod keeps tables and bucket when the stack is deleted, and guards the
	// stack and its tables against being deleted: option "stage", prod or dev.
	// It is dev if it is not given.
	Prod bool
	// Reserve sets concurrency aside for each function, so that nothing else in
	// the account can throttle its deliveries: option "reserve". Together they
	// take two thirds of an account's 1,000 then. Lambda refuses to leave less
	// than 100, and a new account may have as few as 10 in all; so it is false
	// if it is not given. Source: AWS Lambda Developer Guide, "Configuring reserved
	// concurrency".
	Reserve bool
	// Memory is that of functions in MB where it is not the topology's: option
	// "memory", such as fetch:2048,parse:3008.
	Memory map[string]int
	// Warm is what tables can take from the start: option "warm", such as
	// frontier:12000/40000 (reads and writes a second). It is paid once.
	Warm map[string]Throughput
	// Pollers is how many pollers of its own a queue has at least: option
	// "pollers", such as request:2,page:2. They are paid by the hour; such a
	// queue's concurrency follows from how many they may become.
	Pollers map[string]int
	// AlarmTopic is the ARN of the SNS topic that alarms are sent to: option
	// "alarm-topic". Without one they can be seen, and nobody is told.
	AlarmTopic string
	// Alarms and Dashboard are there unless options "alarms" and "dashboard"
	// are false.
	Alarms, Dashboard bool
	// Events has jobs started by events and by objects, unless option "events"
	// is false. All stacks of an account hear the same events.
	Events bool
	// LogDays is for how many days logs are kept: option "log-days", 30 if it
	// is not given.
	LogDays int
	// FeedBuckets are other buckets that feeds may be written to: option
	// "feed-buckets", names with commas between.
	FeedBuckets []string
}

// Throughput is reads and writes a second.
type Throughput struct{ Reads, Writes int }

// The least that warm throughput can be: what a new table on demand takes.
// Source: Amazon DynamoDB Developer Guide, "Warm throughput".
const (
	leastReads  = 12000
	leastWrites = 4000
)

// optionNames are those that [ReadOptions] asks for.
var optionNames = []string{
	"alarm-topic", "alarms", "auth", "dashboard", "events", "feed-buckets", "log-days", "memory", "name", "pollers", "reserve", "stage", "warm",
}

// Values are options by name, as flags give them: NAME=VALUE, again and again.
type Values map[string]string

// String implements [flag.Value].
func (v Values) String() string { return "" }

// Set implements [flag.Value]. A name that is misspelled is an error: it must not
// deploy something else.
func (v Values) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("want NAME=VALUE")
	}
	if !slices.Contains(optionNames, name) {
		return fmt.Errorf("there is no option %s; there are %s", name, strings.Join(optionNames, ", "))
	}
	v[name] = value
	return nil
}

// ReadOptions reads the options; get returns an option's value, empty if it is
// not given. The error names everything that is wrong, one line each.
func ReadOptions(get func(name string) string) (Options, error) {
	r := reader{get: get}
	o := Options{
		Name:        r.text("name", "skitter"),
		Prod:        r.oneOf("stage", "dev", "prod") == "prod",
		Reserve:     r.yes("reserve", false),
		Memory:      r.numbers("memory", topology.Control, topology.Fetch, topology.Parse, topology.Pipeline),
		Warm:        r.throughputs("warm", topology.TableFrontier, topology.TableItems, topology.TableJobs, topology.TableHosts),
		Pollers:     r.numbers("pollers", queueNames()...),
		AlarmTopic:  r.text("alarm-topic", ""),
		Alarms:      r.yes("alarms", true),
		Dashboard:   r.yes("dashboard", true),
		Events:      r.yes("events", true),
		LogDays:     r.number("log-days", 30),
		FeedBuckets: r.list("feed-buckets"),
	}
	if o.AlarmTopic != "" && !strings.HasPrefix(o.AlarmTopic, "arn:") {
		r.fail("alarm-topic", o.AlarmTopic, "it must be the ARN of an SNS topic")
	}
	for queue, n := range o.Pollers {
		if n < minPollers || n > maxMinPollers {
			r.fail("pollers", fmt.Sprintf("%s:%d", queue, n), fmt.Sprintf("Lambda takes %d to %d", minPollers, maxMinPollers))
		}
	}
	for table, w := range o.Warm {
		if w.Reads < leastReads || w.Writes < leastWrites {
			r.fail("warm", fmt.Sprintf("%s:%d/%d", table, w.Reads, w.Writes), fmt.Sprintf("DynamoDB takes %d/%d or more", leastReads, leastWrites))
		}
	}
	if _, ok := retentions[o.LogDays]; !ok {
		r.fail("log-days", strconv.Itoa(o.LogDays), fmt.Sprintf("CloudWatch takes one of %v", slices.Sorted(maps.Keys(retentions))))
	}
	if auth := r.text("auth", "iam"); auth != "iam" {
		r.fail("auth", auth, "the function checks no passwords, so its URL would be open to everybody; use iam")
	}
	return o, errors.Join(r.errs...)
}

func queueNames() []string {
	var names []string
	for _, q := range topology.Default("any").Queues {
		names = append(names, q.Name)
	}
	return names
}

// A reader reads options and gathers what is wrong with them.
type reader struct {
	get  func(name string) string
	errs []error
}

func (r *reader) fail(name, value, why string) {
	r.errs = append(r.errs, fmt.Errorf("option %s=%s: %s", name, value, why))
}

func (r *reader) text(name, otherwise string) string {
	if value := r.get(name); value != "" {
		return value
	}
	return otherwise
}

// oneOf is the first of the values if there is none.
func (r *reader) oneOf(name string, values ...string) string {
	value := r.text(name, values[0])
	if !slices.Contains(values, value) {
		r.fail(name, value, "it must be "+strings.Join(values, " or "))
	}
	return value
}

func (r *reader) yes(name string, otherwise bool) bool {
	return r.oneOf(name, strconv.FormatBool(otherwise), strconv.FormatBool(!otherwise)) == "true"
}

func (r *reader) number(name string, otherwise int) int {
	value := r.text(name, strconv.Itoa(otherwise))
	n, err := strconv.Atoi(value)
	if err != nil {
		r.fail(name, value, "it must be a whole number")
	}
	return n
}

func (r *reader) list(name string) []string {
	if r.get(name) == "" {
		return nil
	}
	return strings.Split(r.get(name), ",")
}

// pairs calls each with the parts of KEY:VALUE,KEY:VALUE whose key is known.
func (r *reader) pairs(name string, known []string, each func(key, value string)) {
	for _, pair := range r.list(name) {
		key, value, ok := strings.Cut(pair, ":")
		switch {
		case !ok:
			r.fail(name, pair, "it must be like "+known[0]+":VALUE")
		case !slices.Contains(known, key):
			r.fail(name, pair, fmt.Sprintf("there is no %q; there are %s", key, strings.Join(known, ", ")))
		default:
			each(key, value)
		}
	}
}

func (r *reader) numbers(name string, known ...string) map[string]int {
	found := map[string]int{}
	r.pairs(name, known, func(key, value string) {
		n, err := strconv.Atoi(value)
		if err != nil {
			r.fail(name, key+":"+value, "it must end in a whole number")
		}
		found[key] = n
	})
	return found
}

func (r *reader) throughputs(name string, known ...string) map[string]Throughput {
	found := map[string]Throughput{}
	r.pairs(name, known, func(key, value string) {
		reads, writes, _ := strings.Cut(value, "/")
		n, err := strconv.Atoi(reads)
		m, err2 := strconv.Atoi(writes)
		if err != nil || err2 != nil {
			r.fail(name, key+":"+value, "it must end in READS/WRITES")
		}
		found[key] = Throughput{n, m}
	})
	return found
}
