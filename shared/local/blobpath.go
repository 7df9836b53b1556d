package local

import (
	"path/filepath"
	"strings"
)

// A blob's key becomes a path below blobs/ so that no two keys share one, also
// on a file system that ignores case:
//
//   - a capital letter is written as + and the small one;
//   - a file's name ends in ~, a folder's does not, so that a key may begin
//     with another one and a slash;
//   - a segment longer than a file's name may be is cut, and each part but the
//     last is a folder whose name ends in a comma.
//
// None of the three characters is one of a key. Names that Windows keeps for
// itself ("con", or a folder's that ends in a dot) are not taken care of.
const (
	capitalMark  = '+'
	fileMark     = "~"
	continueMark = ","
)

// maxName is how long a part of a segment is at most. File names may have 255
// bytes on all common systems; some file systems that encrypt leave 143.
const maxName = 140

// blobPath is the path of a key, below blobs/.
func blobPath(key string) string { return folderPath(key) + fileMark }

// folderPath is the path of the folder for the keys that begin with some
// segments.
func folderPath(segments string) string {
	var b strings.Builder
	length := 0 // of the name so far
	for i := range len(segments) {
		c := segments[i]
		if c == '/' {
			b.WriteByte(filepath.Separator)
			length = 0
			continue
		}
		if length >= maxName {
			b.WriteString(continueMark + string(filepath.Separator))
			length = 0
		}
		if 'A' <= c && c <= 'Z' {
			b.WriteByte(capitalMark)
			c += 'a' - 'A'
			length++
		}
		b.WriteByte(c)
		length++
	}
	return b.String()
}

// decodeName is the part of a key that a name in a folder stands for, and
// whether it is a file's. It reports false for a name that is no key's, such
// as the folder of temporary files.
func decodeName(name string, isFolder bool) (part string, ok bool) {
	if isFolder {
		part, ok = strings.CutSuffix(name, continueMark)
		if !ok {
			part += "/"
		}
	} else if part, ok = strings.CutSuffix(name, fileMark); !ok {
		return "", false
	}
	if strings.Contains(part, fileMark) {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		c := part[i]
		if c == capitalMark && i+1 < len(part) {
			i++
			c = part[i] - ('a' - 'A')
		}
		b.WriteByte(c)
	}
	return b.String(), true
}
