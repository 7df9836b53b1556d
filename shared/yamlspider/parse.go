package yamlspider

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

const (
	// MaxSize is the longest text that is read, in bytes. It is also what an
	// event may carry at most: 256 KB. Source: Amazon EventBridge User Guide,
	// "Quotas".
	MaxSize = 256 << 10

	// maxDepth is how deep a file may nest; spiders need a tenth of it.
	maxDepth = 64

	// maxValues is how many values a file may have, those of an alias counted
	// each time.
	maxValues = 20_000
)

// parse reads the one document of a text. It returns nil if it cannot, with the
// mistake in the report.
func parse(text []byte, r *report) *yaml.Node {
	if len(text) > MaxSize {
		r.add(0, 0, "it has %d bytes, more than the %d that a spider may have", len(text), MaxSize)
		return nil
	}
	if line, column, ok := notText(text); !ok {
		r.add(line, column, "it is no text in UTF-8")
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text), yaml.WithV4Defaults(),
		yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth), loaderlimits.AliasNone())))
	if err != nil {
		r.add(0, 0, "%v", err)
		return nil
	}
	var doc, next yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		r.add(0, 0, "it is empty: a spider has a name, start_urls and legs")
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	}
	switch err := loader.Load(&next); {
	case err == nil:
		r.add(max(1, next.Line), max(1, next.Column), "a second YAML document: a file has one spider")
		return nil
	case !errors.Is(err, io.EOF):
		r.syntax(err)
		return nil
	}
	return doc.Content[0]
}

// syntax reports that a text is no YAML.
func (r *report) syntax(err error) {
	var at *yaml.LoadError
	if !errors.As(err, &at) {
		r.add(0, 0, "it is no YAML: %v", err)
		return
	}
	line, column := at.Mark.Line, at.Mark.Column
	if line == 0 {
		line, column = at.ContextMark.Line, at.ContextMark.Column
	}
	problem := at.Message
	if at.ContextMsg != "" {
		problem = at.ContextMsg + ": " + problem
	}
	r.add(line, max(1, column), "it is no YAML: %s%s", problem, r.advice(problem, line))
}

// advice says what is right in place of what people write most often.
func (r *report) advice(problem string, line int) string {
	var text string
	if line > 0 && line <= len(r.lines) {
		text = r.lines[line-1]
	}
	switch {
	case strings.Contains(problem, "unknown escape character"):
		return `; in double quotes a backslash begins an escape: write regular expressions in single quotes, as in '/p/\d+'`
	case !strings.Contains(problem, "cannot start any token"):
		return ""
	case strings.Contains(text[:len(text)-len(strings.TrimLeft(text, " \t"))], "\t"):
		return "; it is a tab: YAML is indented with spaces"
	}
	return "; put a text that begins with @, ` or % into quotes"
}

// notText finds the first byte that is no UTF-8, or is a control character that
// YAML does not have.
func notText(text []byte) (line, column int, ok bool) {
	line, column = 1, 1
	for len(text) > 0 {
		c, n := utf8.DecodeRune(text)
		switch {
		case c == utf8.RuneError && n == 1, c < ' ' && c != '\t' && c != '\n' && c != '\r', c == 0x7f:
			return line, column, false
		case c == '\n':
			line, column = line+1, 0
		}
		column++
		text = text[n:]
	}
	return 0, 0, true
}
