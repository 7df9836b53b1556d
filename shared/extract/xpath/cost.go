package xpath

import "fmt"

// maxSteps bounds what one evaluation does, so that an expression of quadratic
// cost, or one on a page that is made for it, ends within about a second.
const maxSteps = 10_000_000

// StepsAtNodes are the steps that an expression may take at many nodes, one
// after the other.
const StepsAtNodes = 100_000_000

// What costs how many steps; a step is a node that is looked at, and takes 5 to
// 50 ns.
const (
	bytesPerStep       = 16 // of a text that is put together or searched
	regexpBytesPerStep = 2
	climbsPerStep      = 8
	mapSteps           = 8 // for what is kept in a map
	predicateSteps     = 4 // for each node that a predicate is asked of
)

// spend counts steps, and reports whether to go on.
func (ev *evaluation) spend(steps int) bool {
	if ev.left -= steps; ev.left < 0 && ev.err == nil {
		ev.err = fmt.Errorf("it takes more than %d steps on this page (a node that is looked at is one, %d bytes of text are another)",
			maxSteps, bytesPerStep)
	}
	return ev.err == nil
}

// visit counts a node that is looked at, and reports whether to go on.
func (ev *evaluation) visit() bool { return ev.spend(1) }

// text is a node's text, "" where that takes too many steps.
func (ev *evaluation) text(n Node) string {
	if !ev.visit() {
		return ""
	}
	return n.text(ev.spend)
}
