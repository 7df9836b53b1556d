package extract

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// FormOptions say which form of a page is sent, and with what. They are those
// of Scrapy's FormRequest.from_response. The zero value sends the page's first
// form as it stands, by its first button.
type FormOptions struct {
	// FormName is the name attribute of the form.
	FormName string `json:"formname,omitempty"`

	// FormID is the form's id, which is looked for if no form has the name.
	FormID string `json:"formid,omitempty"`

	// FormCSS selects the form or something in it, of which the first counts;
	// it is used if neither name nor id found the form.
	FormCSS string `json:"formcss,omitempty"`

	// FormXPath is the same as an XPath expression. FormCSS wins over it.
	FormXPath string `json:"formxpath,omitempty"`

	// FormNumber is the place of the form on the page, from 0, for when none
	// of the options above is set.
	FormNumber int `json:"formnumber,omitempty"`

	// FormData are values that replace those of the page's fields, or are sent
	// besides them; an empty list sends no such field. They stand behind the
	// page's fields, sorted by name.
	FormData map[string][]string `json:"formdata,omitempty"`

	// ClickData are attributes of the button that is clicked, which must fit
	// one element. "nr" is its place among the form's input, select and
	// textarea elements, from 0.
	//
	// Default: the first button that sends the form.
	ClickData map[string]string `json:"clickdata,omitempty"`

	// DontClick sends the form without a button.
	DontClick bool `json:"dont_click,omitempty"`
}

// Check tells what is wrong with the options, whatever the page: for when a
// spider is loaded.
func (o FormOptions) Check() error {
	var wrong []error
	if _, err := CompileCSS(o.FormCSS); o.FormCSS != "" && err != nil {
		wrong = append(wrong, fmt.Errorf("option formcss: %w", err))
	}
	if o.FormXPath != "" {
		q, err := CompileXPath(o.FormXPath)
		if err == nil {
			err = q.CheckVariables()
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("option formxpath: %w", err))
		}
	}
	if o.FormNumber < 0 {
		wrong = append(wrong, fmt.Errorf("option formnumber: %d: forms count from 0", o.FormNumber))
	}
	if o.DontClick && o.ClickData != nil {
		wrong = append(wrong, errors.New("option clickdata: there is no click with dont_click"))
	}
	return errors.Join(wrong...)
}

// A page's forms, and which controls belong to which.
type pageForms struct {
	forms    []*html.Node
	controls map[*html.Node][]*html.Node // of a form, in the page's order
	owners   map[*html.Node]*html.Node   // of a control
}

// formsOf finds all forms of a page and their controls.
func formsOf(root *html.Node) *pageForms {
	p := &pageForms{controls: map[*html.Node][]*html.Node{}, owners: map[*html.Node]*html.Node{}}
	byID := map[string]*html.Node{}
	each(root, func(n *html.Node) {
		if id, _ := attribute(n, "id"); n.DataAtom == atom.Form {
			p.forms = append(p.forms, n)
			if byID[id] == nil {
				byID[id] = n
			}
		}
	})
	var inTable *html.Node // the form that was cut short by a table last
	each(root, func(n *html.Node) {
		switch n.DataAtom {
		case atom.Form:
			inTable = nil
			if n.FirstChild == nil && isTablePart(n.Parent) {
				inTable = n
			}
			return
		case atom.Input, atom.Select, atom.Textarea, atom.Button:
		default:
			return
		}
		owner := above(n, atom.Form)
		if id, found := attribute(n, "form"); found {
			owner = byID[id]
		} else if owner == nil && inTable != nil && isIn(n, above(inTable, atom.Table)) {
			owner = inTable
		}
		if owner != nil {
			p.controls[owner] = append(p.controls[owner], n)
			p.owners[n] = owner
		}
	})
	return p
}

// isTablePart reports whether a form that begins in n is cut short: parsers
// end it at once, and browsers remember that the controls which follow in the
// table are its own.
func isTablePart(n *html.Node) bool {
	if n == nil {
		return false
	}
	switch n.DataAtom {
	case atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr:
		return true
	}
	return false
}

// find finds the form that the options mean.
func (p *pageForms) find(d *Document, o FormOptions) (*html.Node, error) {
	if len(p.forms) == 0 {
		return nil, errors.New("the page has no form")
	}
	for _, by := range []struct{ attr, value string }{{"name", o.FormName}, {"id", o.FormID}} {
		for _, f := range p.forms {
			if v, _ := attribute(f, by.attr); by.value != "" && v == by.value {
				return f, nil
			}
		}
	}
	if o.FormCSS != "" || o.FormXPath != "" {
		return p.selected(d, o)
	}
	if o.FormName != "" || o.FormID != "" {
		return nil, fmt.Errorf("no form has %s; the page has %s", named(o.FormName, o.FormID), p.list())
	}
	if o.FormNumber < 0 || o.FormNumber >= len(p.forms) {
		return nil, fmt.Errorf("no form has the number %d, counted from 0; the page has %s", o.FormNumber, p.list())
	}
	return p.forms[o.FormNumber], nil
}

// selected finds the form that a selector's first element is, or is in.
func (p *pageForms) selected(d *Document, o FormOptions) (*html.Node, error) {
	found, selector := d.XPath(o.FormXPath), o.FormXPath
	if o.FormCSS != "" {
		found, selector = d.CSS(o.FormCSS), o.FormCSS
	}
	if found.Err() != nil {
		return nil, found.Err()
	}
	if nodes := found.Nodes(); len(nodes) > 0 {
		n := nodes[0]
		if owner := p.owners[n]; owner != nil {
			return owner, nil
		}
		if n.DataAtom == atom.Form {
			return n, nil
		}
		if form := above(n, atom.Form); form != nil {
			return form, nil
		}
	}
	return nil, fmt.Errorf("no form is, or is around, what %q selects; the page has %s", selector, p.list())
}

func named(name, id string) string {
	switch {
	case name == "":
		return fmt.Sprintf("the id %q", id)
	case id == "":
		return fmt.Sprintf("the name %q", name)
	}
	return fmt.Sprintf("the name %q or the id %q", name, id)
}

// list names the first forms of the page, for an error.
func (p *pageForms) list() string {
	const most = 5
	var names []string
	for i, f := range p.forms[:min(len(p.forms), most)] {
		s := fmt.Sprintf("number %d", i)
		if name, found := attribute(f, "name"); found {
			s += fmt.Sprintf(" (name %q)", name)
		}
		if id, found := attribute(f, "id"); found {
			s += fmt.Sprintf(" (id %q)", id)
		}
		names = append(names, s)
	}
	if len(p.forms) > most {
		names = append(names, fmt.Sprintf("%d more", len(p.forms)-most))
	}
	return strings.Join(names, ", ")
}

// each calls f for each element in the page's order.
func each(n *html.Node, f func(*html.Node)) {
	if n.Type == html.ElementNode {
		f(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		each(c, f)
	}
}

// above returns the nearest element of that name around n, nil if there is
// none.
func above(n *html.Node, name atom.Atom) *html.Node {
	for n = n.Parent; n != nil && n.DataAtom != name; n = n.Parent {
	}
	return n
}

func isIn(n, around *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == around {
			return true
		}
	}
	return false
}
