package robots

import "strings"

// ProductToken returns the name by which a robots.txt addresses the crawler
// that sends the User-Agent header userAgent, or "" if it has none and only the
// rules for "*" are for it. A token consists of letters, digits, "-" and "_".
//
//   - "MyBot" and "MyBot/2.1 (+https://example.com/bot)" are MyBot.
//   - "Mozilla/5.0 (compatible; MyBot/2.1; +https://example.com/bot)" is MyBot:
//     what follows "compatible;" names the crawler.
//   - "Mozilla/5.0 (X11; Linux) Gecko/20100101 MyBot/2.1" is MyBot: everyone
//     says Mozilla, so the last product names the crawler.
//   - "My Bot" is no token.
//
// A crawler whose header says its name in another way is given its token
// instead (Scrapy's ROBOTSTXT_USER_AGENT).
func ProductToken(userAgent string) string {
	userAgent = strings.TrimLeft(userAgent, " \t")
	if i := indexFold(userAgent, "compatible;"); i >= 0 {
		name := strings.TrimLeft(userAgent[i+len("compatible;"):], " \t")
		if token := leadingToken(name); token != "" {
			return token
		}
	}
	token := leadingToken(userAgent)
	after := userAgent[len(token):]
	switch {
	case token == "":
		return ""
	case strings.EqualFold(token, "mozilla"):
		return lastProduct(userAgent)
	case strings.HasPrefix(after, "/"), strings.HasPrefix(strings.TrimLeft(after, " \t")+"(", "("):
		return token
	}
	return ""
}

// lastProduct returns the name of the last "name/version" outside comments.
func lastProduct(userAgent string) string {
	last, depth := "", 0
	for word := range strings.FieldsSeq(userAgent) {
		opening := strings.Count(word, "(")
		if depth == 0 && opening == 0 {
			if token := leadingToken(word); strings.HasPrefix(word[len(token):], "/") && token != "" {
				last = token
			}
		}
		depth = max(0, depth+opening-strings.Count(word, ")"))
	}
	return last
}

// lineToken returns what the value of a User-agent line addresses: a token in
// lower case, "*", or "" if nothing.
//
// RFC 9309, 2.2.1: product-token = identifier / "*". What follows the token, a
// version perhaps, is skipped.
func lineToken(value string) string {
	if value == "*" || strings.HasPrefix(value, "* ") || strings.HasPrefix(value, "*\t") {
		return "*"
	}
	return strings.ToLower(leadingToken(value))
}

// leadingToken returns the token that s starts with.
func leadingToken(s string) string {
	for i := range len(s) {
		if c := s[i]; !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return s[:i]
		}
	}
	return s
}

// indexFold is strings.Index for an ASCII substr in lower case, in any case.
func indexFold(s, substr string) int {
	for i := 0; i+len(substr) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(substr)], substr) {
			return i
		}
	}
	return -1
}
