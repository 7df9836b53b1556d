package httpcache

import (
	"net/http"
	"slices"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
)

// permanent is how long an answer holds that says so by its status alone (300,
// 301, 308): a year, as in Scrapy.
const permanent = 365 * 24 * time.Hour

// Fresh implements [Policy]. Source: RFC 9111, sections 4.2 and 5.2.1.
func (p RFC9111) Fresh(e *Entry, req *crawl.Request, now time.Time) bool {
	said, wants := p.said(e.Response.Headers), asked(req.Headers)
	if said.has("no-cache") || wants.has("no-cache") {
		return false
	}
	lifetime, age := p.lifetime(e.Response, e.Received), age(e, now)
	if most, ok := wants.seconds("max-age"); ok {
		lifetime = min(lifetime, most)
	}
	if least, ok := wants.seconds("min-fresh"); ok {
		return lifetime-age >= max(least, 1)
	}
	if lifetime > age {
		return true
	}
	if !wants.has("max-stale") || said.has("must-revalidate") {
		return false
	}
	most, _ := wants.seconds("max-stale")
	return wants["max-stale"] == "" || age-lifetime <= most
}

// Saves implements [Policy]: what is stale is better than nothing, as in Scrapy,
// unless the server or the request forbids it. An answer with stale-if-error
// says for how long. Source: RFC 9111, section 4.2.4; RFC 5861, section 4.
func (p RFC9111) Saves(e *Entry, req *crawl.Request, now time.Time) bool {
	said, wants := p.said(e.Response.Headers), asked(req.Headers)
	if said.has("must-revalidate") || said.has("no-cache") || wants.has("no-cache") {
		return false
	}
	stale := age(e, now) - p.lifetime(e.Response, e.Received)
	for _, c := range []control{said, wants} {
		if most, ok := c.seconds("stale-if-error"); ok && stale > most {
			return false
		}
	}
	return true
}

// lifetime is for how long an answer is fresh. Source: RFC 9111, section 4.2.1;
// s-maxage is for shared caches. Where it says nothing, it is a tenth of its age
// when it came (section 4.2.2).
func (p RFC9111) lifetime(resp *crawl.Response, received time.Time) time.Duration {
	said := p.said(resp.Headers)
	if most, ok := said.seconds("max-age"); ok {
		return most
	}
	date := dateOf(resp.Headers, received)
	if lines := resp.Headers["Expires"]; len(lines) > 0 {
		expires, err := http.ParseTime(lines[0])
		if err != nil {
			return 0 // as in "Expires: 0"
		}
		return min(max(expires.Sub(date), 0), forever)
	}
	if !slices.Contains(understood, resp.Status) && !said.has("public") {
		return 0
	}
	if modified, err := http.ParseTime(resp.Headers.Get("Last-Modified")); err == nil {
		return max(date.Sub(modified), 0) / 10
	}
	switch resp.Status {
	case http.StatusMultipleChoices, http.StatusMovedPermanently, http.StatusPermanentRedirect:
		return permanent
	}
	return 0
}

// age is how old an entry is. Source: RFC 9111, section 4.2.3; the delay of the
// answer is not counted, since it begins with the wait for a turn at the host.
func age(e *Entry, now time.Time) time.Duration {
	apparent := max(e.Received.Sub(dateOf(e.Response.Headers, e.Received)), 0)
	told := deltaSeconds(firstOf(e.Response.Headers["Age"]))
	since := max(now.Sub(e.Received), 0)
	// Each is cut, as a sum that overflows would be young.
	return min(min(max(apparent, told), forever)+min(since, forever), forever)
}

func firstOf(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

// dateOf is when an answer was made.
func dateOf(h http.Header, otherwise time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return otherwise
}
