package message_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/message"
)

// noise is bytes that nothing can make shorter, the same in every run.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // never fails
	return b
}

// page is a body as the web has them, of about n bytes.
func page(n int) []byte {
	var b bytes.Buffer
	for k := 0; b.Len() < n; k++ {
		fmt.Fprintf(&b, "<li class=\"book\"><a href=\"/books/%d\">Book %d</a></li>\n", k*7919, k)
	}
	return b.Bytes()
}

func TestPackAndUnpack(t *testing.T) {
	tests := []struct {
		name  string
		body  []byte
		codec string
	}{
		{"no body", nil, ""},
		{"an empty body", []byte{}, ""},
		{"one byte", []byte("x"), ""},
		{"a tiny body is not worth the work", bytes.Repeat([]byte("a"), 511), ""},
		{"the shortest body that is packed", bytes.Repeat([]byte("a"), 512), "zstd"},
		{"an incompressible body travels as it is", noise(4096), ""},
		{"an incompressible body beyond the window", noise(1 << 20), ""},
		{"a page", page(20_000), "zstd"},
		{"a body larger than the window", page(3 << 20), "zstd"},
		{"nothing but zeros", make([]byte, 8<<20), "zstd"},
		{"a page that is packed already", packed(page(200_000)), ""},
	}
	p := message.NewPacker()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := bytes.Clone(test.body)
			b := p.Pack(test.body)
			if b.Codec != test.codec {
				t.Errorf("codec %q, want %q", b.Codec, test.codec)
			}
			if b.Size != len(test.body) {
				t.Errorf("size %d, want %d", b.Size, len(test.body))
			}
			if test.codec != "" && len(b.Data) >= len(test.body) {
				t.Errorf("%d bytes packed into %d", len(test.body), len(b.Data))
			}
			got, err := p.Unpack(b, b.Data)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, before) || !bytes.Equal(test.body, before) {
				t.Error("the body changed on its way")
			}
			// Another process unpacks what this one has packed.
			if got, err := message.NewPacker().Unpack(b, b.Data); err != nil || !bytes.Equal(got, before) {
				t.Errorf("another packer: %d bytes, err %v", len(got), err)
			}
		})
	}
}

func packed(body []byte) []byte { return message.NewPacker().Pack(body).Data }

func TestUnpackErrors(t *testing.T) {
	whole := packed(page(20_000))
	broken := bytes.Clone(whole)
	broken[0] ^= 0xff
	tests := []struct {
		name string
		body message.Body
		data []byte
		want string
	}{
		{"a codec of a newer build", message.Body{Codec: "brotli", Size: 4}, []byte("1234"), `unknown codec "brotli"; this build knows zstd`},
		{"half a body", message.Body{Codec: "zstd", Size: 20_000}, whole[:len(whole)/2], "unpack a body: "},
		{"bytes that are no zstd", message.Body{Codec: "zstd", Size: 20_000}, broken, "unpack a body: "},
	}
	p := message.NewPacker()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := p.Unpack(test.body, test.data)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("err %v, want one with %q", err, test.want)
			}
			if got != nil {
				t.Errorf("%d bytes beside the error", len(got))
			}
			// A decoder that met an error goes back into the pool, and must work.
			b := p.Pack(page(1000))
			if _, err := p.Unpack(b, b.Data); err != nil {
				t.Errorf("the next body: %v", err)
			}
		})
	}
}

// The size only says how much memory to begin with: a wrong one cuts nothing off.
func TestUnpackDoesNotBelieveTheSize(t *testing.T) {
	body := page(20_000)
	p := message.NewPacker()
	b := p.Pack(body)
	for _, size := range []int{0, 1, len(body) * 2} {
		b.Size = size
		if got, err := p.Unpack(b, b.Data); err != nil || !bytes.Equal(got, body) {
			t.Errorf("size %d: %d bytes, err %v; want %d", size, len(got), err, len(body))
		}
	}
}

func TestPackerIsSafeForConcurrentUse(t *testing.T) {
	p := message.NewPacker()
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			body := append(page(10_000+3000*w), byte(w))
			for range 20 {
				b := p.Pack(body)
				got, err := p.Unpack(b, b.Data)
				if err != nil || !bytes.Equal(got, body) {
					t.Errorf("worker %d: %d bytes, err %v; want %d", w, len(got), err, len(body))
					return
				}
			}
		})
	}
	all.Wait()
}
