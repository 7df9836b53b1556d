package downloadermw

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/skitterhq/skitter/shared/handlers/bounded"
)

// What decode finds besides errors of the formats.
var (
	errPlain = errors.New("it is not compressed")
	errCut   = errors.New("its end is missing or broken")
)

// zstdWindow is the largest window of zstd that is decoded: 8 MiB, which RFC
// 8878, section 3.1.1.1.2, wants all decoders to have, and browsers limit
// themselves to.
const zstdWindow = 8 << 20

// Decoders unpack bodies, and are kept to unpack others, since making one costs
// more than a page. The zero value is ready; it is safe for concurrent use.
type Decoders struct {
	gzip, flate, brotli, zstd sync.Pool // of *decoder
	bodies                    bounded.Pool
}

// A decoder reads what src packs. It is kept with its source, so that neither
// is made anew.
type decoder struct {
	src   bytes.Reader
	r     io.Reader
	reset func() error
}

// pool is that of a coding, nil if the coding is not known.
func (d *Decoders) pool(coding string) (*sync.Pool, func() (*decoder, error)) {
	switch coding {
	case "gzip", "x-gzip":
		return &d.gzip, newGzip
	case "deflate":
		return &d.flate, newFlate
	case "br":
		return &d.brotli, newBrotli
	case "zstd":
		return &d.zstd, newZstd
	}
	return nil, nil
}

func (d *Decoders) know(coding string) bool {
	pool, _ := d.pool(coding)
	return pool != nil
}

// decode undoes one coding that is known. With errCut comes what could be read.
func (d *Decoders) decode(coding string, packed []byte, limit int64) ([]byte, error) {
	if len(packed) == 0 {
		return packed, nil
	}
	body, err := d.read(coding, packed, limit)
	if coding == "deflate" && err != nil && !errors.Is(err, bounded.ErrTooLarge) && len(body) == 0 {
		// Half the servers send it with zlib's header, as they should.
		body, err = d.inflate(packed, limit)
	}
	switch {
	case err == nil || errors.Is(err, bounded.ErrTooLarge):
		return body, err
	case looksPlain(packed):
		return nil, errPlain
	case len(body) == 0:
		return nil, err
	case complete(err):
		return body, nil
	}
	return body, errCut
}

func (d *Decoders) read(coding string, packed []byte, limit int64) ([]byte, error) {
	switch coding {
	case "deflate":
		if !hasZlibHeader(packed) {
			return nil, errors.New("no zlib header")
		}
		packed = packed[2:]
	case "zstd":
		if !hasZstdMagic(packed) {
			return nil, zstd.ErrMagicMismatch
		}
	}
	pool, make := d.pool(coding)
	return d.run(pool, make, packed, limit)
}

// inflate reads deflate without any header.
func (d *Decoders) inflate(packed []byte, limit int64) ([]byte, error) {
	return d.run(&d.flate, newFlate, packed, limit)
}

func (d *Decoders) run(pool *sync.Pool, make func() (*decoder, error), packed []byte, limit int64) ([]byte, error) {
	dec, _ := pool.Get().(*decoder)
	if dec == nil {
		var err error
		if dec, err = make(); err != nil {
			return nil, err
		}
	}
	defer func() {
		dec.src.Reset(nil) // the packed bytes are not to be kept
		pool.Put(dec)
	}()
	dec.src.Reset(packed)
	if err := dec.reset(); err != nil {
		return nil, err
	}
	return d.bodies.ReadAll(dec.r, limit)
}

func newGzip() (*decoder, error) {
	d, r := new(decoder), new(gzip.Reader)
	d.r, d.reset = r, func() error { return r.Reset(&d.src) }
	return d, nil
}

func newFlate() (*decoder, error) {
	d := new(decoder)
	r := flate.NewReader(&d.src)
	resetter, ok := r.(flate.Resetter)
	if !ok {
		return nil, errors.New("flate readers cannot be used again")
	}
	d.r, d.reset = r, func() error { return resetter.Reset(&d.src, nil) }
	return d, nil
}

func newBrotli() (*decoder, error) {
	d := new(decoder)
	r := brotli.NewReader(&d.src)
	d.r, d.reset = r, func() error { return r.Reset(&d.src) }
	return d, nil
}

func newZstd() (*decoder, error) {
	d := new(decoder)
	// One goroutine's work at a time: no others are started and left behind.
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return nil, err
	}
	d.r, d.reset = r, func() error { return r.Reset(&d.src) }
	return d, nil
}

// complete reports whether an error only says that after the end of the data
// something is wrong: bytes that belong to nothing, or a sum that differs.
func complete(err error) bool {
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || err.Error() == "brotli: excessive input"
}

// hasZlibHeader checks the two bytes that zlib puts before deflate, without a
// dictionary. Source: RFC 1950, section 2.2.
func hasZlibHeader(b []byte) bool {
	return len(b) >= 2 && b[0]&15 == 8 && b[0]>>4 <= 7 && b[1]&0x20 == 0 && (int(b[0])<<8|int(b[1]))%31 == 0
}

// hasZstdMagic checks for the start of a frame, or of one to be skipped. Source:
// RFC 8878, section 3.1.
func hasZstdMagic(b []byte) bool {
	return len(b) >= 4 && (bytes.Equal(b[:4], []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		b[0]&0xf0 == 0x50 && bytes.Equal(b[1:4], []byte{0x2a, 0x4d, 0x18}))
}

// looksPlain reports whether bytes are text. Every tenth byte of a compressed
// body is a control character, so a few dozen bytes tell.
func looksPlain(b []byte) bool {
	const enough = 64
	if len(b) < enough && !utf8.Valid(b) {
		return false
	}
	for _, c := range b[:min(len(b), 8*enough)] {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' || c == 0x7f {
			return false
		}
	}
	return true
}
