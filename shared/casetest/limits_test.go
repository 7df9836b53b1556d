package casetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/scheduler"
)

// A rowSizes is the largest row that was written, in bytes as DynamoDB counts.
type rowSizes struct {
	mu      sync.Mutex
	largest int
}

func (r *rowSizes) note(c *awstest.Call) awstest.Fault {
	if !strings.HasPrefix(c.Op, "dynamodb.") {
		return awstest.Fault{}
	}
	var put struct {
		Item         map[string]any
		RequestItems map[string]json.RawMessage
	}
	_ = json.Unmarshal(c.Body, &put) // the backend refuses what is no JSON
	r.row(put.Item)
	for _, raw := range put.RequestItems {
		var writes []struct{ PutRequest struct{ Item map[string]any } }
		if json.Unmarshal(raw, &writes) == nil {
			for _, w := range writes {
				r.row(w.PutRequest.Item)
			}
		}
	}
	return awstest.Fault{}
}

// row measures a row of texts, numbers and bytes; there are no others. A
// number's digits are more than DynamoDB counts.
func (r *rowSizes) row(item map[string]any) {
	size := 0
	for name, v := range item {
		size += len(name)
		for kind, text := range v.(map[string]any) {
			s := fmt.Sprint(text)
			if kind == "B" {
				raw, _ := base64.StdEncoding.DecodeString(s)
				s = string(raw)
			}
			size += len(s)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.largest = max(r.largest, size)
}

// TestDDB03 crawls a page and an item of half a megabyte, and a request that
// comes from 3,000 others: all are kept whole, and no row is near the limit.
func TestDDB03(t *testing.T) {
	var in struct {
		Body  int `json:"body_bytes"`
		Links int
	}
	var want struct {
		Row    int `json:"row_bytes_max"`
		Stored bool
	}
	caseOf(t, "DDB-03", &in, &want)
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t)
		sizes := &rowSizes{}
		s.backend.SetHook(sizes.note)
		long := incompressible(in.Body)
		w := s.world(t, worldtest.Options{Site: worldtest.Site{"/": "item " + long, "/far": "item far"}})
		w.Start()
		far := &crawl.Request{URL: worldtest.Host + "/far"}
		for n := range in.Links {
			far.RedirectURLs = append(far.RedirectURLs, fmt.Sprintf("%s/%d/%s", worldtest.Host, n, incompressible(200)))
		}
		unit := admit(t, w, w.Job.UID, far)
		row := w.Row("/far")
		back, err := w.Scheduler.Unpack(t.Context(), w.Job.UID, row.Req)
		if err != nil || !cmp.Equal(back.RedirectURLs, far.RedirectURLs) {
			t.Errorf("the request of unit %s comes back otherwise (%v)", unit, err)
		}
		job := w.Finish()
		stored := job.State == crawl.JobFinished && len(w.Delivered) == 2 && w.Delivered[0]+w.Delivered[1] != "" &&
			(w.Delivered[0] == long || w.Delivered[1] == long)
		if stored != want.Stored {
			t.Errorf("page and item are stored: %v, want %v (%d items)", stored, want.Stored, len(w.Delivered))
		}
		if sizes.largest > want.Row || sizes.largest == 0 {
			t.Errorf("the largest row has %d bytes, want at most %d", sizes.largest, want.Row)
		}
	})
}

// TestDDB04 admits URLs that are longer than a key may be.
func TestDDB04(t *testing.T) {
	var in struct{ URLs []string }
	var want struct{ Stored int }
	caseOf(t, "DDB-04", &in, &want)
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t)
		w := s.world(t, worldtest.Options{Site: worldtest.Site{"/": ""}})
		w.Start()
		stored := 0
		for _, url := range in.URLs {
			req := &crawl.Request{URL: url}
			unit := admit(t, w, w.Job.UID, req)
			again, err := w.Scheduler.Admit(t.Context(), w.Job.UID, []scheduler.Child{{Parent: unitN(7), Unit: unit, Request: req}})
			if err != nil || again.Seen != 1 {
				t.Errorf("the second time: %+v (%v), want it filtered", again, err)
			}
			rows, err := s.store.Frontier().Get(t.Context(), w.Job.UID, []crawl.UnitID{unit}, frontier.Strong)
			if err != nil {
				t.Fatal(err)
			}
			back, err := w.Scheduler.Unpack(t.Context(), w.Job.UID, rows[unit].Req)
			if err != nil || back.URL != req.URL || !sameResource(t, url, back.URL) {
				t.Errorf("the URL comes back as %.60s (%v)", back.URL, err)
				continue
			}
			stored++
		}
		if stored != want.Stored {
			t.Errorf("%d URLs are stored, want %d", stored, want.Stored)
		}
	})
}

// sameResource reports whether two URLs are sent alike.
func sameResource(t *testing.T, a, b string) bool {
	t.Helper()
	return parseURL(t, a).String() == parseURL(t, b).String()
}

// TestS302 crawls URLs that an object's key must not be made of, with pages and
// items that go to the bucket, and names a job and a feed after them.
func TestS302(t *testing.T) {
	var in struct {
		URLs  []string
		Param string
	}
	var want struct{ OK bool }
	caseOf(t, "S3-02", &in, &want)
	if !want.OK {
		t.Fatal("the case wants keys that are not good")
	}
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t)
		site := worldtest.Site{"/": ""}
		put := &putKeys{bucket: s.BucketName()}
		s.backend.SetHook(put.note)
		w := s.world(t, worldtest.Options{Site: site})
		job, _, err := w.Create(t.Context(), engine.Order{Project: in.Param, Name: in.Param, Spec: crawl.JobSpec{Spider: "world"}})
		if err != nil {
			t.Fatal(err)
		}
		w.Job = job
		for _, url := range in.URLs {
			req := &crawl.Request{URL: url}
			if _, err := scheduler.NewIdentifier(crawl.StartUnit).Unit(req); err != nil {
				t.Fatal(err)
			}
			path := "/" + strings.SplitN(req.URL, "/", 4)[3]
			site[path] = "item " + incompressible(50_000)
			admit(t, w, job.UID, &crawl.Request{URL: worldtest.Host + path, Meta: crawl.Values{"long": incompressible(50_000), "from": url}})
		}
		if ended := w.Finish(); ended.State != crawl.JobFinished {
			t.Errorf("the job is %s", ended.State)
		}
		checkKeys(t, s, put.keys, "requests/", "pages/", "items/", "jobs/")
		for _, key := range []string{in.Param, in.Param + "/x", "x/" + in.Param, "x/" + in.Param + "/y", "/x", "x//y", "x/./y", ""} {
			if err := s.store.Blobs().Put(t.Context(), key, []byte("x")); err == nil {
				t.Errorf("an object is put under %q", key)
			}
		}
	})
}

// putKeys are the keys that objects were put under. Some are deleted when their
// job ends.
type putKeys struct {
	bucket string
	mu     sync.Mutex
	keys   []string
}

func (p *putKeys) note(c *awstest.Call) awstest.Fault {
	if c.Op == "s3.PutObject" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.keys = append(p.keys, strings.TrimPrefix(c.Request.URL.Path, "/"+p.bucket+"/"))
	}
	return awstest.Fault{}
}

// checkKeys checks that there are objects of some folders, that none of their
// keys means another one once it is read as a path, and that each is got by its
// own.
func checkKeys(t *testing.T, s *stack, keys []string, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		if !slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, folder) }) {
			t.Errorf("no object in %s", folder)
		}
	}
	for _, key := range keys {
		if strings.HasPrefix(key, "/") {
			t.Errorf("object %q begins with a slash", key)
		}
		for segment := range strings.SplitSeq(key, "/") {
			if segment == "" || segment == "." || segment == ".." {
				t.Errorf("object %q has a segment %q", key, segment)
			}
		}
	}
	for _, key := range s.backend.Objects(s.BucketName()) {
		if _, err := s.store.Blobs().Get(t.Context(), key, 0, -1); err != nil || !slices.Contains(keys, key) {
			t.Errorf("object %q was put under another key, or is not got by its own: %v", key, err)
		}
	}
}
