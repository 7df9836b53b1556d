package newspider_test

import (
	"go/format"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/project/newspider"
)

const importPath = "example.com/mine/spiders/books"

func TestASpiderIsPutIntoTheListOnce(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"a list of lines": {`package spiders

import (
	"example.com/mine/shared"
	"example.com/mine/spiders/shop" // ours
)

// Project is ours.
func Project() project.Project {
	return project.Project{
		Name: "mine", // the name
		Spiders: []spider.Spider{
			// The oldest first.
			shop.Spider(), // do not touch
		},
		Scope: scope,
	}
}
`, `package spiders

import (
	"example.com/mine/shared"
	"example.com/mine/spiders/books"
	"example.com/mine/spiders/shop" // ours
)

// Project is ours.
func Project() project.Project {
	return project.Project{
		Name: "mine", // the name
		Spiders: []spider.Spider{
			// The oldest first.
			shop.Spider(), // do not touch
			books.Spider(),
		},
		Scope: scope,
	}
}
`},
		"a list on one line": {`package spiders

import "example.com/mine/spiders/shop"

var p = project.Project{Spiders: []spider.Spider{shop.Spider()}}
`, `package spiders

import "example.com/mine/spiders/shop"
import "example.com/mine/spiders/books"

var p = project.Project{Spiders: []spider.Spider{shop.Spider(), books.Spider()}}
`},
		"an empty list": {`package spiders

import (
	"github.com/skitterhq/skitter/shared/spider"
)

var p = project.Project{Spiders: []spider.Spider{}}
`, `package spiders

import (
	"example.com/mine/spiders/books"
	"github.com/skitterhq/skitter/shared/spider"
)

var p = project.Project{Spiders: []spider.Spider{books.Spider()}}
`},
		"spiders that are made in other ways": {`package spiders

import "github.com/skitterhq/skitter/shared/spider"

var p = project.Project{Spiders: []spider.Spider{
	{Name: "a"}, make(1), other.Spider(2).Spider(), x,
}}
`, `package spiders

import "github.com/skitterhq/skitter/shared/spider"
import "example.com/mine/spiders/books"

var p = project.Project{Spiders: []spider.Spider{
	{Name: "a"}, make(1), other.Spider(2).Spider(), x,
	books.Spider(),
}}
`},
	} {
		t.Run(name, func(t *testing.T) {
			if formatted, err := format.Source([]byte(test.before)); err != nil || string(formatted) != test.before {
				t.Fatalf("the test's own file is not formatted: %v", err)
			}
			got, err := newspider.List([]byte(test.before), "books", importPath)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, string(got)); diff != "" {
				t.Error(diff)
			}
			again, err := newspider.List(got, "books", importPath)
			if err != nil || string(again) != string(got) {
				t.Errorf("a second time: %v\n%s", err, cmp.Diff(string(got), string(again)))
			}
		})
	}
}

func TestAnUnusualListIsLeftAlone(t *testing.T) {
	for want, source := range map[string]string{
		"it does not compile":       "package spiders\nfunc",
		"it has no list of Spiders": "package spiders\nimport \"a\"\nvar p = project.Project{}",
		"its Spiders are no list":   "package spiders\nimport \"a\"\nvar p = project.Project{Spiders: all()}",
		"it has 2 lists of Spiders": "package spiders\nimport \"a\"\nvar p, q = T{Spiders: []S{}}, T{Spiders: []S{}}",
		"it imports nothing":        "package spiders\nvar p = project.Project{Spiders: []S{}}",
	} {
		if _, err := newspider.List([]byte(source), "books", importPath); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
