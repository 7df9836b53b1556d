package awstest

import (
	"encoding/xml"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A bucket holds objects.
type bucket struct {
	name    string
	created time.Time
	objects map[string]*object
	keys    []string // sorted
	uploads map[string]*upload
	// configs are the bodies of PutBucketPolicy and its kind, by the query
	// parameter that names them.
	configs map[string][]byte
}

// configs are the settings of a bucket that are kept and given back, by the
// query parameter that names them: the rest of the operation's name, and the
// error for one that is not set.
var configs = map[string][2]string{
	"encryption":        {"BucketEncryption", "ServerSideEncryptionConfigurationNotFoundError"},
	"lifecycle":         {"BucketLifecycleConfiguration", "NoSuchLifecycleConfiguration"},
	"publicAccessBlock": {"PublicAccessBlock", "NoSuchPublicAccessBlockConfiguration"},
	"policy":            {"BucketPolicy", "NoSuchBucketPolicy"},
	"notification":      {"BucketNotificationConfiguration", ""},
	"ownershipControls": {"BucketOwnershipControls", "OwnershipControlsNotFoundError"},
	"tagging":           {"BucketTagging", "NoSuchTagSet"},
	"versioning":        {"BucketVersioning", ""},
}

// config names the setting that a request is about; empty for none.
func config(q url.Values) string {
	for name := range configs {
		if q.Has(name) {
			return name
		}
	}
	return ""
}

// place is the bucket and key that a request names.
func place(r *http.Request) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return bucket, key
}

// s3Operation is the name of what a request asks of S3.
func s3Operation(r *http.Request) string {
	bucket, key := place(r)
	q := r.URL.Query()
	switch {
	case bucket == "":
		return map[string]string{http.MethodGet: "ListBuckets"}[r.Method]
	case key != "":
		return objectOperation(r.Method, q, r.Header)
	}
	if name := config(q); name != "" {
		switch r.Method {
		case http.MethodGet, http.MethodPut, http.MethodDelete:
			return string(r.Method[0]) + strings.ToLower(r.Method[1:]) + configs[name][0]
		}
	}
	switch {
	case r.Method == http.MethodPut && onlyID(q):
		return "CreateBucket"
	case r.Method == http.MethodHead:
		return "HeadBucket"
	case r.Method == http.MethodDelete && onlyID(q):
		return "DeleteBucket"
	case r.Method == http.MethodPost && q.Has("delete"):
		return "DeleteObjects"
	case r.Method == http.MethodGet && q.Has("uploads"):
		return "ListMultipartUploads"
	case r.Method == http.MethodGet && q.Get("list-type") == "2":
		return "ListObjectsV2"
	}
	return ""
}

func objectOperation(method string, q url.Values, h http.Header) string {
	switch {
	case method == http.MethodPost && q.Has("uploads"):
		return "CreateMultipartUpload"
	case method == http.MethodPost && q.Has("uploadId"):
		return "CompleteMultipartUpload"
	case h.Get("X-Amz-Copy-Source") != "":
		return ""
	case method == http.MethodPut && q.Has("uploadId"):
		return "UploadPart"
	case method == http.MethodDelete && q.Has("uploadId"):
		return "AbortMultipartUpload"
	case !onlyID(q):
		return ""
	}
	return map[string]string{
		http.MethodPut: "PutObject", http.MethodGet: "GetObject",
		http.MethodHead: "HeadObject", http.MethodDelete: "DeleteObject",
	}[method]
}

// onlyID reports whether a query says nothing but the operation's name.
func onlyID(q url.Values) bool { return len(q) == 0 || len(q) == 1 && q.Has("x-id") }

// s3 carries out one operation of S3.
func (b *Backend) s3(op string, c *Call) (*answer, error) {
	name, key := place(c.Request)
	if op == "CreateBucket" {
		return b.createBucket(c, name)
	}
	if op == "" || op == "ListBuckets" {
		return nil, unknown(c)
	}
	k := b.buckets[name]
	if k == nil {
		return nil, &Error{Status: http.StatusNotFound, Code: "NoSuchBucket", Message: "The specified bucket does not exist"}
	}
	switch op {
	case "HeadBucket":
		return nothing(http.StatusOK), nil
	case "DeleteBucket":
		if len(k.keys) > 0 {
			return nil, &Error{Status: http.StatusConflict, Code: "BucketNotEmpty", Message: "The bucket you tried to delete is not empty"}
		}
		delete(b.buckets, name)
		return nothing(http.StatusNoContent), nil
	case "PutObject":
		return b.putObject(k, key, c)
	case "GetObject", "HeadObject":
		return k.getObject(key, c, op == "HeadObject")
	case "DeleteObject":
		k.delete(key)
		return nothing(http.StatusNoContent), nil
	case "DeleteObjects":
		return k.deleteObjects(c)
	case "ListObjectsV2":
		return k.listObjects(c)
	case "ListMultipartUploads":
		return k.listUploads(), nil
	case "CreateMultipartUpload":
		return b.createUpload(k, key, c)
	case "UploadPart":
		return k.uploadPart(key, c)
	case "CompleteMultipartUpload":
		return b.completeUpload(k, key, c)
	case "AbortMultipartUpload":
		return k.abortUpload(key, c)
	}
	return k.configure(config(c.Request.URL.Query()), c)
}

// nothing is an answer without a body.
func nothing(status int) *answer { return &answer{status: status, header: http.Header{}} }

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// createBucket makes a bucket. In this region it is no error that the caller
// has it already. Source: Amazon S3 API Reference, CreateBucket.
func (b *Backend) createBucket(c *Call, name string) (*answer, error) {
	if !bucketName.MatchString(name) {
		return nil, &Error{Status: http.StatusBadRequest, Code: "InvalidBucketName", Message: "The specified bucket is not valid: " + name}
	}
	if b.buckets[name] == nil {
		b.buckets[name] = &bucket{
			name: name, created: b.now(), objects: map[string]*object{}, uploads: map[string]*upload{}, configs: map[string][]byte{},
		}
	}
	a := nothing(http.StatusOK)
	a.header.Set("Location", "/"+name)
	return a, nil
}

// configure sets, gives or forgets a setting.
func (k *bucket) configure(name string, c *Call) (*answer, error) {
	switch c.Request.Method {
	case http.MethodPut:
		k.configs[name] = c.Body
		return nothing(http.StatusOK), nil
	case http.MethodDelete:
		delete(k.configs, name)
		return nothing(http.StatusNoContent), nil
	}
	body, ok := k.configs[name]
	if code := configs[name][1]; !ok && code != "" {
		return nil, &Error{Status: http.StatusNotFound, Code: code, Message: "The bucket has no such configuration"}
	}
	if !ok {
		body = []byte(xml.Header + "<" + strings.TrimPrefix(configs[name][0], "Bucket") + "/>")
	}
	return &answer{status: http.StatusOK, header: http.Header{"Content-Type": {"application/xml"}}, body: body}, nil
}

// Objects returns the keys of a bucket, sorted; none for one that is not there.
func (b *Backend) Objects(bucketName string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.buckets[bucketName]; k != nil {
		return slices.Clone(k.keys)
	}
	return nil
}

// Buckets returns the names of all buckets, sorted.
func (b *Backend) Buckets() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.buckets))
}
