package yamlspider

import (
	"fmt"
	"slices"
	"strings"
)

// unknown says that a name is none of those there are, and which was meant; if
// nobody can tell, which there are.
func unknown(what, name string, there []string) string {
	text := fmt.Sprintf("there is no %s %q", what, shorten(name))
	near := nearest(name, there)
	switch {
	case near != "":
		return text + fmt.Sprintf("; did you mean %q?", near)
	case len(there) == 0:
		return text + ", and no other"
	}
	return text + "; there are " + strings.Join(there, ", ")
}

// nearest returns the name that was probably meant, or "": a third of its
// letters may be wrong.
func nearest(name string, there []string) string {
	if len(name) > 64 {
		return ""
	}
	plain := strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	best, least := "", len(name)/3+1
	for _, t := range there {
		if n := distance(plain, t); n < least || n == least && best == "" && strings.ReplaceAll(plain, "_", "") == strings.ReplaceAll(t, "_", "") {
			best, least = t, n
		}
	}
	return best
}

// distance is the least number of letters to put in, take out or change to make
// b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = slices.Min([]int{change, row[j] + 1, row[j+1] + 1})
		}
	}
	return row[len(b)]
}
