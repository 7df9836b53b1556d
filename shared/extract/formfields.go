package extract

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A formField is one name and value that a form sends.
type formField struct {
	name, value string
	file        bool // of an input for a file, of which none is chosen
}

// fieldsOf returns what the controls of a form send by themselves, without a
// button. Source: HTML Standard, "Constructing the entry list".
func fieldsOf(controls []*html.Node, encoding string, replaced map[string][]string) (fields []formField) {
	for _, n := range controls {
		name, _ := attribute(n, "name")
		if _, given := replaced[name]; name == "" || given || isDisabled(n) || above(n, atom.Datalist) != nil {
			continue
		}
		switch n.DataAtom {
		case atom.Select:
			for _, v := range chosen(n) {
				fields = append(fields, formField{name: name, value: v})
			}
		case atom.Textarea:
			fields = append(fields, formField{name: name, value: content(n)})
		case atom.Input:
			if f, sent := inputField(n, name, encoding); sent {
				fields = append(fields, f)
			}
		}
	}
	for i := range fields {
		fields[i].value = withLineEnds(fields[i].value)
	}
	return fields
}

func inputField(n *html.Node, name, encoding string) (formField, bool) {
	value, hasValue := attribute(n, "value")
	switch kind := controlType(n); kind {
	case "submit", "image", "reset", "button":
		return formField{}, false
	case "checkbox", "radio":
		if !hasValue {
			value = "on"
		}
		_, checked := attribute(n, "checked")
		return formField{name: name, value: value}, checked
	case "file":
		return formField{name: name, file: true}, true
	case "hidden":
		if strings.EqualFold(name, "_charset_") && !hasValue {
			value = encoding
		}
	}
	return formField{name: name, value: value}, true
}

// chosen returns the values of the options of a select that are chosen: in a
// simple one the last that says so, else the first that can be.
func chosen(n *html.Node) (values []string) {
	_, multiple := attribute(n, "multiple")
	var first *string
	each(n, func(o *html.Node) {
		if o.DataAtom != atom.Option {
			return
		}
		value, found := attribute(o, "value")
		if !found {
			value = readerText(hit{node: o})
		}
		_, selected := attribute(o, "selected")
		switch disabled := isDisabledOption(o); {
		case selected && !multiple && disabled:
			// It is chosen and sends nothing: "please choose".
			values, first = nil, &value
		case selected && !multiple:
			values, first = []string{value}, &value
		case selected && !disabled:
			values = append(values, value)
		case first == nil && !disabled && !multiple:
			first = &value
			values = []string{value}
		}
	})
	return values
}

func isDisabledOption(n *html.Node) bool {
	if _, found := attribute(n, "disabled"); found {
		return true
	}
	_, found := attribute(n.Parent, "disabled")
	return found && n.Parent.DataAtom == atom.Optgroup
}

// isDisabled reports whether a control, or a fieldset around it, is disabled.
// What stands in the fieldset's first legend is not.
func isDisabled(n *html.Node) bool {
	if _, found := attribute(n, "disabled"); found {
		return true
	}
	for set := above(n, atom.Fieldset); set != nil; set = above(set, atom.Fieldset) {
		if _, found := attribute(set, "disabled"); !found {
			continue
		}
		legend := set.FirstChild
		for legend != nil && legend.DataAtom != atom.Legend {
			legend = legend.NextSibling
		}
		if legend == nil || !isIn(n, legend) {
			return true
		}
	}
	return false
}

// controlType is the type of an input or a button in lower case.
func controlType(n *html.Node) string {
	kind, _ := attribute(n, "type")
	kind = strings.ToLower(strings.Trim(kind, " \t\n\f\r"))
	switch {
	case n.DataAtom == atom.Button && kind != "reset" && kind != "button":
		return "submit"
	case kind == "":
		return "text"
	}
	return kind
}

// content is the text in an element as it stands.
func content(n *html.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// withLineEnds writes line ends as forms send them.
func withLineEnds(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.NewReplacer("\r\n", "\r\n", "\r", "\r\n", "\n", "\r\n").Replace(s)
}

// clicked returns the button that sends the form, nil for none.
func clicked(form *html.Node, controls []*html.Node, o FormOptions) (*html.Node, error) {
	if o.DontClick {
		return nil, nil
	}
	if o.ClickData == nil {
		i := slices.IndexFunc(controls, isButton)
		if i < 0 {
			return nil, nil
		}
		return controls[i], nil
	}
	if nr, found := o.ClickData["nr"]; found {
		return numbered(controls, nr)
	}
	var fit []*html.Node
	add := func(n *html.Node) {
		for name, value := range o.ClickData {
			if v, found := attribute(n, name); !found || v != value {
				return
			}
		}
		if !slices.Contains(fit, n) {
			fit = append(fit, n)
		}
	}
	for _, n := range controls {
		add(n)
	}
	for c := form.FirstChild; c != nil; c = c.NextSibling {
		each(c, add)
	}
	if len(fit) != 1 {
		return nil, fmt.Errorf("clickdata %s fits %d elements of the form, want one", shownAttributes(o.ClickData), len(fit))
	}
	return fit[0], nil
}

// isButton reports whether a control is a button that can be clicked and then
// sends its form.
func isButton(n *html.Node) bool {
	if isDisabled(n) {
		return false
	}
	switch kind := controlType(n); n.DataAtom {
	case atom.Button:
		return kind == "submit"
	case atom.Input:
		return kind == "submit" || kind == "image"
	}
	return false
}

func numbered(controls []*html.Node, nr string) (*html.Node, error) {
	inputs := slices.DeleteFunc(slices.Clone(controls), func(n *html.Node) bool { return n.DataAtom == atom.Button })
	i, err := strconv.Atoi(nr)
	if err != nil || i < 0 || i >= len(inputs) {
		return nil, fmt.Errorf("clickdata nr=%q: the form has %d input, select and textarea elements, counted from 0", nr, len(inputs))
	}
	return inputs[i], nil
}

func shownAttributes(attrs map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		fmt.Fprintf(&b, "[%s=%q]", name, attrs[name])
	}
	return b.String()
}
