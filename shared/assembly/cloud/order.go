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
		u, err := weburl.Parse(text)
		if err != nil {
			return fmt.Errorf("start URL: %w", err)
		}
		if s := u.Scheme(); s != "http" && s != "https" {
			return fmt.Errorf("start URL of scheme %s: nothing fetches it; give one of http or https", s)
		}
	}
	for _, feed := range o.Spec.Feeds {
		if _, _, err := bucketKey(feed); err != nil {
			return err
		}
	}
	return nil
}
