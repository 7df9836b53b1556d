package site

import "strings"

// A quote is one of the quotations. All are made up, and so are their authors.
type quote struct {
	text   string
	author author
	tags   [2]string
}

type author struct {
	name, born, place, note string
}

// slug returns the author's name as it stands in an address.
func (a author) slug() string { return strings.ReplaceAll(a.name, " ", "-") }

const (
	quotePages    = 10
	quotesPerPage = 10
)

// quotes returns all quotations, in the order of their pages. Each is one of
// ten beginnings with one of ten ends, and no two are alike.
func quotes() []quote {
	all := make([]quote, quotePages*quotesPerPage)
	for i := range all {
		row, column := i/10, i%10
		tag := (i + row) % 10
		all[i] = quote{
			text:   beginnings()[column] + " " + ends()[(row+column)%10],
			author: authors()[(3*column+row)%10],
			tags:   [2]string{quoteTags()[tag], quoteTags()[(tag+1+row%9)%10]},
		}
	}
	return all
}

func beginnings() [10]string {
	return [10]string{
		"A patient queue", "A small message", "An open door", "A late train", "A quiet engine",
		"A borrowed ladder", "A clean page", "A slow river", "A short answer", "A second try",
	}
}

func ends() [10]string {
	return [10]string{
		"is never in anybody's way.", "teaches more than a loud warning.", "costs less than it seems.",
		"looks better in the morning.", "knows where it came from.", "asks for nothing twice.",
		"outlasts the plan that made it.", "carries more than it shows.", "leaves room for the next one.",
		"is half of the journey.",
	}
}

func quoteTags() [10]string {
	return [10]string{"patience", "work", "doors", "travel", "silence", "tools", "paper", "water", "speech", "failure"}
}

func authors() [10]author {
	return [10]author{
		{"Ines Marrowby", "May 4, 1931", "Harrowmere", "She kept the lamps of a harbour."},
		{"Tobias Fennick", "June 19, 1902", "Ostervale", "He mended clocks that nobody came back for."},
		{"Ruta Callowen", "March 2, 1958", "Brinefold", "She drew maps of places before she went there."},
		{"Oskar Lindqvale", "December 30, 1889", "Norrhaven", "He wrote one letter a day, and sent every third."},
		{"Mirela Stanecu", "August 11, 1944", "Val Teresa", "She taught arithmetic to sailors."},
		{"Jun Hallorand", "October 7, 1971", "Kitamore", "He counted the cars of freight trains."},
		{"Pia Westerby", "January 25, 1966", "Low Anstey", "She kept bees, and books about them."},
		{"Emeka Dorrun", "April 14, 1980", "Port Selby", "He sorted the mail of two villages."},
		{"Salma Ortheil", "July 1, 1923", "Dar Lumen", "She repaired the roofs of theatres."},
		{"Bram Tolliven", "September 16, 1915", "Overmeer", "He opened a lock on a canal for forty years."},
	}
}
