package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/weburl"
)

// printExchanges prints what was sent and what came back, as Scrapy does, for
// each redirect and each retry, with the page's own size at the end. A robots.txt
// that was looked up on the way to the URL asked for is a line.
func printExchanges(w io.Writer, asked string, told []assembly.Exchange, page *crawl.Response) {
	for k := range told {
		x := &told[k]
		url := weburl.Redact(x.Request.URL)
		if onTheWay(asked, x) {
			fmt.Fprintf(w, "* looked up %s: %s\n", url, outcome(x))
			continue
		}
		fmt.Fprintf(w, "> %s %s\n", x.Request.HTTPMethod(), url)
		for _, h := range x.Redacted() {
			fmt.Fprintf(w, "> %s: %s\n", h.Name, h.Value)
		}
		if resp := x.Response; resp != nil {
			fmt.Fprintf(w, "< %s\n", strings.TrimSpace(fmt.Sprintf("%s %d %s", resp.Protocol, resp.Status, http.StatusText(resp.Status))))
			printHeaders(w, resp.Headers)
		}
		fmt.Fprintf(w, "* %s\n", outcome(x))
		printConnection(w, x.Response)
		if k+1 < len(told) && x.Response != nil && !onTheWay(asked, &told[k+1]) {
			fmt.Fprintf(w, "* then %s\n", weburl.Redact(told[k+1].Request.URL))
		}
	}
	if page != nil {
		fmt.Fprintf(w, "* page of %d bytes%s\n", len(page.Body), withFlags(page.Flags))
	}
}

// onTheWay reports whether an exchange is none of the page's own, but that of a
// robots.txt.
func onTheWay(asked string, x *assembly.Exchange) bool {
	const robots = "/robots.txt"
	return strings.HasSuffix(x.Request.URL, robots) && !strings.HasSuffix(asked, robots)
}

func printHeaders(w io.Writer, h http.Header) {
	h = crawl.RedactedHeaders(h)
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			fmt.Fprintf(w, "< %s: %s\n", name, value)
		}
	}
}

// outcome is what came of an exchange, in a few words.
func outcome(x *assembly.Exchange) string {
	switch {
	case x.Err != nil:
		return x.Err.Error()
	case x.Response.Status >= 300 && x.Response.Status < 400 && x.Response.Headers.Get("Location") != "":
		return fmt.Sprintf("%d to %s", x.Response.Status, crawl.RedactedHeaders(x.Response.Headers).Get("Location"))
	}
	return fmt.Sprintf("%d, %d bytes received%s", x.Response.Status, len(x.Response.Body), withFlags(x.Response.Flags))
}

func withFlags(flags []string) string {
	if len(flags) == 0 {
		return ""
	}
	return ", " + strings.Join(flags, ", ")
}

// printConnection prints who answered and where the time went, as far as it is
// known.
func printConnection(w io.Writer, resp *crawl.Response) {
	if resp == nil {
		return
	}
	if resp.IPAddress != "" {
		fmt.Fprintf(w, "* from %s\n", resp.IPAddress)
	}
	if c := resp.Certificate; c != nil {
		fmt.Fprintf(w, "* certificate of %s, by %s, good from %s to %s, SHA-256 %s\n",
			c.Subject, c.Issuer, c.NotBefore.Format(time.DateOnly), c.NotAfter.Format(time.DateOnly), c.SHA256)
	}
	if times := timing(resp); times != "" {
		fmt.Fprintf(w, "* time: %s\n", times)
	}
}

// timing lists the parts of a fetch that took time.
func timing(resp *crawl.Response) string {
	t := resp.Timing
	var parts []string
	add := func(name string, d time.Duration) {
		if d > 0 {
			parts = append(parts, name+" "+brief(d))
		}
	}
	add("dns", t.DNS)
	add("connect", t.Connect)
	add("tls", t.TLS)
	add("first byte", t.FirstByte)
	add("body", t.Body)
	add("latency", resp.Latency)
	if t.Reused {
		parts = append(parts, "over a kept connection")
	}
	return strings.Join(parts, ", ")
}

func brief(d time.Duration) string {
	if d < time.Millisecond {
		return d.Round(time.Microsecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}

// An exchangeLine is an exchange as --json has it. Times are in seconds.
type exchangeLine struct {
	Method   string      `json:"method"`
	URL      string      `json:"url"`
	Sent     [][]string  `json:"request_headers"`
	Status   int         `json:"status,omitempty"`
	Protocol string      `json:"protocol,omitempty"`
	Headers  http.Header `json:"response_headers,omitempty"`
	Bytes    int         `json:"bytes"`
	Flags    []string    `json:"flags,omitempty"`

	IPAddress   string             `json:"ip_address,omitempty"`
	Certificate *crawl.Certificate `json:"certificate,omitempty"`
	Timing      *timingLine        `json:"timing,omitempty"`
	Error       string             `json:"error,omitempty"`
}

type timingLine struct {
	DNS       float64 `json:"dns"`
	Connect   float64 `json:"connect"`
	TLS       float64 `json:"tls"`
	FirstByte float64 `json:"first_byte"`
	Body      float64 `json:"body"`
	Latency   float64 `json:"latency"`
	Reused    bool    `json:"reused"`
}

func exchangeLines(told []assembly.Exchange) []exchangeLine {
	var lines []exchangeLine
	for k := range told {
		x := &told[k]
		line := exchangeLine{Method: x.Request.HTTPMethod(), URL: weburl.Redact(x.Request.URL), Sent: [][]string{}}
		for _, h := range x.Redacted() {
			line.Sent = append(line.Sent, []string{h.Name, h.Value})
		}
		if x.Err != nil {
			line.Error = x.Err.Error()
		}
		if resp := x.Response; resp != nil {
			t := resp.Timing
			line.Status, line.Protocol, line.Headers = resp.Status, resp.Protocol, crawl.RedactedHeaders(resp.Headers)
			line.Bytes, line.Flags = len(resp.Body), resp.Flags
			line.IPAddress, line.Certificate = resp.IPAddress, resp.Certificate
			line.Timing = &timingLine{
				t.DNS.Seconds(), t.Connect.Seconds(), t.TLS.Seconds(), t.FirstByte.Seconds(), t.Body.Seconds(), resp.Latency.Seconds(), t.Reused,
			}
		}
		lines = append(lines, line)
	}
	return lines
}
