package extract

import "fmt"

const (
	// maxJSONMemory is about what a JSON text may take that JMESPath and
	// JSONPath read.
	maxJSONMemory = 200 << 20

	// An object is a map, which takes the first at least, and any value the second
	// with its name. Both are measured, with what reading leaves to the collector.
	objectMemory = 400
	valueMemory  = 96

	// maxJSONNesting is how deep it may nest, as deep as HTML that is read whole:
	// a selection of all levels has the innermost value as often.
	maxJSONNesting = 512

	// maxJSONResults is how many values a JSONPath may find, and maxJSONVisits how
	// many it may look at.
	maxJSONResults = 1_000_000
	maxJSONVisits  = 10_000_000
)

// checkJSONSize refuses a text whose values would fill the memory, before any of
// them is made. It takes a hundredth of the time of reading them, and leaves what
// is no JSON to the reader.
func checkJSONSize(text []byte) error {
	memory, depth := len(text), 0
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			memory += objectMemory
			depth++
		case c == '[':
			memory += valueMemory
			depth++
		case c == ',':
			memory += valueMemory
		case c == '}' || c == ']':
			depth--
		}
		if memory > maxJSONMemory {
			return fmt.Errorf("its values would take more than %d MiB of memory; Page.JSON decodes it into types of your own", maxJSONMemory>>20)
		}
		if depth > maxJSONNesting {
			return fmt.Errorf("it nests deeper than %d", maxJSONNesting)
		}
	}
	return nil
}
