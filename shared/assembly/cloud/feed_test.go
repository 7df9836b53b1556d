package cloud

import (
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/topology"
)

func TestFeedsOfAFunction(t *testing.T) {
	for _, test := range []struct {
		uri       string
		append    bool
		want, bad string
	}{
		{uri: "s3://bucket/a/b.jsonl", want: "bucket a/b.jsonl"},
		{uri: "out.jsonl", bad: "a function writes to S3 alone; give an address like s3://BUCKET/items.jsonl"},
		{uri: "s3://bucket", bad: "want s3://BUCKET/KEY"},
		{uri: "s3:///key", bad: "want s3://BUCKET/KEY"},
		{uri: "s3://bucket/../key", bad: `a segment is ".."`},
		{uri: "s3://bucket/a.jsonl", append: true, bad: "an object cannot be appended to"},
	} {
		bucket, key, err := bucketKey(crawl.Feed{URI: test.uri, Overwrite: !test.append})
		switch {
		case test.bad != "":
			if err == nil || !strings.Contains(err.Error(), test.bad) {
				t.Errorf("%s: error %v, want one with %q", test.uri, err, test.bad)
			}
		case err != nil || bucket+" "+key != test.want:
			t.Errorf("%s: %s %s, %v; want %s", test.uri, bucket, key, err, test.want)
		}
	}
}

// Two jobs whose names look the same in a key have two feeds.
func TestAJobsOwnFeed(t *testing.T) {
	c := &Cloud{Stack: topology.Default("stack")}
	for _, test := range []struct{ name, want string }{
		{"daily-1", "s3://stack-data/feeds/shop_site/books/daily-1.jsonl"},
		{"Tuesday, 10:00", "s3://stack-data/feeds/shop_site/books/Tuesday__10_00-0123.jsonl"},
	} {
		feed := c.ownFeed(crawl.Job{UID: "0123", Name: test.name, Project: "shop site", Spider: "books"})
		if feed.URI != test.want || !feed.Overwrite {
			t.Errorf("%s: %+v, want %s", test.name, feed, test.want)
		}
		if _, _, err := bucketKey(feed); err != nil {
			t.Error(err)
		}
	}
}
