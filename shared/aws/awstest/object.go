package awstest

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// maxKey is the longest key in bytes. Source: Amazon S3 User Guide, "Naming
// Amazon S3 objects".
const maxKey = 1024

// An object is bytes with what is said of them.
type object struct {
	body     []byte
	etag     string // without quotes
	modified time.Time
	// header has Content-Type and its kind, and the metadata.
	header http.Header
}

// keptHeaders are those of a PutObject that GetObject gives back.
var keptHeaders = []string{"Content-Type", "Content-Encoding", "Content-Disposition", "Content-Language", "Cache-Control", "Expires"}

func kept(h http.Header) http.Header {
	out := http.Header{}
	for name, v := range h {
		if slices.Contains(keptHeaders, name) || strings.HasPrefix(name, "X-Amz-Meta-") {
			out[name] = v
		}
	}
	if e := out.Get("Content-Encoding"); strings.HasPrefix(e, "aws-chunked") {
		out.Del("Content-Encoding")
		if rest := strings.TrimLeft(strings.TrimPrefix(e, "aws-chunked"), ", "); rest != "" {
			out.Set("Content-Encoding", rest)
		}
	}
	if out.Get("Content-Type") == "" {
		out.Set("Content-Type", "binary/octet-stream")
	}
	return out
}

func etagOf(body []byte) string {
	sum := md5.Sum(body)
	return hex.EncodeToString(sum[:])
}

// checkPut checks the key and the conditions of a write.
func (k *bucket) checkPut(key string, h http.Header) *Error {
	if len(key) > maxKey {
		return &Error{Status: http.StatusBadRequest, Code: "KeyTooLongError", Message: "Your key is too long"}
	}
	failed := func(condition string) *Error {
		return &Error{
			Status: http.StatusPreconditionFailed, Code: "PreconditionFailed",
			Message: "At least one of the pre-conditions you specified did not hold: " + condition,
		}
	}
	old := k.objects[key]
	if h.Get("If-None-Match") == "*" && old != nil {
		return failed("If-None-Match")
	}
	if want := h.Get("If-Match"); want != "" {
		if old == nil {
			return noKey()
		}
		if strings.Trim(want, `"`) != old.etag {
			return failed("If-Match")
		}
	}
	return nil
}

func noKey() *Error {
	return &Error{Status: http.StatusNotFound, Code: "NoSuchKey", Message: "The specified key does not exist."}
}

func (k *bucket) put(key string, o *object) {
	if k.objects[key] == nil {
		i := sort.SearchStrings(k.keys, key)
		k.keys = slices.Insert(k.keys, i, key)
	}
	k.objects[key] = o
}

func (k *bucket) delete(key string) {
	if k.objects[key] == nil {
		return
	}
	delete(k.objects, key)
	i := sort.SearchStrings(k.keys, key)
	k.keys = slices.Delete(k.keys, i, i+1)
}

func (b *Backend) putObject(k *bucket, key string, c *Call) (*answer, error) {
	if err := k.checkPut(key, c.Request.Header); err != nil {
		return nil, err
	}
	o := &object{body: c.Body, etag: etagOf(c.Body), modified: b.now(), header: kept(c.Request.Header)}
	k.put(key, o)
	a := nothing(http.StatusOK)
	a.header.Set("Etag", `"`+o.etag+`"`)
	return a, nil
}

func (k *bucket) getObject(key string, c *Call, head bool) (*answer, error) {
	o := k.objects[key]
	if o == nil {
		return nil, noKey()
	}
	if want := c.Request.Header.Get("If-Match"); want != "" && strings.Trim(want, `"`) != o.etag {
		return nil, &Error{Status: http.StatusPreconditionFailed, Code: "PreconditionFailed", Message: "If-Match did not hold"}
	}
	a := &answer{status: http.StatusOK, header: o.header.Clone(), body: o.body}
	a.header.Set("Etag", `"`+o.etag+`"`)
	a.header.Set("Last-Modified", o.modified.UTC().Format(http.TimeFormat))
	a.header.Set("Accept-Ranges", "bytes")
	if spec := c.Request.Header.Get("Range"); spec != "" {
		from, to, ok := byteRange(spec, len(o.body))
		if !ok {
			return nil, &Error{Status: http.StatusRequestedRangeNotSatisfiable, Code: "InvalidRange", Message: "The requested range is not satisfiable"}
		}
		if to >= 0 {
			a.status, a.body = http.StatusPartialContent, o.body[from:to]
			a.header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(o.body)))
		}
	}
	if a.status == http.StatusOK && strings.EqualFold(c.Request.Header.Get("X-Amz-Checksum-Mode"), "enabled") {
		sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(o.body))
		a.header.Set("X-Amz-Checksum-Crc32", base64.StdEncoding.EncodeToString(sum))
	}
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	if head {
		a.body = nil
	}
	return a, nil
}

// byteRange reads a Range header as the half-open range from, to. A header
// that is no single range of bytes is passed over: to is -1.
func byteRange(spec string, size int) (from, to int, ok bool) {
	spec, found := strings.CutPrefix(spec, "bytes=")
	first, last, found2 := strings.Cut(spec, "-")
	if !found || !found2 {
		return 0, -1, true
	}
	if first == "" { // the last so many
		n, err := strconv.Atoi(last)
		if err != nil {
			return 0, -1, true
		}
		return max(0, size-n), size, n > 0 && size > 0
	}
	from, err := strconv.Atoi(first)
	if err != nil {
		return 0, -1, true
	}
	to = size
	if last != "" {
		n, err := strconv.Atoi(last)
		if err != nil || n < from {
			return 0, -1, true
		}
		to = min(size, n+1)
	}
	return from, to, from < size
}

// maxDeletes is how many keys one call deletes at most; maxKeys how many one
// lists. Source: Amazon S3 API Reference, DeleteObjects and ListObjectsV2.
const (
	maxDeletes = 1000
	maxKeys    = 1000
)

func (k *bucket) deleteObjects(c *Call) (*answer, error) {
	var in struct {
		Object []struct{ Key string }
		Quiet  bool
	}
	if err := xml.Unmarshal(c.Body, &in); err != nil || len(in.Object) == 0 || len(in.Object) > maxDeletes {
		return nil, &Error{Status: http.StatusBadRequest, Code: "MalformedXML", Message: "The XML you provided was not well-formed or did not validate against our published schema"}
	}
	type failure struct{ Key, Code, Message string }
	var out struct {
		XMLName xml.Name `xml:"DeleteResult"`
		Deleted []struct{ Key string }
		Error   []failure
	}
	for i, o := range in.Object {
		if c.refuses(i) {
			out.Error = append(out.Error, failure{o.Key, "InternalError", "We encountered an internal error. Please try again."})
			continue
		}
		k.delete(o.Key)
		if !in.Quiet {
			out.Deleted = append(out.Deleted, struct{ Key string }{o.Key})
		}
	}
	return xmlAnswer(http.StatusOK, out), nil
}

type listedObject struct {
	Key          string
	LastModified string
	ETag         string
	Size         int
	StorageClass string
}

type listing struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	Name                  string
	Prefix                string
	Delimiter             string `xml:",omitempty"`
	StartAfter            string `xml:",omitempty"`
	ContinuationToken     string `xml:",omitempty"`
	NextContinuationToken string `xml:",omitempty"`
	KeyCount              int
	MaxKeys               int
	IsTruncated           bool
	Contents              []listedObject
	CommonPrefixes        []struct{ Prefix string }
}

func (k *bucket) listObjects(c *Call) (*answer, error) {
	q := c.Request.URL.Query()
	out := listing{
		Name: k.name, Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter"), StartAfter: q.Get("start-after"),
		ContinuationToken: q.Get("continuation-token"), MaxKeys: maxKeys,
	}
	if s := q.Get("max-keys"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return nil, &Error{Status: http.StatusBadRequest, Code: "InvalidArgument", Message: "Provided max-keys not an integer or within integer range"}
		}
		out.MaxKeys = min(n, maxKeys)
	}
	after := out.StartAfter
	if out.ContinuationToken != "" {
		raw, err := base64.RawURLEncoding.DecodeString(out.ContinuationToken)
		if err != nil {
			return nil, &Error{Status: http.StatusBadRequest, Code: "InvalidArgument", Message: "The continuation token provided is incorrect"}
		}
		after = string(raw)
	}
	k.list(&out, after)
	return xmlAnswer(http.StatusOK, out), nil
}

// list fills a listing with what comes after a key, or after all that begins
// with it if it is a common prefix.
func (k *bucket) list(out *listing, after string) {
	last := after
	for _, key := range k.keys[sort.SearchStrings(k.keys, max(out.Prefix, after)):] {
		if !strings.HasPrefix(key, out.Prefix) {
			break
		}
		common := ""
		if out.Delimiter != "" {
			if head, _, found := strings.Cut(key[len(out.Prefix):], out.Delimiter); found {
				common = out.Prefix + head + out.Delimiter
			}
		}
		if key <= after || common != "" && common == last {
			continue
		}
		if out.KeyCount == out.MaxKeys {
			out.IsTruncated = out.MaxKeys > 0
			if out.IsTruncated {
				out.NextContinuationToken = base64.RawURLEncoding.EncodeToString([]byte(last))
			}
			return
		}
		out.KeyCount++
		if last = key; common != "" {
			last = common
			out.CommonPrefixes = append(out.CommonPrefixes, struct{ Prefix string }{common})
			continue
		}
		o := k.objects[key]
		out.Contents = append(out.Contents, listedObject{
			Key: key, LastModified: o.modified.UTC().Format("2006-01-02T15:04:05.000Z"), ETag: `"` + o.etag + `"`,
			Size: len(o.body), StorageClass: "STANDARD",
		})
	}
}
