package site

// AppendProduct appends the page of product n, as the site sends it.
func (s *Site) AppendProduct(b []byte, n int) []byte { return s.shop.appendProduct(b, n) }

// LimitLog makes the log hold less, before the first request.
func (s *Site) LimitLog(limit int) { s.visits.log.limit = limit }

const (
	MaxHosts = maxHosts
	MaxIDs   = maxIDs
)
