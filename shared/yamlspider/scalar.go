package yamlspider

import (
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

func integer(n *yaml.Node) (int64, bool) {
	digits := strings.TrimLeft(n.Value, "+-")
	if n.ShortTag() != "!!int" || len(digits) > 1 && digits[0] == '0' {
		return 0, false // 010 is eight to some readers, and ten to others
	}
	i, err := strconv.ParseInt(n.Value, 10, 64)
	return i, err == nil
}

func number(n *yaml.Node) (float64, bool) {
	if i, ok := integer(n); ok {
		return float64(i), true
	}
	f, err := strconv.ParseFloat(n.Value, 64)
	return f, err == nil && n.ShortTag() == "!!float" && !math.IsInf(f, 0) && !math.IsNaN(f)
}

func isNull(n *yaml.Node) bool { return n.ShortTag() == "!!null" && n.Kind == yaml.ScalarNode }

// isText reports whether a scalar is a text to JSON, which has no dates.
func isText(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	switch n.ShortTag() {
	case "!!str", "!!timestamp", "!!merge":
		return true
	}
	return false
}

// describe says what a node is.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "nothing"
	case isText(n):
		return "the text " + strconv.Quote(shorten(n.Value))
	}
	return shorten(n.Value)
}

// shorten keeps an error to a line.
func shorten(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
