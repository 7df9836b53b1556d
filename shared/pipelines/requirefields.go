package pipelines

import (
	"context"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/pipeline"
)

// RequireFields drops items, with the reason "missing-field", that lack one of
// the fields. A field is lacking that is not there or is null, a text of blanks
// alone, or an empty list or object; 0 and false are values.
func RequireFields(names ...string) pipeline.Step {
	return pipeline.Step{
		Name: "RequireFields",
		Process: func(_ context.Context, _ pipeline.Key, item crawl.Item) (crawl.Item, error) {
			if _, err := item.Fields(); err != nil {
				return item, err
			}
			for _, name := range names {
				if !item.Has(name) {
					return item, fmt.Errorf("field %s: %w", name, &crawl.Drop{Reason: "missing-field"})
				}
			}
			return item, nil
		},
	}
}
