package cloud

import (
	"fmt"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
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
		if _, err := assembly.PageURL(text); err != nil {
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
