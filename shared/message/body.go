package message

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A Body is a page's body on its way: in the message itself, or in a blob that
// the message names (a claim check).
type Body struct {
	// Codec is how the bytes are packed: "" not at all, "zstd".
	Codec string `json:"codec,omitempty"`
	// Size is the length of the body in bytes, unpacked.
	Size int `json:"size,omitempty"`
	// Data is the packed body, where it travels in the message.
	Data []byte `json:"data,omitempty"`
	// Key, Offset and Length say where the packed body lies else.
	Key    string `json:"key,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Length int64  `json:"length,omitempty"`
}

// minPacked is the shortest body in bytes that is compressed: what a shorter
// one could save is less than the rest of its message.
const minPacked = 512

// A Packer packs and unpacks bodies. It is safe for concurrent use.
type Packer struct {
	encoders, decoders sync.Pool
}

// NewPacker returns a packer.
func NewPacker() *Packer {
	return &Packer{
		encoders: sync.Pool{New: func() any {
			// One goroutine and a small window: bodies are packed one at a
			// time, and a Lambda has little memory. The options are valid,
			// so there is no error.
			e, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
				zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<10), zstd.WithEncoderCRC(false))
			return e
		}},
		decoders: sync.Pool{New: func() any {
			d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
			return d
		}},
	}
}

// Pack packs a body into the Data of a [Body].
func (p *Packer) Pack(body []byte) Body {
	b := Body{Size: len(body), Data: body}
	if len(body) < minPacked {
		return b
	}
	e := p.encoders.Get().(*zstd.Encoder)
	defer p.encoders.Put(e)
	if packed := e.EncodeAll(body, make([]byte, 0, len(body)/3)); len(packed) < len(body) {
		b.Codec, b.Data = "zstd", packed
	}
	return b
}

// Unpack returns the body whose packed bytes are given.
func (p *Packer) Unpack(b Body, packed []byte) ([]byte, error) {
	switch b.Codec {
	case "":
		return packed, nil
	case "zstd":
		d := p.decoders.Get().(*zstd.Decoder)
		defer p.decoders.Put(d)
		body, err := d.DecodeAll(packed, make([]byte, 0, b.Size))
		if err != nil {
			return nil, fmt.Errorf("unpack a body: %w", err)
		}
		return body, nil
	}
	return nil, fmt.Errorf("unpack a body: unknown codec %q; this build knows zstd", b.Codec)
}
