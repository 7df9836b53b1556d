package events_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/topology"
)

// What the samples have in common.
const (
	account = "000000000000"
	region  = "us-east-1"
	job     = crawl.JobUID("0123456789abcdef01234567")
	page    = "http://127.0.0.1:8000/quotes/page/1/"
)

var (
	stack = topology.Default("skitter")
	sent  = time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)
)

// html is what a page of quotations looks like.
const html = `<!doctype html><meta charset="utf-8">
<div class="quote"><span class="text">A crawl is a walk with a notebook.</span>
by <small class="author">A. Walker</small> <a href="/author/A-Walker">(about)</a>
<a class="tag" href="/tag/walks/">walks</a></div>
<ul><li class="next"><a href="/quotes/page/2/">Next</a></li></ul>
`

// samples are the events by file name.
func samples(t *testing.T) map[string]any {
	t.Helper()
	all := map[string]any{
		"fetch-request.json": sqsEvent(t, topology.QueueRequest, "1", request(t), nil),
		"parse-page.json":    sqsEvent(t, topology.QueuePage, "1", fetched(t), nil),
		"pipeline-item.json": sqsEvent(t, topology.QueueItem, "1", item(t), nil),
		"control-message.json": sqsEvent(t, topology.QueueControl, "1",
			encode(t, message.Header{Kind: message.KindControl, Unit: crawl.StartUnit}, message.Control{Do: message.DoStart}), nil),
		"control-dead-letter.json": sqsEvent(t, topology.QueueDead, "6", fetched(t),
			map[string]string{"DeadLetterQueueSourceArn": queueARN(topology.QueuePage)}),
		"control-sweep.json":          fields{{"skitter", "sweep"}},
		"control-scheduled.json":      scheduled(),
		"control-bus.json":            crawlRequested(),
		"control-object-created.json": objectCreated(),
	}
	for name, call := range urlCalls() {
		all["control-url-"+name+".json"] = call
	}
	return all
}

// sqsEvent is a batch of one message as Lambda hands it over. extra are more
// attributes.
func sqsEvent(t *testing.T, queue, receives string, body []byte, extra map[string]string) any {
	t.Helper()
	sum := md5.Sum(body)
	attributes := fields{
		{"ApproximateReceiveCount", receives},
		{"SentTimestamp", strconv.FormatInt(sent.UnixMilli(), 10)},
		{"SenderId", "AROAEXAMPLE:" + stack.Name},
		{"ApproximateFirstReceiveTimestamp", strconv.FormatInt(sent.UnixMilli()+12, 10)},
		{"MessageGroupId", string(job)},
	}
	for name, value := range extra {
		attributes = append(attributes, field{name, value})
	}
	return fields{{"Records", []any{fields{
		{"messageId", "2e1424d4-f796-459a-8184-9c92662be6da"},
		{"receiptHandle", "AQEBsample" + hex.EncodeToString(sum[:])},
		{"body", string(body)},
		{"attributes", attributes},
		{"messageAttributes", fields{}},
		{"md5OfBody", hex.EncodeToString(sum[:])},
		{"eventSource", "aws:sqs"},
		{"eventSourceARN", queueARN(queue)},
		{"awsRegion", region},
	}}}}
}

func queueARN(queue string) string {
	return "arn:aws:sqs:" + region + ":" + account + ":" + stack.QueueName(queue)
}

// encode is the body of a message of the sample's job.
func encode(t *testing.T, h message.Header, payload any) []byte {
	t.Helper()
	h.Job, h.Sent = job, sent
	body, err := message.Encode(h, payload)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// packed is the start request as messages carry it, and its unit.
func packed(t *testing.T) (json.RawMessage, crawl.UnitID) {
	t.Helper()
	req := &crawl.Request{URL: page, Progress: crawl.Progress{Start: true}}
	unit, err := scheduler.StartIdentifier(0).Unit(req)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	return raw, unit
}

func request(t *testing.T) []byte {
	t.Helper()
	req, unit := packed(t)
	return encode(t, message.Header{Kind: message.KindRequest, Unit: unit}, message.Request{Req: req})
}

func fetched(t *testing.T) []byte {
	t.Helper()
	req, unit := packed(t)
	return encode(t, message.Header{Kind: message.KindPage, Unit: unit}, message.Page{
		Req: req,
		Response: &crawl.Response{
			URL: page, Status: 200, Protocol: "HTTP/1.1", IPAddress: "127.0.0.1", Latency: 3 * time.Millisecond,
			Headers: map[string][]string{"Content-Type": {"text/html; charset=utf-8"}},
		},
		Body: message.NewPacker().Pack([]byte(html)),
	})
}

func item(t *testing.T) []byte {
	t.Helper()
	_, unit := packed(t)
	scraped, err := crawl.NewItem(struct {
		Text   string   `json:"text"`
		Author string   `json:"author"`
		Tags   []string `json:"tags"`
	}{"A crawl is a walk with a notebook.", "A. Walker", []string{"walks"}})
	if err != nil {
		t.Fatal(err)
	}
	return encode(t, message.Header{Kind: message.KindItem, Unit: unit, Run: "89abcdef01234567"}, message.Item{Item: scraped})
}

// scheduled is what a schedule of a user's sends.
func scheduled() any {
	return fields{
		{"skitter", "start"},
		{"schedule", "daily-quotes"},
		{"time", "2026-11-30T06:00:00Z"},
		{"spider", "quotes"},
		{"args", fields{{"tag", "walks"}}},
		{"settings", fields{{"DOWNLOAD_DELAY", "0"}}},
		{"start_urls", []string{page}},
	}
}

// crawlRequested is an event of somebody's program on the bus.
func crawlRequested() any {
	return fields{
		{"version", "0"},
		{"id", "6a7e8feb-b491-4cf7-a9f1-bf3703467718"},
		{"detail-type", "Crawl Requested"},
		{"source", "example.shop"},
		{"account", account},
		{"time", "2026-11-30T06:00:00Z"},
		{"region", region},
		{"resources", []string{}},
		{"detail", fields{
			{"spider", "quotes"},
			{"args", fields{{"tag", "walks"}}},
			{"settings", fields{{"DOWNLOAD_DELAY", "0"}}},
			{"start_urls", []string{page}},
		}},
	}
}

// objectCreated is what S3 puts on the bus for an object that starts a job.
// Source: Amazon S3 User Guide, "EventBridge event message structure".
func objectCreated() any {
	bucket := stack.BucketName()
	return fields{
		{"version", "0"},
		{"id", "17793124-05d4-b198-2fde-7ededc63b103"},
		{"detail-type", "Object Created"},
		{"source", "aws.s3"},
		{"account", account},
		{"time", "2026-11-30T06:00:00Z"},
		{"region", region},
		{"resources", []string{"arn:aws:s3:::" + bucket}},
		{"detail", fields{
			{"version", "0"},
			{"bucket", fields{{"name", bucket}}},
			{"object", fields{
				{"key", "start/quotes/urls.txt"},
				{"size", len(page) + 1},
				{"etag", "b1946ac92492d2347c6235b4d2611184"},
				{"sequencer", "00617F08299329D189"},
			}},
			{"request-id", "N4N7GDK58NMKJ12R"},
			{"requester", account},
			{"source-ip-address", "203.0.113.7"},
			{"reason", "PutObject"},
		}},
	}
}
