// Package spelling guesses which name was meant by one that is not known.
package spelling

import (
	"strings"
)

// maxLength is the longest name that is guessed at, in bytes.
const maxLength = 64

// enough is how many letters of a name tell which is meant.
const enough = 3

// Nearest returns the known name that a name was probably meant to be, or "": a
// third of its letters may be wrong, and all of its capitals and underlines. Of
// several that are as near it is the first. A name of 3 letters or more that
// none is near to may be the beginning of one alone.
func Nearest(name string, known []string) string {
	if len(name) > maxLength {
		return ""
	}
	plain := fold(name)
	best, least := "", len(name)/3+1
	for _, k := range known {
		to := fold(k)
		if n := distance(plain, to, least+1); n < least || n == least && best == "" && bare(plain) == bare(to) {
			best, least = k, n
		}
	}
	if best == "" && len(name) >= enough {
		best = completed(plain, known)
	}
	return best
}

// completed returns the one name that begins with a folded one, or "".
func completed(plain string, known []string) string {
	found := ""
	for _, k := range known {
		switch {
		case !strings.HasPrefix(fold(k), plain):
		case found != "":
			return ""
		default:
			found = k
		}
	}
	return found
}

// fold makes names alike that differ in capitals, or in - for _.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "_")) }

func bare(name string) string { return strings.ReplaceAll(name, "_", "") }

// distance is the least number of letters to put in, take out or change to make
// b of a, or limit if it is not below that.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
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
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}
