package aws

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

const (
	// compressFrom is from how many bytes on it is tried whether a value gets
	// shorter: below, a row takes one write unit of 1 KB anyhow.
	compressFrom = 900
	// mostMemory is how much of a damaged or hostile value is unpacked: 64 MiB.
	mostMemory = 64 << 20
)

// The codec has no goroutines of its own and keeps one encoder and decoder for
// each processor.
var (
	encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(mostMemory))
)

// compressed returns a value compressed where that is shorter, and whether it
// is.
func compressed(b []byte) ([]byte, bool) {
	if len(b) < compressFrom {
		return b, false
	}
	small := encoder.EncodeAll(b, nil)
	if len(small) >= len(b) {
		return b, false
	}
	return small, true
}

func decompress(b []byte) ([]byte, error) {
	out, err := decoder.DecodeAll(b, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack %d bytes: %w", len(b), err)
	}
	return out, nil
}
