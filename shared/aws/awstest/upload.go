package awstest

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Limits of multipart uploads. Source: Amazon S3 User Guide, "Amazon S3
// multipart upload limits".
const (
	minPart  = 5 << 20
	maxParts = 10000
)

// An upload is a multipart upload that has not ended.
type upload struct {
	key    string
	header http.Header
	parts  map[int][]byte
}

// Uploads returns how many multipart uploads of a bucket have not ended.
func (b *Backend) Uploads(bucketName string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.buckets[bucketName]; k != nil {
		return len(k.uploads)
	}
	return 0
}

func (b *Backend) createUpload(k *bucket, key string, c *Call) (*answer, error) {
	id := b.id()
	k.uploads[id] = &upload{key: key, header: kept(c.Request.Header), parts: map[int][]byte{}}
	return xmlAnswer(http.StatusOK, struct {
		XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
		Bucket   string
		Key      string
		UploadId string
	}{Bucket: k.name, Key: key, UploadId: id}), nil
}

// upload finds the upload that a request names.
func (k *bucket) upload(key string, c *Call) (id string, u *upload, err error) {
	id = c.Request.URL.Query().Get("uploadId")
	u = k.uploads[id]
	if u == nil || u.key != key {
		return id, nil, &Error{Status: http.StatusNotFound, Code: "NoSuchUpload", Message: "The specified upload does not exist."}
	}
	return id, u, nil
}

func (k *bucket) uploadPart(key string, c *Call) (*answer, error) {
	_, u, err := k.upload(key, c)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(c.Request.URL.Query().Get("partNumber"))
	if err != nil || n < 1 || n > maxParts {
		return nil, &Error{Status: http.StatusBadRequest, Code: "InvalidArgument", Message: fmt.Sprintf("Part number must be an integer between 1 and %d, inclusive", maxParts)}
	}
	u.parts[n] = c.Body
	a := nothing(http.StatusOK)
	a.header.Set("Etag", `"`+etagOf(c.Body)+`"`)
	return a, nil
}

func (k *bucket) abortUpload(key string, c *Call) (*answer, error) {
	id, _, err := k.upload(key, c)
	if err != nil {
		return nil, err
	}
	delete(k.uploads, id)
	return nothing(http.StatusNoContent), nil
}

// listUploads lists all uploads that have not ended, on one page.
func (k *bucket) listUploads() *answer {
	type listed struct {
		Key      string
		UploadId string
	}
	out := struct {
		XMLName     xml.Name `xml:"ListMultipartUploadsResult"`
		Bucket      string
		MaxUploads  int
		IsTruncated bool
		Upload      []listed
	}{Bucket: k.name, MaxUploads: maxKeys}
	for id, u := range k.uploads {
		out.Upload = append(out.Upload, listed{u.key, id})
	}
	slices.SortFunc(out.Upload, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.UploadId, b.UploadId))
	})
	return xmlAnswer(http.StatusOK, out)
}

type completePart struct {
	PartNumber int
	ETag       string
}

func (b *Backend) completeUpload(k *bucket, key string, c *Call) (*answer, error) {
	id, u, err := k.upload(key, c)
	if err != nil {
		return nil, err
	}
	if err := k.checkPut(key, c.Request.Header); err != nil {
		return nil, err
	}
	var in struct{ Part []completePart }
	if err := xml.Unmarshal(c.Body, &in); err != nil || len(in.Part) == 0 {
		return nil, &Error{Status: http.StatusBadRequest, Code: "MalformedXML", Message: "The XML you provided was not well-formed or did not validate against our published schema"}
	}
	o, err := u.join(in.Part)
	if err != nil {
		return nil, err
	}
	o.modified = b.now()
	k.put(key, o)
	delete(k.uploads, id)
	return xmlAnswer(http.StatusOK, struct {
		XMLName xml.Name `xml:"CompleteMultipartUploadResult"`
		Bucket  string
		Key     string
		ETag    string
	}{Bucket: k.name, Key: key, ETag: `"` + o.etag + `"`}), nil
}

// join makes the object of the parts that are listed.
func (u *upload) join(parts []completePart) (*object, error) {
	o := &object{header: u.header}
	sums := md5.New()
	last := 0
	for i, p := range parts {
		if p.PartNumber <= last {
			return nil, &Error{Status: http.StatusBadRequest, Code: "InvalidPartOrder", Message: "The list of parts was not in ascending order."}
		}
		last = p.PartNumber
		body, ok := u.parts[p.PartNumber]
		sum := md5.Sum(body)
		if !ok || strings.Trim(p.ETag, `"`) != hex.EncodeToString(sum[:]) {
			return nil, &Error{Status: http.StatusBadRequest, Code: "InvalidPart", Message: fmt.Sprintf("Part %d could not be found, or its entity tag does not match.", p.PartNumber)}
		}
		if len(body) < minPart && i < len(parts)-1 {
			return nil, &Error{Status: http.StatusBadRequest, Code: "EntityTooSmall", Message: "Your proposed upload is smaller than the minimum allowed size"}
		}
		o.body = append(o.body, body...)
		sums.Write(sum[:])
	}
	o.etag = hex.EncodeToString(sums.Sum(nil)) + "-" + strconv.Itoa(len(parts))
	return o, nil
}
