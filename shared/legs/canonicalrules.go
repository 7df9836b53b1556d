package legs

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/weburl"
)

// A CanonicalRule is a rule of [Canonicalize].
type CanonicalRule struct {
	// Name is how the rule is named in options.
	Name string

	// Doc says what the rule does, in one sentence.
	Doc string
}

// CanonicalRules lists the rules there are.
func CanonicalRules() []CanonicalRule {
	list := make([]CanonicalRule, len(canonicalRules()))
	for i, r := range canonicalRules() {
		list[i] = r.CanonicalRule
	}
	return list
}

func ruleNames() []string {
	names := make([]string, len(canonicalRules()))
	for i, r := range canonicalRules() {
		names[i] = r.Name
	}
	return names
}

type canonicalRule struct {
	CanonicalRule
	apply func(*address)
}

func canonicalRules() []canonicalRule {
	rule := func(name, doc string, apply func(*address)) canonicalRule {
		return canonicalRule{CanonicalRule{name, doc}, apply}
	}
	return []canonicalRule{
		rule("canonical", "The form that the dupefilter compares (w3lib's canonicalize_url): arguments sorted, escapes alike, no fragment.", canonical),
		rule("sort_query", "Arguments sorted by name, then value, each as it is written.", sortQuery),
		rule("normalize_escapes", "Escapes in upper case, and none for letters, digits and -._~ in path and query.", normalizeEscapes),
		rule("drop_fragment", "No fragment (#…).", func(a *address) { a.fragment = new(string) }),
		rule("drop_query", "No query (?…).", func(a *address) { a.setQuery("") }),
		rule("drop_empty_params", "No arguments without a value.", dropEmptyParams),
		rule("drop_repeated_params", "Of arguments that are the same, name and value, the first.", dropRepeatedParams),
		rule("drop_tracking_params", "No arguments of advertising and newsletters: utm_*, gclid, fbclid, msclkid, mc_eid and their like.", dropTracking),
		rule("drop_session_ids", "No session IDs: ;jsessionid=… in the path, and arguments such as PHPSESSID and sid.", dropSessionIDs),
		rule("drop_user", "No name and password before the host.", func(a *address) { a.noUser = true }),
		rule("drop_www", "No www. before the host.", dropWWW),
		rule("https", "https in place of http, where no port is given.", forceHTTPS),
		rule("lower_path", "The path in lower case, for servers that make no difference.", func(a *address) { a.setPath(lowerPath(a.u.Path())) }),
		rule("collapse_slashes", "One slash in the path where there are several.", func(a *address) { a.setPath(slashes.ReplaceAllString(a.u.Path(), "/")) }),
		rule("drop_index", "No index.html, index.php, default.aspx and their like at the end of the path.", func(a *address) { a.setPath(index.ReplaceAllString(a.u.Path(), "/")) }),
		rule("add_trailing_slash", "A slash at the end of the path, unless that is the name of a file.", addSlash),
		rule("drop_trailing_slash", "No slash at the end of the path, that of the root excepted.", dropSlash),
	}
}

var (
	slashes = regexp.MustCompile(`/{2,}`)
	index   = regexp.MustCompile(`(?i)/(index|default)\.(html?|php\d?|aspx?|jsp|cgi)$`)
	session = regexp.MustCompile(`(?i);jsessionid=[^/;]*`)
	escape  = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
)

func canonical(a *address) { a.whole = weburl.Canonical(a.u) }

func sortQuery(a *address) {
	pairs := strings.FieldsFunc(a.u.Query(), func(r rune) bool { return r == '&' })
	slices.SortStableFunc(pairs, func(a, b string) int {
		nameA, valueA, _ := strings.Cut(a, "=")
		nameB, valueB, _ := strings.Cut(b, "=")
		if c := strings.Compare(unescaped(nameA), unescaped(nameB)); c != 0 {
			return c
		}
		return strings.Compare(unescaped(valueA), unescaped(valueB))
	})
	a.setQuery(strings.Join(pairs, "&"))
}

func normalizeEscapes(a *address) {
	a.setPath(escape.ReplaceAllStringFunc(a.u.Path(), normalEscape))
	a.setQuery(escape.ReplaceAllStringFunc(a.u.Query(), normalEscape))
}

// normalEscape decodes an escape of an unreserved character (RFC 3986, 2.3).
func normalEscape(text string) string {
	decoded, err := url.PathUnescape(text)
	if err != nil || len(decoded) != 1 || !isUnreserved(decoded[0]) {
		return strings.ToUpper(text)
	}
	return decoded
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func dropEmptyParams(a *address) {
	a.filter(func(pair string) bool {
		_, value, _ := strings.Cut(pair, "=")
		return value != ""
	})
}

func dropRepeatedParams(a *address) {
	seen := make(map[string]bool)
	a.filter(func(pair string) bool {
		key := unescaped(pair)
		repeated := seen[key]
		seen[key] = true
		return !repeated
	})
}

// isTracking knows the arguments by which advertising and newsletters follow
// people, and which change nothing on the page.
func isTracking(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "utm_") || slices.Contains([]string{
		"gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "ttclid", "twclid", "igshid",
		"mc_cid", "mc_eid", "_hsenc", "_hsmi", "mkt_tok", "vero_id", "_openstat", "_ga", "_gl",
	}, name)
}

func dropTracking(a *address) { a.params(func(name string) bool { return !isTracking(name) }) }

func isSessionID(name string) bool {
	return slices.Contains([]string{
		"phpsessid", "jsessionid", "aspsessionid", "asp.net_sessionid", "sid", "sessid", "sessionid", "session_id", "cfid", "cftoken",
	}, strings.ToLower(name))
}

func dropSessionIDs(a *address) {
	a.setPath(session.ReplaceAllString(a.u.Path(), ""))
	a.params(func(name string) bool { return !isSessionID(name) })
}

func dropWWW(a *address) {
	if host, found := strings.CutPrefix(a.u.Host(), "www."); found && strings.Contains(host, ".") {
		a.host = &host
	}
}

func forceHTTPS(a *address) {
	if a.u.Scheme() == "http" && a.u.Port() == "" {
		secure := "https"
		a.scheme = &secure
	}
}

// lowerPath leaves the escapes as they are written.
func lowerPath(p string) string {
	var b strings.Builder
	for len(p) > 0 {
		at := escape.FindStringIndex(p)
		if at == nil {
			at = []int{len(p), len(p)}
		}
		b.WriteString(strings.ToLower(p[:at[0]]) + p[at[0]:at[1]])
		p = p[at[1]:]
	}
	return b.String()
}

func addSlash(a *address) {
	if p := a.u.Path(); !strings.HasSuffix(p, "/") && !isFile(p) {
		a.setPath(p + "/")
	}
}

func dropSlash(a *address) {
	if p := strings.TrimRight(a.u.Path(), "/"); p != "" {
		a.setPath(p)
	}
}

// unescaped is the text of a part of a query, which may be escaped wrongly.
func unescaped(text string) string {
	decoded, err := url.QueryUnescape(text)
	if err != nil {
		return text
	}
	return decoded
}
