package cloud

import (
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/weburl"
)

// checkOrder says what of an order the stack cannot do.
func (c *Cloud) checkOrder(o engine.Order) error {
	if o.Project != c.Project.Name {
		return fmt.Errorf("project %q: this stack's is %q", o.Project, c.Project.Name)
	}
	if o.Name != "" { // else it gets one
		if err := crawl.CheckJobName(o.Name); err != nil {
			return fmt.Errorf("job name is invalid: %w", err)
		}
	}
	for _, text := range o.Spec.StartURLs {
		if err := c.checkStartURL(text); err != nil {
			return fmt.Errorf("start URL: %w", err)
		}
	}
	for _, feed := range o.Spec.Feeds {
		if _, _, err := bucketKey(feed); err != nil {
			return err
		}
	}
	return nil
}

// checkStartURL refuses what no function fetches. With handlers of the project's
// own, what they fetch is found when the job is built.
func (c *Cloud) checkStartURL(text string) error {
	u, err := weburl.Parse(text)
	if err != nil {
		return err
	}
	switch s := u.Scheme(); {
	case s == "http" || s == "https" || s == "data" || s == "s3", c.Project.Handlers != nil:
		return nil
	default:
		return fmt.Errorf("url %q: nothing here fetches %s URLs; a stack fetches data, http, https and s3", s+":…", s)
	}
}
