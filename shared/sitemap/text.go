package sitemap

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxLoc bounds an address, in bytes. Source: none; servers take 8 KiB.
const maxLoc = 64 << 10

// startsWithURL reports whether text begins with an address of the web.
func startsWithURL(b []byte) bool {
	b = bytes.ToLower(b[:min(len(b), len("https://"))])
	return bytes.HasPrefix(b, []byte("http://")) || string(b) == "https://"
}

// readText gives the lines that are addresses; others are passed over.
func (s *source) readText(give func(Entry) bool) error {
	var line []byte
	for {
		part, err := s.text.ReadSlice('\n')
		if len(line) <= maxLoc {
			line = append(line, part...)
		}
		switch {
		case err == nil || errors.Is(err, io.EOF):
			loc := strings.Trim(string(line), " \t\r\n\ufeff")
			if len(line) <= maxLoc && startsWithURL([]byte(loc)) && !give(Entry{Loc: resolve(s.base, loc)}) {
				return errStopped
			}
			line = line[:0]
			if err != nil {
				return nil
			}
		case !errors.Is(err, bufio.ErrBufferFull):
			return err // what was read of the line may lack its end
		}
	}
}
