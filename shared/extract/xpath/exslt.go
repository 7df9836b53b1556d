package xpath

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// hasClass is Scrapy's has-class: the node has all of the classes.
func hasClass(f *focus, c *call) bool {
	if f.node.attr != 0 {
		return false
	}
	i := slices.IndexFunc(f.node.Tree.Attr, func(a html.Attribute) bool { return a.Key == "class" && a.Namespace == "" })
	if i < 0 {
		return false
	}
	value := f.node.Tree.Attr[i].Val
	if !f.ev.spend(mapSteps + len(value)/bytesPerStep*4) {
		return false
	}
	classes := strings.FieldsFunc(value, func(r rune) bool { return isBlank(r) || r == '\f' })
	for k := range c.args {
		if !slices.Contains(classes, c.str(f, k)) {
			return false
		}
	}
	return true
}

// compileRegexp compiles a pattern with the flags of EXSLT, of which g says
// nothing about the pattern.
func compileRegexp(pattern, flags string) (*regexp.Regexp, error) {
	var own []byte
	for i := range len(flags) {
		switch flag := flags[i]; flag {
		case 'g':
		case 'i', 's', 'm':
			own = append(own, flag)
		default:
			return nil, fmt.Errorf("unknown flag %q of a regular expression: i, g, m and s are known", flag)
		}
	}
	if len(own) > 0 {
		pattern = "(?" + string(own) + ")" + pattern
	}
	return regexp.Compile(pattern)
}

// pattern returns the regular expression of a call and whether it has the flag
// g; nil if there is something wrong with it.
func (c *call) pattern(f *focus) (re *regexp.Regexp, global bool) {
	flags := ""
	if i := c.function.flags - 1; i >= 0 && i < len(c.args) {
		flags = c.str(f, i)
	}
	global = strings.Contains(flags, "g")
	if c.regexp != nil {
		return c.regexp, global
	}
	re, err := compileRegexp(c.str(f, c.function.pattern-1), flags)
	if err != nil {
		f.ev.fail("%s(): %w", c.name, err)
	}
	return re, global
}

func reTest(f *focus, c *call) Value {
	re, _ := c.pattern(f)
	return re != nil && re.MatchString(c.slowly(f, 0, regexpBytesPerStep))
}

// reMatch gives elements named match: of the first match the whole and each
// group, or with the flag g each match.
func reMatch(f *focus, c *call) Value {
	re, global := c.pattern(f)
	if re == nil {
		return NodeSet(nil)
	}
	var texts []string
	if s := c.slowly(f, 0, regexpBytesPerStep); global {
		for _, m := range re.FindAllStringSubmatch(s, -1) {
			if !f.ev.spend(mapSteps) {
				return NodeSet(nil)
			}
			if len(m) > 1 {
				m = []string{strings.Join(m[1:], "")}
			}
			texts = append(texts, m[0])
		}
	} else {
		texts = re.FindStringSubmatch(s)
	}
	var found NodeSet
	matches := &html.Node{Type: html.ElementNode, Data: "matches"}
	for _, text := range texts {
		n := &html.Node{Type: html.ElementNode, Data: "match"}
		n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
		matches.AppendChild(n)
		found = append(found, At(n))
	}
	return found
}

// group references of Python, which Scrapy's users write.
var backReference = regexp.MustCompile(`\\(?:g<(\w+)>|(\d+))`)

func reReplace(f *focus, c *call) Value {
	re, global := c.pattern(f)
	if re == nil {
		return ""
	}
	s := c.slowly(f, 0, regexpBytesPerStep)
	template := strings.ReplaceAll(c.str(f, 3), "$", "$$")
	references := strings.Count(template, `\`)
	template = backReference.ReplaceAllString(template, "$${$1$2}")
	most := 1
	if global {
		most = -1
	}
	var replaced []byte
	end := 0
	for _, at := range re.FindAllStringSubmatchIndex(s, most) {
		if !f.ev.spend(mapSteps + (len(template)+references*(at[1]-at[0]))/bytesPerStep) {
			return ""
		}
		replaced = append(replaced, s[end:at[0]]...)
		replaced = re.ExpandString(replaced, template, s, at)
		end = at[1]
	}
	return string(append(replaced, s[end:]...))
}

func (ev *evaluation) members(set NodeSet) map[Node]bool {
	if !ev.spend(mapSteps * len(set)) {
		return nil
	}
	m := make(map[Node]bool, len(set))
	for _, n := range set {
		m[n] = true
	}
	return m
}

func (c *call) sets(f *focus) (a, b NodeSet) { return f.nodes(c.args[0]), f.nodes(c.args[1]) }

func setDifference(f *focus, c *call) Value {
	a, b := c.sets(f)
	in := f.ev.members(b)
	f.ev.spend(mapSteps * len(a))
	return keep(a, func(n Node) bool { return !in[n] })
}

func setIntersection(f *focus, c *call) Value {
	a, b := c.sets(f)
	in := f.ev.members(b)
	f.ev.spend(mapSteps * len(a))
	return keep(a, func(n Node) bool { return in[n] })
}

func setHasSameNode(f *focus, c *call) Value {
	a, b := c.sets(f)
	in := f.ev.members(b)
	f.ev.spend(mapSteps * len(a))
	return slices.ContainsFunc(a, func(n Node) bool { return in[n] })
}

// setDistinct keeps the first node of each text.
func setDistinct(f *focus, c *call) Value {
	seen := make(map[string]bool)
	return keep(f.nodes(c.args[0]), func(n Node) bool {
		text := f.ev.text(n)
		if !f.ev.spend(mapSteps + len(text)/bytesPerStep) {
			return false
		}
		first := !seen[text]
		seen[text] = true
		return first
	})
}

// setLeading keeps what comes before the first node of the second set: all if
// that set is empty, nothing if the node is not in the first.
func setLeading(f *focus, c *call) Value {
	a, b := c.sets(f)
	if len(b) == 0 {
		return a
	}
	f.ev.spend(len(a))
	return a[:max(slices.Index(a, b[0]), 0)]
}

// setTrailing is setLeading for what comes after that node.
func setTrailing(f *focus, c *call) Value {
	a, b := c.sets(f)
	if len(b) == 0 {
		return a
	}
	f.ev.spend(len(a))
	i := slices.Index(a, b[0])
	if i < 0 {
		return NodeSet(nil)
	}
	return a[i+1:]
}

func keep(set NodeSet, wanted func(Node) bool) NodeSet {
	var kept NodeSet
	for _, n := range set {
		if wanted(n) {
			kept = append(kept, n)
		}
	}
	return kept
}
