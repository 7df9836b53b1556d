package legs

import "strings"

// linkHeader returns the target of the first link of a relation in Link headers
// (RFC 8288), "" if there is none.
func linkHeader(headers []string, relation string) string {
	for _, h := range headers {
		for h != "" {
			var target string
			_, rest, found := strings.Cut(h, "<")
			if !found {
				break
			}
			if target, rest, found = strings.Cut(rest, ">"); !found {
				break
			}
			var params string
			params, h = cutOutsideQuotes(rest, ',')
			if relationOf(params, relation) {
				return strings.TrimSpace(target)
			}
		}
	}
	return ""
}

// relationOf reports whether a link's parameters give it a relation. Only the
// first rel counts; it may have several words.
func relationOf(params, relation string) bool {
	for params != "" {
		var param string
		param, params = cutOutsideQuotes(params, ';')
		name, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		for _, word := range strings.Fields(strings.Trim(strings.TrimSpace(value), `"`)) {
			if strings.EqualFold(word, relation) {
				return true
			}
		}
		return false
	}
	return false
}

// cutOutsideQuotes cuts at the first sign that stands in no quoted string.
func cutOutsideQuotes(text string, sign byte) (before, after string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == sign && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}
