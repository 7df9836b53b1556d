package awstest

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"net/http"
	"strconv"
	"strings"
)

// digests are the headers with a digest of the body that are checked.
var digests = map[string]func() hash.Hash{
	"Content-Md5":              md5.New,
	"X-Amz-Checksum-Sha1":      sha1.New,
	"X-Amz-Checksum-Sha256":    sha256.New,
	"X-Amz-Checksum-Crc32":     func() hash.Hash { return crc32.NewIEEE() },
	"X-Amz-Checksum-Crc32c":    func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	"X-Amz-Checksum-Crc64nvme": func() hash.Hash { return crc64.New(crc64.MakeTable(0x9a6c9329ac4bc9b5)) },
}

// payload is the body of a request without the framing of a streamed one, if
// it fits the digests that came with it.
func payload(r *http.Request, raw []byte) ([]byte, error) {
	if r.Header.Get("X-Amz-Target") != "" {
		return raw, nil
	}
	body, header := raw, r.Header
	if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		trailer := http.Header{}
		var ok bool
		if body, ok = unchunk(raw, trailer); !ok {
			return nil, &Error{Status: http.StatusBadRequest, Code: "IncompleteBody", Message: "The chunks of the body are damaged"}
		}
		header = r.Header.Clone()
		for name, v := range trailer {
			header[name] = v
		}
	}
	if header.Get("X-Amz-Checksum-Type") == "" { // else it is of a whole upload
		for name, h := range digests {
			want := header.Get(name)
			if want == "" {
				continue
			}
			d := h()
			d.Write(body)
			if base64.StdEncoding.EncodeToString(d.Sum(nil)) != want {
				return nil, &Error{Status: http.StatusBadRequest, Code: "BadDigest", Message: "The " + name + " you specified did not match what we received"}
			}
		}
	}
	return body, nil
}

// unchunk takes the aws-chunked framing off a body and reads its trailer.
func unchunk(raw []byte, trailer http.Header) (body []byte, ok bool) {
	for {
		line, rest, found := bytes.Cut(raw, []byte("\r\n"))
		if !found {
			return nil, false
		}
		size, _, _ := strings.Cut(string(line), ";")
		n, err := strconv.ParseUint(size, 16, 32)
		if err != nil || int(n) > len(rest) {
			return nil, false
		}
		if n == 0 {
			for line := range strings.SplitSeq(string(rest), "\r\n") {
				if name, v, found := strings.Cut(line, ":"); found {
					trailer.Set(name, strings.TrimSpace(v))
				}
			}
			return body, true
		}
		body = append(body, rest[:n]...)
		raw, found = bytes.CutPrefix(rest[n:], []byte("\r\n"))
		if !found {
			return nil, false
		}
	}
}
