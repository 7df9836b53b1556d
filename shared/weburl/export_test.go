package weburl

// The two ways of parsing, for tests that compare them.
var (
	Web      = web
	Standard = standard
	Indexed  = indexed
)

// CanonicalInFull is Canonical without its shortcut for what is canonical
// already.
func CanonicalInFull(u URL) string {
	if u.isOpaque() {
		return canonicalOpaque(u, false)
	}
	out := []byte(u.text[:u.path])
	out = appendCanonicalPath(out, u)
	return string(appendCanonicalQuery(out, u.Query()))
}
