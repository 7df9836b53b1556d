package robots

// An Availability says how a robots.txt answered, which decides what a crawler
// may do and when it asks again.
type Availability int

const (
	// Unreachable means that the server failed, or gave no answer. Nothing may be
	// fetched, and the file is to be asked for again. It is the zero value: what
	// is not known forbids.
	Unreachable Availability = iota

	// Unavailable means that the server has no such file, or keeps it from us. Everything
	// may be fetched.
	Unavailable

	// Available means that the file is there, and its rules hold.
	Available
)

// String returns the name in lower case, as logs and stats have it.
func (a Availability) String() string {
	switch a {
	case Available:
		return "available"
	case Unavailable:
		return "unavailable"
	}
	return "unreachable"
}

// ForStatus returns the rules that follow from the last answer to the request
// for a robots.txt: its status, and its body decoded. Status 0 stands for no
// answer. The rules say the same as the availability: those of an unreachable
// file allow nothing.
func ForStatus(status int, body []byte) (*Rules, Availability) {
	switch {
	case 200 <= status && status < 300:
		// RFC 9309, 2.3.1.1: "If the crawler successfully downloads the
		// robots.txt file, the crawler MUST follow the parseable rules."
		return Parse(body), Available
	case status == 429:
		// Too many requests: the server is there and cannot serve us now, as
		// with 503. RFC 9309 does not name it.
		return DisallowAll(), Unreachable
	case 300 <= status && status < 400:
		// RFC 9309, 2.3.1.2: "If there are more than five consecutive
		// redirects, crawlers MAY assume that the robots.txt file is
		// unavailable."
		return AllowAll(), Unavailable
	case 400 <= status && status < 500:
		// RFC 9309, 2.3.1.3: "If a server status code indicates that the
		// robots.txt file is unavailable to the crawler, then the crawler MAY
		// access any resources on the server."
		return AllowAll(), Unavailable
	}
	// RFC 9309, 2.3.1.4: "If the robots.txt file is unreachable due to server or
	// network errors, this means the robots.txt file is undefined and the
	// crawler MUST assume complete disallow."
	return DisallowAll(), Unreachable
}
