package spidermw_test

import (
	"fmt"
	"log/slog"

	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spidermw"
	"github.com/skitterhq/skitter/shared/stats"
)

// The list of a new project, from the engine to the spider.
func Example() {
	s, err := settings.Resolve()
	if err != nil {
		fmt.Println(err)
		return
	}
	st, log := new(stats.Collector), slog.Default()
	for _, mw := range []spider.Middleware{
		spidermw.Start(),
		spidermw.HTTPError(s, st, log),
		spidermw.Referer(s, log),
		spidermw.Cookies(s),
		spidermw.URLLength(s, st, log),
		spidermw.Depth(s, st, log),
	} {
		fmt.Println(mw.Name)
	}
	// Output:
	// Start
	// HTTPError
	// Referer
	// Cookies
	// URLLength
	// Depth
}
