package loader

import "github.com/skitterhq/skitter/shared/extract"

// AddCSS adds what a CSS selector finds; see [Loader.AddValue]. For
// Scrapy's re=, give [Re] as the first processor.
func (l *Loader[T]) AddCSS(field, selector string, processors ...Processor) {
	l.add(field, processors, false, byCSS(selector))
}

// ReplaceCSS is AddCSS in place of what the field has.
func (l *Loader[T]) ReplaceCSS(field, selector string, processors ...Processor) {
	l.add(field, processors, true, byCSS(selector))
}

// GetCSS returns what AddCSS would give to the field's input processor.
func (l *Loader[T]) GetCSS(selector string, processors ...Processor) (any, error) {
	return l.get(processors, byCSS(selector))
}

// NestedCSS returns a loader of the same item that selects within what
// a CSS selector finds.
func (l *Loader[T]) NestedCSS(selector string) *Loader[T] { return l.nested(byCSS(selector)) }

// AddXPath adds what an XPath expression finds; see [Loader.AddValue]. Of
// an expression with variables, add its selection as a value:
// l.AddValue("link", page.XPathWith(expression, vars)).
func (l *Loader[T]) AddXPath(field, expression string, processors ...Processor) {
	l.add(field, processors, false, byXPath(expression))
}

// ReplaceXPath is AddXPath in place of what the field has.
func (l *Loader[T]) ReplaceXPath(field, expression string, processors ...Processor) {
	l.add(field, processors, true, byXPath(expression))
}

// GetXPath returns what AddXPath would give to the field's input processor.
func (l *Loader[T]) GetXPath(expression string, processors ...Processor) (any, error) {
	return l.get(processors, byXPath(expression))
}

// NestedXPath returns a loader of the same item that selects within what
// an XPath expression finds.
func (l *Loader[T]) NestedXPath(expression string) *Loader[T] { return l.nested(byXPath(expression)) }

// AddJMESPath adds what a JMESPath expression finds (Scrapy's add_jmes); see [Loader.AddValue]. Numbers and
// objects stay what they are.
func (l *Loader[T]) AddJMESPath(field, expression string, processors ...Processor) {
	l.add(field, processors, false, byJMESPath(expression))
}

// ReplaceJMESPath is AddJMESPath in place of what the field has.
func (l *Loader[T]) ReplaceJMESPath(field, expression string, processors ...Processor) {
	l.add(field, processors, true, byJMESPath(expression))
}

// GetJMESPath returns what AddJMESPath would give to the field's input processor.
func (l *Loader[T]) GetJMESPath(expression string, processors ...Processor) (any, error) {
	return l.get(processors, byJMESPath(expression))
}

// NestedJMESPath returns a loader of the same item that selects within what
// a JMESPath expression finds.
func (l *Loader[T]) NestedJMESPath(expression string) *Loader[T] {
	return l.nested(byJMESPath(expression))
}

// AddJSONPath adds what a JSONPath expression finds; see [Loader.AddValue].
func (l *Loader[T]) AddJSONPath(field, expression string, processors ...Processor) {
	l.add(field, processors, false, byJSONPath(expression))
}

// ReplaceJSONPath is AddJSONPath in place of what the field has.
func (l *Loader[T]) ReplaceJSONPath(field, expression string, processors ...Processor) {
	l.add(field, processors, true, byJSONPath(expression))
}

// GetJSONPath returns what AddJSONPath would give to the field's input processor.
func (l *Loader[T]) GetJSONPath(expression string, processors ...Processor) (any, error) {
	return l.get(processors, byJSONPath(expression))
}

// NestedJSONPath returns a loader of the same item that selects within what
// a JSONPath expression finds.
func (l *Loader[T]) NestedJSONPath(expression string) *Loader[T] {
	return l.nested(byJSONPath(expression))
}

// AddQuery adds what a compiled selector, of any language, finds; see [Loader.AddValue].
func (l *Loader[T]) AddQuery(field string, q *extract.Query, processors ...Processor) {
	l.add(field, processors, false, byQuery(q))
}

// ReplaceQuery is AddQuery in place of what the field has.
func (l *Loader[T]) ReplaceQuery(field string, q *extract.Query, processors ...Processor) {
	l.add(field, processors, true, byQuery(q))
}

// GetQuery returns what AddQuery would give to the field's input processor.
func (l *Loader[T]) GetQuery(q *extract.Query, processors ...Processor) (any, error) {
	return l.get(processors, byQuery(q))
}

// NestedQuery returns a loader of the same item that selects within what
// a compiled selector, of any language, finds.
func (l *Loader[T]) NestedQuery(q *extract.Query) *Loader[T] { return l.nested(byQuery(q)) }
