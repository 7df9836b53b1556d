package cloud

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/weburl"
)

// maxName is the longest name of a job in bytes: with its project it fits every
// key of the stores, the shortest of which is DynamoDB's sort key of 1,024
// bytes. Source: Amazon DynamoDB Developer Guide, "Quotas".
const maxName = 200

// checkOrder says what of an order the stack cannot do.
func (c *Cloud) checkOrder(o engine.Order) error {
	if o.Project != c.Project.Name {
		return fmt.Errorf("project %q: this stack's is %q", o.Project, c.Project.Name)
	}
	if len(o.Name) > maxName {
		return fmt.Errorf("job of %d bytes: its name has at most %d", len(o.Name), maxName)
	}
	if o.Name == "." || o.Name == ".." || strings.ContainsAny(o.Name, `/\`) || strings.ContainsFunc(o.Name, unicode.IsControl) {
		return fmt.Errorf("job %q: its name has slashes or control characters, or is a folder's", o.Name)
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
