package legs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skitterhq/skitter/shared/loader"
	"github.com/skitterhq/skitter/shared/spider"
)

// A fieldSet is a FieldList that is compiled.
type fieldSet struct {
	fields []field
	omit   bool

	// selects is true if some field has a selector. Where none has, every
	// page is an item.
	selects bool
}

// A field is a Field that is compiled.
type field struct {
	Field
	query   *query // nil for none
	from    func(*spider.Page) any
	text    bool // what a reader sees
	process []loader.Processor
	inner   *fieldSet // nil for none
}

func compileFields(option string, list FieldList, omit bool, m *mistakes) *fieldSet {
	if len(list) == 0 {
		m.add(option, errors.New("there are none: give names with selectors, as in {title: 'h1::text'}"))
	}
	set := &fieldSet{omit: omit}
	names := make(map[string]bool, len(list))
	for _, f := range list {
		own := option + "." + f.Name
		switch {
		case f.Name == "":
			m.add(option, errors.New("a field has no name"))
		case names[f.Name]:
			m.add(own, errors.New("there are two fields of that name"))
		}
		names[f.Name] = true
		c := compileField(own, f, omit, m)
		set.selects = set.selects || c.query != nil || c.inner != nil && c.inner.selects
		set.fields = append(set.fields, c)
	}
	return set
}

func compileField(option string, f Field, omit bool, m *mistakes) field {
	c := field{Field: f}
	c.query = m.selector(option, f.selector())
	if f.From != "" {
		var err error
		c.from, err = pageValue(f.From)
		m.add(option+".from", err)
	}
	if len(f.Fields) > 0 {
		c.inner = compileFields(option+".fields", f.Fields, omit, m)
	}
	sources := 0
	for _, given := range []bool{!f.selector().IsZero() || c.inner != nil, f.From != "", f.Value != nil} {
		if given {
			sources++
		}
	}
	switch {
	case sources == 0:
		m.add(option, errors.New("it has no value: give css, xpath, jmespath, jsonpath, fields, from or value"))
	case sources > 1:
		m.add(option, errors.New("its value comes from one place: give a selector, from or value"))
	case c.inner != nil && (f.Re != "" || f.Type != "" || len(f.Process) > 0):
		m.add(option, errors.New("it is an object of fields: re, process and type are for those"))
	case f.Required && f.Default != nil:
		m.add(option+".required", errors.New("a field with a default never lacks a value: give one of both"))
	}
	c.compileProcessors(option, m)
	return c
}

// compileProcessors makes processors of re, process and type.
func (c *field) compileProcessors(option string, m *mistakes) {
	if c.Re != "" {
		re := loader.Re(c.Re)
		m.add(option+".re", re.Err())
		c.process = append(c.process, re)
	}
	for i, p := range c.Process {
		m.add(fmt.Sprintf("%s.process[%d]", option, i), p.Err())
	}
	c.process = append(c.process, c.Process...)
	c.text = c.Type == "text"
	types := map[string]loader.Processor{
		"int": loader.ToInt(), "float": loader.ToFloat(), "price": loader.Price(""), "bool": loader.ToBool(),
		"url": loader.AbsoluteURL(), "time": loader.ToTime(),
	}
	if p, found := types[c.Type]; found {
		c.process = append(c.process, p)
		return
	}
	m.add(option+".type", oneOf(nameOr(c.Type, "string"), "string", "text", "int", "float", "price", "bool", "url", "time"))
}

// pageValue finds what from names.
func pageValue(from string) (func(*spider.Page) any, error) {
	what, name, _ := strings.Cut(from, " ")
	name = strings.TrimSpace(name)
	named := map[string]func(*spider.Page) any{
		"header":    func(p *spider.Page) any { return orNil(p.Headers.Get(name)) },
		"meta":      func(p *spider.Page) any { return p.Request.Meta[name] },
		"cb_kwargs": func(p *spider.Page) any { return p.Request.CBKwargs[name] },
		"arg":       func(p *spider.Page) any { return orNil(p.Args[name]) },
	}
	plain := map[string]func(*spider.Page) any{
		"url":    func(p *spider.Page) any { return p.Response.URL },
		"status": func(p *spider.Page) any { return p.Status },
		"spider": func(p *spider.Page) any { return p.Spider.Name },
		"job":    func(p *spider.Page) any { return p.Job.Name },
		"depth":  func(p *spider.Page) any { return p.Request.Depth },
	}
	switch {
	case named[what] != nil && name != "":
		return named[what], nil
	case named[what] != nil:
		return nil, fmt.Errorf("%s needs a name, as in \"%s NAME\"", what, what)
	case plain[what] != nil && name == "":
		return plain[what], nil
	}
	return nil, fmt.Errorf("%q is not known; there are url, status, spider, job, depth, header NAME, meta NAME, cb_kwargs NAME and arg NAME", from)
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}
