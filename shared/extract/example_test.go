package extract_test

import (
	"fmt"

	"github.com/PuerkitoBio/goquery"
	"github.com/skitterhq/skitter/shared/extract"
)

const shelf = `<title>Books</title>
<ul><li class="book"><a href="/book/1?page=1">Emma</a> <b>£3</b></li>
<li class="book"><a href="/book/2" rel="nofollow">Middle<i>march</i></a> <b>£4</b></li></ul>
<table><tr><th>Open</th><td>10 to 6</td></tr><tr><th>Town</th><td>Bath</td></tr></table>
<a href="mailto:shop@books.example">Write</a>`

func Example() {
	page := extract.NewDocument([]byte(shelf), "text/html", "https://books.example/")
	for book := range page.CSS("li.book").Each() {
		fmt.Println(book.CSS("a").Text(), book.CSS("b::text").Get(), book.CSS("a::attr(href)").Get())
	}
	fmt.Println(page.CSS("p.opening::text").GetOr("closed"))
	// Output:
	// Emma £3 /book/1?page=1
	// Middlemarch £4 /book/2
	// closed
}

// goquery works on the same tree, for what is easier said with its methods. A
// selector that a program keeps is compiled by MustCSS, which finds mistakes in
// it when the program starts.
func ExampleDocument_Goquery() {
	headings := extract.MustCSS("th")
	page := extract.NewDocument([]byte(shelf), "text/html", "https://books.example/")
	page.Goquery().FindMatcher(headings).Each(func(_ int, th *goquery.Selection) {
		fmt.Printf("%s: %s\n", th.Text(), th.Next().Text())
	})
	fmt.Println(page.CSS("li.book a").Goquery().Parent().Last().Find("b").Text())
	// Output:
	// Open: 10 to 6
	// Town: Bath
	// £4
}
