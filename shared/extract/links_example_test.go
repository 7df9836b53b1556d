package extract_test

import (
	"fmt"
	"regexp"

	"github.com/skitterhq/skitter/shared/extract"
)

func ExampleLinkExtractor() {
	page := extract.NewDocument([]byte(shelf), "text/html", "https://books.example/")

	books := extract.LinkExtractor{Allow: []*regexp.Regexp{regexp.MustCompile(`/book/\d+`)}}
	for _, link := range books.Extract(page) {
		fmt.Println(link.URL, link.Text, link.Nofollow)
	}
	// Output:
	// https://books.example/book/1?page=1 Emma false
	// https://books.example/book/2 Middlemarch true
}

func ExampleLinkExtractor_parts() {
	images := extract.LinkExtractor{
		Restrict:       []*extract.Query{extract.MustXPath(`//div[@id="gallery"]`), extract.MustCSS("figure")},
		Tags:           []string{"img"},
		Attrs:          []string{"src", "data-src"},
		DenyExtensions: []string{},
	}
	page := extract.NewDocument([]byte(`<img src="/logo.png"><figure><img src="/1.png"></figure><div id="gallery"><img data-src="/2.png"></div>`), "text/html", "https://books.example/")
	for _, link := range images.Extract(page) {
		fmt.Println(link.URL)
	}
	// Output:
	// https://books.example/2.png
	// https://books.example/1.png
}

func ExampleLinkOptions() {
	options := extract.LinkOptions{ProcessValue: `^javascript:go\('(.*?)'`}
	hidden, err := options.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	page := extract.NewDocument([]byte(`<a href="javascript:go('/next')">Next</a>`), "text/html", "https://books.example/")
	fmt.Println(hidden.Extract(page)[0].URL)
	// Output: https://books.example/next
}

func ExampleDocument_Submit() {
	page := extract.NewDocument([]byte(`<form action="/search"><input name="q"><button name="go">Go</button></form>`), "text/html", "https://books.example/")
	s, err := page.Submit(extract.FormOptions{FormData: map[string][]string{"q": {"emma"}}})
	fmt.Println(s.Method, s.URL, err)
	// Output: GET https://books.example/search?go=&q=emma <nil>
}
