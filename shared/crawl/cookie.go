package crawl

// A Cookie is one that a spider gives to a request. Its JSON names are those of
// Scrapy's Request.cookies.
type Cookie struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	// Domain is the domain it goes to, with those below. Empty means the
	// host of the request alone.
	Domain string `json:"domain,omitempty"`
	// Path is the path that it goes to, with those below. Empty means "/".
	Path string `json:"path,omitempty"`
	// Secure keeps it from plain http. Where it is not set, that of a request
	// over https is.
	Secure *bool `json:"secure,omitempty"`
}
