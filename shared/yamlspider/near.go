package yamlspider

import (
	"fmt"
	"strings"

	"github.com/skitterhq/skitter/shared/spelling"
)

// unknown says that a name is none of those there are, and which was meant; if
// nobody can tell, which there are.
func unknown(what, name string, there []string) string {
	text := fmt.Sprintf("there is no %s %q", what, shorten(name))
	near := spelling.Nearest(name, there)
	switch {
	case near != "":
		return text + fmt.Sprintf("; did you mean %q?", near)
	case len(there) == 0:
		return text + ", and no other"
	}
	return text + "; there are " + strings.Join(there, ", ")
}
