package aws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/skitterhq/skitter/shared/aws/emulatortest"
	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/topology"
)

// scriptedS3 is a bucket that fails as a test says. It has what the tests here
// call; anything else panics.
type scriptedS3 struct {
	s3Client
	keys []string // sorted
	// undeleted says how often a key cannot be deleted.
	undeleted map[string]int
	// breaks is how many answers of GetObject break off.
	breaks int
	// partFails is the number of a part that cannot be uploaded.
	partFails int32
	getErr    error

	puts, gets, deletes, lists int
	parts                      []int
	completed, aborted         bool
}

func (s *scriptedS3) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	s.puts++
	n, err := io.Copy(io.Discard, in.Body)
	s.parts = append(s.parts, int(n))
	return &s3.PutObjectOutput{}, err
}

func (s *scriptedS3) GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	s.gets++
	if s.getErr != nil {
		return nil, s.getErr
	}
	var body io.Reader = strings.NewReader("0123456789")
	if s.gets <= s.breaks {
		body = io.MultiReader(io.LimitReader(body, 5), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	return &s3.GetObjectOutput{Body: io.NopCloser(body), ContentLength: awssdk.Int64(10)}, nil
}

func (s *scriptedS3) CreateMultipartUpload(context.Context, *s3.CreateMultipartUploadInput, ...func(*s3.Options)) (*s3.CreateMultipartUploadOutput, error) {
	return &s3.CreateMultipartUploadOutput{UploadId: awssdk.String("u")}, nil
}

func (s *scriptedS3) UploadPart(_ context.Context, in *s3.UploadPartInput, _ ...func(*s3.Options)) (*s3.UploadPartOutput, error) {
	if *in.PartNumber == s.partFails {
		return nil, errors.New("no room")
	}
	n, err := io.Copy(io.Discard, in.Body)
	s.parts = append(s.parts, int(n))
	return &s3.UploadPartOutput{ETag: awssdk.String(fmt.Sprint(*in.PartNumber))}, err
}

func (s *scriptedS3) CompleteMultipartUpload(context.Context, *s3.CompleteMultipartUploadInput, ...func(*s3.Options)) (*s3.CompleteMultipartUploadOutput, error) {
	s.completed = true
	return &s3.CompleteMultipartUploadOutput{}, nil
}

func (s *scriptedS3) AbortMultipartUpload(ctx context.Context, _ *s3.AbortMultipartUploadInput, _ ...func(*s3.Options)) (*s3.AbortMultipartUploadOutput, error) {
	s.aborted = true
	return &s3.AbortMultipartUploadOutput{}, ctx.Err()
}

func (s *scriptedS3) ListObjectsV2(_ context.Context, in *s3.ListObjectsV2Input, _ ...func(*s3.Options)) (*s3.ListObjectsV2Output, error) {
	s.lists++
	out := &s3.ListObjectsV2Output{IsTruncated: awssdk.Bool(false)}
	for _, key := range s.keys {
		if !strings.HasPrefix(key, awssdk.ToString(in.Prefix)) || key <= awssdk.ToString(in.StartAfter) {
			continue
		}
		if len(out.Contents) == int(*in.MaxKeys) {
			out.IsTruncated = awssdk.Bool(true)
			break
		}
		out.Contents = append(out.Contents, s3types.Object{Key: awssdk.String(key)})
	}
	return out, nil
}

func (s *scriptedS3) DeleteObjects(_ context.Context, in *s3.DeleteObjectsInput, _ ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error) {
	s.deletes++
	out := &s3.DeleteObjectsOutput{}
	for _, o := range in.Delete.Objects {
		if s.undeleted[*o.Key] > 0 {
			s.undeleted[*o.Key]--
			out.Errors = append(out.Errors, s3types.Error{Key: o.Key, Code: awssdk.String("InternalError"), Message: awssdk.String("try again")})
			continue
		}
		if i, ok := slices.BinarySearch(s.keys, *o.Key); ok {
			s.keys = slices.Delete(s.keys, i, i+1)
		}
	}
	return out, nil
}

// zeros gives n bytes and then an error; io.EOF ends it well.
func zeros(n int64, end error) io.Reader {
	return io.MultiReader(io.LimitReader(zeroReader{}, n), iotest.ErrReader(end))
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { return len(p), nil }

func TestReadersAreCutIntoParts(t *testing.T) {
	for _, test := range []struct {
		size  int64
		parts []int
		puts  int
	}{
		{0, []int{0}, 1},
		{partSize - 1, []int{partSize - 1}, 1},
		{partSize, []int{partSize}, 0},
		{2*partSize + 1, []int{partSize, partSize, 1}, 0},
	} {
		s := &scriptedS3{}
		b := &Blobs{bucket: "b", client: s}
		if err := b.PutReader(t.Context(), "k", iotest.HalfReader(zeros(test.size, io.EOF))); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.parts, test.parts) || s.puts != test.puts || s.aborted || s.completed != (test.puts == 0) {
			t.Errorf("%d bytes: parts %v, %d puts, completed %t, want %v and %d", test.size, s.parts, s.puts, s.completed, test.parts, test.puts)
		}
	}
}

func TestAReaderThatBreaksOffIsNotStored(t *testing.T) {
	// io.ErrUnexpectedEOF is what a truncated gzip ends with.
	for _, end := range []error{io.ErrUnexpectedEOF, errors.New("gone"), fmt.Errorf("wrapped: %w", io.EOF)} {
		for _, size := range []int64{0, 100, partSize, partSize + 100, 3 * partSize} {
			s := &scriptedS3{}
			b := &Blobs{bucket: "b", client: s}
			if err := b.PutReader(t.Context(), "k", zeros(size, end)); !errors.Is(err, end) {
				t.Errorf("%d bytes, then %v: %v", size, end, err)
			}
			if s.puts != 0 || s.completed || size > partSize && !s.aborted {
				t.Errorf("%d bytes, then %v: %d puts, completed %t, aborted %t", size, end, s.puts, s.completed, s.aborted)
			}
		}
	}
}

func TestAnUploadThatFailsIsAborted(t *testing.T) {
	s := &scriptedS3{partFails: 2}
	b := &Blobs{bucket: "b", client: s}
	err := b.PutReader(t.Context(), "k", zeros(2*partSize, io.EOF))
	if err == nil || !strings.Contains(err.Error(), "upload blob k in bucket b: part 2: no room") || !s.aborted || s.completed {
		t.Errorf("error %v, aborted %t, completed %t", err, s.aborted, s.completed)
	}
	// It is aborted though the caller has gone.
	ctx, cancel := context.WithCancel(t.Context())
	s = &scriptedS3{partFails: 2}
	b.client = s
	cancel()
	if err := b.PutReader(ctx, "k", zeros(2*partSize, io.EOF)); err == nil || strings.Contains(err.Error(), "parts are left") || !s.aborted {
		t.Errorf("error %v, aborted %t", err, s.aborted)
	}
}

func TestGetReadsAgainWhatBreaksOff(t *testing.T) {
	s := &scriptedS3{breaks: 2}
	b := &Blobs{bucket: "b", client: s}
	if got, err := b.Get(t.Context(), "k", 0, -1); err != nil || string(got) != "0123456789" || s.gets != 3 {
		t.Errorf("got %q (%v) after %d calls, want all at the third", got, err, s.gets)
	}
	s = &scriptedS3{breaks: 99}
	b.client = s
	if _, err := b.Get(t.Context(), "k", 0, -1); !errors.Is(err, io.ErrUnexpectedEOF) || s.gets != readTries {
		t.Errorf("error %v after %d calls, want the break after %d", err, s.gets, readTries)
	}
}

// S3 tells a role that may not list the bucket that it may not, in place of that
// nothing is there.
func TestWhatMayNotBeListedIsNotThere(t *testing.T) {
	denied := func(action string) *Blobs {
		text := "User: arn:aws:sts::1:assumed-role/fetch is not authorized to perform: " + action + " on resource: \"arn:aws:s3:::b\" because no identity-based policy allows the " + action + " action"
		return &Blobs{bucket: "b", client: &scriptedS3{getErr: &smithy.GenericAPIError{Code: "AccessDenied", Message: text}}}
	}
	if _, err := denied("s3:ListBucket").Get(t.Context(), "k", 0, -1); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("may not list: %v", err)
	}
	if _, err := denied("s3:GetObject").Get(t.Context(), "k", 0, -1); err == nil || errors.Is(err, blob.ErrNotFound) {
		t.Errorf("may not read: %v", err)
	}
}

func TestABucketThatIsNotThereIsNamed(t *testing.T) {
	b := &Blobs{bucket: "b", client: &scriptedS3{getErr: &smithy.GenericAPIError{Code: "NoSuchBucket"}}}
	_, err := b.Get(t.Context(), "k", 0, -1)
	if err == nil || errors.Is(err, blob.ErrNotFound) || !strings.Contains(err.Error(), "bucket b does not exist; deploy the stack, or run skitter up") {
		t.Errorf("error %v", err)
	}
}

func manyKeys(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("p/%05d", i))
	}
	return keys
}

func TestDeletePrefixTriesKeysAgain(t *testing.T) {
	s := &scriptedS3{keys: append(manyKeys(2500), "q"), undeleted: map[string]int{"p/00000": 1, "p/01999": deleteTries - 1}}
	b := &Blobs{bucket: "b", client: s}
	if err := b.DeletePrefix(t.Context(), "p/"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.keys, []string{"q"}) || s.lists != 3 || s.deletes != 3+1+deleteTries-1 {
		t.Errorf("%d keys are left after %d lists and %d deletes", len(s.keys), s.lists, s.deletes)
	}
	s = &scriptedS3{keys: manyKeys(3), undeleted: map[string]int{"p/00001": 99}}
	b.client = s
	if err := b.DeletePrefix(t.Context(), "p/"); err == nil || !strings.Contains(err.Error(), "p/00001: InternalError: try again") {
		t.Errorf("error %v, want one that names the key", err)
	}
}

func TestListReadsInPages(t *testing.T) {
	s := &scriptedS3{keys: manyKeys(2500)}
	b := &Blobs{bucket: "b", client: s}
	if got, err := b.List(t.Context(), "p/", "p/00001\x00", 0); err != nil || !slices.Equal(got, s.keys[2:]) || s.lists != 3 {
		t.Errorf("%d keys (%v) in %d calls", len(got), err, s.lists)
	}
	for _, limit := range []int{1, 999, 1000, 1001, 2499, 2500, 9999} {
		got, err := b.List(t.Context(), "", "", limit)
		if err != nil || !slices.Equal(got, s.keys[:min(limit, 2500)]) {
			t.Errorf("limit %d: %d keys (%v)", limit, len(got), err)
		}
	}
}

func TestLongReadersOverMoto(t *testing.T) {
	stack := freshStack()
	stack.Queues = []topology.Queue{stack.Queue(topology.QueueDead)}
	store := provisioned(t, emulatortest.Moto(t), stack)
	data := bytes.Repeat([]byte("0123456789abcdef"), (partSize+100_000)/16)
	b := store.Bucket(stack.BucketName())
	if err := b.PutReader(t.Context(), "feeds/long", bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	got, err := store.Blobs().Get(t.Context(), "feeds/long", 0, -1)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %d bytes (%v), want %d", len(got), err, len(data))
	}
	wrong := errors.New("gone")
	if err := b.PutReader(t.Context(), "feeds/long", io.MultiReader(bytes.NewReader(data), iotest.ErrReader(wrong))); !errors.Is(err, wrong) {
		t.Errorf("error %v, want the reader's", err)
	}
	if got, err := b.Get(t.Context(), "feeds/long", int64(len(data))-4, 100); err != nil || string(got) != "cdef" {
		t.Errorf("the end is %q (%v) after an upload that failed", got, err)
	}
}
