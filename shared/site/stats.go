package site

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Stats are the figures since the site was made or reset. Requests for /stats
// are in none of them.
type Stats struct {
	Pages            int `json:"pages"`             // products there are
	Hits             int `json:"hits"`              // requests
	ProductHits      int `json:"product_hits"`      // GET and HEAD requests for a product, failed ones too
	DistinctProducts int `json:"distinct_products"` // products whose page was sent at least once
	ForbiddenHits    int `json:"forbidden_hits"`    // requests for what robots.txt forbids

	// MaxInFlight is, by host, the most requests that were being served at
	// one time. After 10,000 hosts the others are counted together as "*".
	MaxInFlight map[string]int `json:"max_in_flight"`

	// Statuses counts answers by status. Those under 0 never came about, as
	// the client went away.
	Statuses map[int]int `json:"statuses"`
}

// Stats returns the figures up to now.
func (s *Site) Stats() Stats { return s.visits.stats() }

// Reset empties the log, sets the figures to zero and forgets who has failed
// already, as if the site were new. It returns the figures up to then. Requests
// being served stay in flight and count no further.
func (s *Site) Reset() Stats { return s.visits.reset() }

// serveStats answers with the figures as JSON. POST /stats?reset=1 resets them
// and answers with those up to then.
func (s *Site) serveStats(w http.ResponseWriter, r *http.Request) {
	reset := r.URL.Query().Get("reset")
	var st Stats
	switch {
	case reset == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		st = s.Stats()
	case reset == "1" && r.Method == http.MethodPost:
		st = s.Reset()
	default:
		http.Error(w, "want GET /stats or POST /stats?reset=1", http.StatusBadRequest)
		return
	}
	body, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, "%s\n", body)
}
