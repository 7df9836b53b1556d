package spidermw

import (
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// requests passes results on, save the requests that keep refuses.
func requests(r spider.Results, keep func(*crawl.Request) bool) spider.Results {
	return func(yield func(crawl.Result, error) bool) {
		for res, err := range r {
			if err == nil && res.Request != nil && !keep(res.Request) {
				continue
			}
			if !yield(res, err) {
				return
			}
		}
	}
}
