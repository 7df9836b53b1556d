package crawl

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/skitterhq/skitter/shared/weburl"
)

// hidden stands for what is secret.
const hidden = "…"

// Redacted returns a copy of the request for people to see. Its names stand,
// and what may be a secret does not: the values of cookies and jars,
// credentials in headers, the user and password of URLs, and those fields of a
// form or of JSON whose name says so ([SecretName]).
func (r *Request) Redacted() *Request {
	c := r.Clone()
	c.URL = weburl.Redact(c.URL)
	c.Headers = RedactedHeaders(c.Headers)
	c.Body = redactedBody(c.Body, c.Headers.Get("Content-Type"))
	for k := range c.Cookies {
		c.Cookies[k].Value = hidden
	}
	for k, url := range c.RedirectURLs {
		c.RedirectURLs[k] = weburl.Redact(url)
	}
	for _, secret := range []*string{&c.Jars, &c.HTTPUser, &c.HTTPPass} {
		if *secret != "" {
			*secret = hidden
		}
	}
	if c.Proxy != "" && c.Proxy != NoProxy {
		c.Proxy = weburl.Redact(c.Proxy)
	}
	return c
}

// RedactedHeaders returns a copy of headers for people to see: of cookies the
// names alone, of credentials the scheme alone, and no user in a URL. Other
// headers whose name says that they are secret ([SecretName]) are hidden.
func RedactedHeaders(h http.Header) http.Header {
	c := h.Clone()
	for name, values := range c {
		for k, value := range values {
			values[k] = redactedHeader(name, value)
		}
	}
	return c
}

func redactedHeader(name, value string) string {
	switch http.CanonicalHeaderKey(name) {
	case "Authorization", "Proxy-Authorization":
		if scheme, _, found := strings.Cut(value, " "); found {
			return scheme + " " + hidden
		}
		return hidden
	case "Cookie":
		pairs := strings.Split(value, ";")
		for k, pair := range pairs {
			pairs[k] = redactedPair(pair)
		}
		return strings.Join(pairs, ";")
	case "Set-Cookie", "Set-Cookie2":
		pair, attributes, found := strings.Cut(value, ";")
		if found {
			return redactedPair(pair) + ";" + attributes
		}
		return redactedPair(pair)
	case "Referer", "Location", "Content-Location", "Origin":
		if strings.Contains(value, "@") {
			return weburl.Redact(value)
		}
		return value
	}
	if SecretName(name) {
		return hidden
	}
	return value
}

// redactedPair keeps the name of NAME=VALUE; a cookie without a name is a value.
func redactedPair(pair string) string {
	if name, _, found := strings.Cut(pair, "="); found {
		return name + "=" + hidden
	}
	return hidden
}

// secretWords are what the names of secrets have in them.
var secretWords = []string{
	"password", "passwd", "passphrase", "secret", "token", "credential", "apikey", "accesskey", "privatekey",
	"signature", "sessid", "sessionid", "csrf", "xsrf", "authenticity",
}

// secretParts are names, and parts of names, of secrets that are too short to be
// looked for inside of words.
var secretParts = []string{"pass", "pwd", "pin", "otp", "sid", "auth", "key"}

// SecretName reports whether a field, header or setting of that name probably
// holds a secret: it is called password, token, api_key, or the like.
func SecretName(name string) bool {
	name = strings.ToLower(name)
	plain := strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(name)
	if slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(plain, word) }) {
		return true
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(secretParts, part) })
}

var (
	formField = regexp.MustCompile(`([^&=]+)=([^&]*)`)
	jsonField = regexp.MustCompile(`("(?:[^"\\]|\\.)*")(\s*:\s*)("(?:[^"\\]|\\.)*"|[0-9.eE+-]+)`)
	partField = regexp.MustCompile(`(?is)(\r\nContent-Disposition:[^\r\n]*?\bname="([^"\r\n]*)"[^\r\n]*(?:\r\n[^\r\n]+)*\r\n\r\n)(.*?)(\r\n--)`)
)

// redactedBody hides the fields of forms and of JSON that are secret by their
// names.
func redactedBody(body []byte, contentType string) []byte {
	contentType = strings.ToLower(contentType)
	switch {
	case strings.Contains(contentType, "x-www-form-urlencoded"):
		return redacted(body, formField, 1, func(m []string) string { return m[1] + "=" + hidden })
	case strings.Contains(contentType, "json"):
		return redacted(body, jsonField, 1, func(m []string) string { return m[1] + m[2] + strconv.Quote(hidden) })
	case strings.Contains(contentType, "multipart/form-data"):
		return redacted(append([]byte("\r\n"), body...), partField, 2, func(m []string) string { return m[1] + hidden + m[4] })[2:]
	}
	return body
}

// redacted replaces those matches whose name, the group of that number, is a
// secret's.
func redacted(body []byte, field *regexp.Regexp, name int, with func(groups []string) string) []byte {
	return field.ReplaceAllFunc(body, func(match []byte) []byte {
		groups := field.FindStringSubmatch(string(match))
		if !SecretName(groups[name]) {
			return match
		}
		return []byte(with(groups))
	})
}
