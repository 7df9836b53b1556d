package assembly

import (
	"context"
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// Check fetches the page of a contract as a job would, hands it to the spider,
// and says what does not hold: one error each.
func (s *Single) Check(ctx context.Context, c *spider.Contract) []error {
	due, err := s.Start(ctx, c.Request())
	if err != nil {
		return []error{err}
	}
	resp, err := s.Fetch(ctx, due[0])
	if err != nil {
		return []error{err}
	}
	page := s.Page(resp)
	v := s.Read(ctx, page)
	var closes *crawl.CloseSpider
	switch {
	case v.Ignored:
		return []error{fmt.Errorf("the page answers with status %d, which the spider does not see", resp.Status)}
	case v.Err != nil && !errors.As(v.Err, &closes):
		return []error{v.Err}
	}
	return c.Verify(page, v.Items, v.Requests)
}
