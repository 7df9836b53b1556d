package settings

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// listOf is a list of what item reads: a YAML list, a list of Go, or a text
// with commas. An empty text and null are the empty list.
func listOf[T any](want string, item kind[T]) kind[[]T] {
	return kind[[]T]{
		unit: "list",
		want: "a list of " + want + ", or a text with commas between them",
		read: func(v any) ([]T, bool) {
			if list, ok := v.([]T); ok {
				return readEach(list, item)
			}
			switch v := v.(type) {
			case nil:
				return nil, true
			case []any:
				return readEach(v, item)
			case string:
				if strings.TrimSpace(v) == "" {
					return nil, true
				}
				return readEach(strings.Split(v, ","), item)
			}
			if one, ok := item.read(v); ok { // RETRY_HTTP_CODES: 503
				return []T{one}, true
			}
			return nil, false
		},
		write: func(list []T) string {
			parts := make([]string, len(list))
			for i, t := range list {
				parts[i] = item.write(t)
			}
			return strings.Join(parts, ",")
		},
	}
}

func readEach[V, T any](values []V, item kind[T]) ([]T, bool) {
	list := make([]T, 0, len(values))
	for _, v := range values {
		t, ok := item.read(v)
		if !ok {
			return nil, false
		}
		list = append(list, t)
	}
	return list, true
}

// word is a text with no blanks at its ends, and not empty.
func word() kind[string] {
	k := text()
	read := k.read
	k.read = func(v any) (string, bool) {
		s, ok := read(v)
		s = strings.TrimSpace(s)
		return s, ok && s != ""
	}
	return k
}

// words is a list of names.
func words(want string) kind[[]string] { return listOf(want, word()) }

// lines is a list of texts that may have commas in them: a YAML list, a JSON
// one as text, or a text with one a line.
func lines(want string, item kind[string]) kind[[]string] {
	k := listOf(want, item)
	readList := k.read
	k.want = "a list of " + want + ", or a text with one a line"
	k.read = func(v any) ([]string, bool) {
		s, isText := v.(string)
		if !isText || strings.TrimSpace(s) == "" {
			return readList(v)
		}
		var list []any
		if json.Unmarshal([]byte(s), &list) != nil {
			list = nil
			for line := range strings.SplitSeq(s, "\n") {
				if line = strings.TrimSpace(line); line != "" {
					list = append(list, line)
				}
			}
		}
		return readList(list)
	}
	k.write = func(list []string) string { return strings.Join(list, "\n") }
	return k
}

// proxies is an object of schemes and proxies. Whether a proxy's URL is good is
// said where it is used.
func proxies() kind[map[string]string] {
	return kind[map[string]string]{
		unit: "object",
		want: `an object of proxies by scheme (http, https, and no for the hosts that need none), as in {"http": "http://proxy.example:3128"}`,
		hide: true, // of their passwords
		read: readProxies,
		write: func(m map[string]string) string {
			if m == nil {
				m = map[string]string{}
			}
			raw, err := json.Marshal(m)
			if err != nil { // texts always encode
				return ""
			}
			return string(raw)
		},
	}
}

func readProxies(v any) (map[string]string, bool) {
	object := make(map[string]any)
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		if strings.TrimSpace(v) == "" {
			return nil, true
		}
		if json.Unmarshal([]byte(v), &object) != nil {
			return nil, false
		}
	case map[string]any:
		object = v
	case map[string]string:
		for name, proxy := range v {
			object[name] = proxy
		}
	default:
		return nil, false
	}
	if len(object) == 0 {
		return nil, true
	}
	m := make(map[string]string, len(object))
	for name, proxy := range object {
		s, ok := proxy.(string)
		if !ok || name != "http" && name != "https" && name != "no" {
			return nil, false
		}
		m[name] = s
	}
	return m, true
}

// reasons is a list of reasons of failures. Which ones there are is not known
// here: a project's own middlewares add theirs.
func reasons() kind[[]string] {
	return listOf("reasons as in timeout, dns", word().where("", func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	}))
}

// headerNames is a list of names of headers, made canonical.
func headerNames() kind[[]string] {
	item := word().where("", isToken)
	read := item.read
	item.read = func(v any) (string, bool) {
		s, ok := read(v)
		return http.CanonicalHeaderKey(s), ok
	}
	return listOf("header names", item)
}

// statuses is a list of HTTP statuses.
func statuses() kind[[]int] {
	return listOf("HTTP statuses, 100 to 999", whole(100).where("", func(n int) bool { return n >= 100 && n <= 999 }))
}

// headers is a set of headers: a YAML or JSON object whose values are texts,
// lists of texts, or null for a header that is not sent.
func headers() kind[http.Header] {
	return kind[http.Header]{
		unit: "object",
		want: "an object of header names and texts, as in {\"Accept-Language\": \"en\"}",
		hide: true, // a header may be a password
		read: readHeaders,
		write: func(h http.Header) string {
			flat := make(map[string]any, len(h))
			for name, values := range h {
				flat[name] = values
				if len(values) == 1 {
					flat[name] = values[0]
				}
			}
			var b strings.Builder
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if enc.Encode(flat) != nil { // texts always encode
				return ""
			}
			return strings.TrimSpace(b.String())
		},
	}
}

func readHeaders(v any) (http.Header, bool) {
	h := http.Header{}
	add := func(name string, value any) bool {
		values, ok := readHeaderValues(value)
		for _, s := range values {
			h.Add(name, s)
		}
		return ok && isToken(name)
	}
	switch v := v.(type) {
	case string:
		var object map[string]any
		if json.Unmarshal([]byte(v), &object) != nil {
			return nil, false
		}
		return readHeaders(object)
	case http.Header:
		for name, values := range v {
			for _, value := range values {
				if !add(name, value) {
					return nil, false
				}
			}
		}
	case map[string]string:
		for name, value := range v {
			if !add(name, value) {
				return nil, false
			}
		}
	case map[string]any:
		for name, value := range v {
			if !add(name, value) {
				return nil, false
			}
		}
	default:
		return nil, v == nil
	}
	return h, true
}

func readHeaderValues(v any) ([]string, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, isHeaderValue(v)
	case []any:
		var values []string
		for _, one := range v {
			s, ok := one.(string)
			if !ok || !isHeaderValue(s) {
				return nil, false
			}
			values = append(values, s)
		}
		return values, true
	case bool, int, int64, uint64, float64: // DNT: 1
		return []string{fmt.Sprint(v)}, true
	}
	return nil, false
}

// isToken reports whether s can name a header. Source: RFC 9110, section
// 5.6.2.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' ||
			strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// switches is a set of names that are on or off: a YAML or JSON object whose
// values are true or false, or null for false.
func switches() kind[map[string]bool] {
	k := kind[map[string]bool]{
		unit: "object",
		want: `an object of names and true or false, as in {"s3": false}`,
		write: func(m map[string]bool) string {
			if len(m) == 0 {
				return "{}"
			}
			b, _ := json.Marshal(m) // names and truths always encode
			return string(b)
		},
	}
	k.read = func(v any) (map[string]bool, bool) {
		object, ok := v.(map[string]any)
		switch v := v.(type) {
		case nil:
			return nil, true
		case map[string]bool:
			return v, true
		case string:
			ok = json.Unmarshal([]byte(v), &object) == nil
		}
		m := make(map[string]bool, len(object))
		for name, value := range object {
			on, isBool := value.(bool)
			if !isBool && value != nil || name == "" {
				return nil, false
			}
			m[name] = on
		}
		return m, ok
	}
	return k
}

// quoted shows a value in an error, cut to what fits on a line.
func quoted(v any) string {
	const longest = 80
	s := fmt.Sprint(v)
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "…"
	}
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(s)
	}
	return s
}
