package shell

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A command is what a line may begin with.
type command struct {
	name, args, help     string
	others               []string // other names
	needsPage, needsArgs bool
	run                  func(s *Shell, ctx context.Context, rest string) error
}

func commands() []command {
	return []command{
		{name: "css", args: "SELECTOR", help: "what a CSS selector finds, ::text and ::attr(NAME) included", needsPage: true, needsArgs: true, run: selecting("css")},
		{name: "xpath", args: "EXPRESSION", help: "what an XPath expression finds", needsPage: true, needsArgs: true, run: selecting("xpath")},
		{name: "jmespath", args: "EXPRESSION", help: "what a JMESPath expression finds in JSON", needsPage: true, needsArgs: true, run: selecting("jmespath")},
		{name: "jsonpath", args: "EXPRESSION", help: "what a JSONPath expression finds in JSON", needsPage: true, needsArgs: true, run: selecting("jsonpath")},
		{name: "re", args: "PATTERN", help: "what a regular expression finds in the page, or its groups", needsPage: true, needsArgs: true, run: selecting("re")},
		{name: "links", args: "[PATTERN]", help: "the links, numbered; those whose URL a regular expression is found in", needsPage: true, run: (*Shell).runLinks},
		{name: "text", help: "the page's text as a reader sees it", needsPage: true, run: (*Shell).runText},
		{name: "body", help: "the page as it came, decoded", needsPage: true, run: (*Shell).runBody},
		{name: "headers", help: "status and headers of the answer", needsPage: true, run: (*Shell).runHeaders},
		{name: "request", help: "the request that brought the page", needsPage: true, run: (*Shell).runRequest},
		{name: "items", args: "[SPIDER [CALLBACK]]", help: "what a spider makes of the page", needsPage: true, run: (*Shell).runItems},
		{name: "view", help: "the page in a browser; prints the file that it is written to", needsPage: true, run: (*Shell).runView},
		{name: "fetch", args: "[URL | N]", help: "another page: a URL, link N of those shown, or this one again", run: (*Shell).runFetch},
		{name: "help", help: "this list", others: []string{"?"}, run: (*Shell).runHelp},
		{name: "quit", help: "end; so does Ctrl-D", others: []string{"exit"}, run: func(*Shell, context.Context, string) error { return ErrQuit }},
	}
}

func (s *Shell) runHelp(context.Context, string) error {
	for _, c := range commands() {
		fmt.Fprintf(s.Out, "%-32s%s\n", c.name+" "+c.args, c.help)
	}
	fmt.Fprintln(s.Out, "\nSelectors may follow each other: css div.quote | css span.text::text | re \\w+")
	return nil
}

func (s *Shell) runLinks(_ context.Context, pattern string) error {
	var links extract.LinkExtractor
	if pattern != "" {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return err
		}
		links.Allow = []*regexp.Regexp{re}
	}
	s.links = links.Extract(s.page.Document())
	for k, link := range s.links {
		fmt.Fprintf(s.Out, "%d\t%s\t%s\n", k+1, weburl.Redact(link.URL), link.Text)
	}
	fmt.Fprintf(s.Tell, "%d links\n", len(s.links))
	return nil
}

func (s *Shell) runText(context.Context, string) error {
	text := s.page.Text()
	if body := s.page.CSS("body"); body.Len() > 0 {
		text = body.Text()
	}
	_, err := fmt.Fprintln(s.Out, text)
	return err
}

func (s *Shell) runBody(context.Context, string) error {
	_, err := fmt.Fprintln(s.Out, strings.TrimSuffix(s.page.Text(), "\n"))
	return err
}

func (s *Shell) runHeaders(context.Context, string) error {
	fmt.Fprintf(s.Out, "%d %s\n", s.page.Status, http.StatusText(s.page.Status))
	s.printHeaders(crawl.RedactedHeaders(s.page.Headers))
	return nil
}

func (s *Shell) runRequest(context.Context, string) error {
	req := s.page.Request.Redacted()
	fmt.Fprintf(s.Out, "%s %s\n", req.HTTPMethod(), req.URL)
	s.printHeaders(req.Headers)
	if len(req.Body) > 0 {
		fmt.Fprintf(s.Out, "\n%s\n", req.Body)
	}
	for k, url := range req.RedirectURLs {
		fmt.Fprintf(s.Out, "redirected from %s (%s)\n", url, req.RedirectReasons[k])
	}
	return nil
}

func (s *Shell) printHeaders(headers http.Header) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		for _, value := range headers[name] {
			fmt.Fprintf(s.Out, "%s: %s\n", name, value)
		}
	}
}
