package extract

import (
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/extract/xpath"
	"github.com/theory/jsonpath"
)

// A Query is a compiled selector of one of four languages: CSS, XPath, JMESPath
// or JSONPath. It does not change and is safe for concurrent use.
//
// One of CSS or XPath is a goquery.Matcher, for FindMatcher and its like; these
// look at elements and know nothing of ::text, ::attr(name) and attributes.
type Query struct {
	text     string
	language language
	css      []alternative
	xpath    *xpath.Expr
	jmespath *jmesPath
	jsonpath *jsonpath.Path
}

type language string

const (
	langCSS      language = "css"
	langXPath    language = "xpath"
	langJMESPath language = "jmespath"
	langJSONPath language = "jsonpath"
)

// isMarkup reports whether the language reads HTML and XML, and not JSON.
func (l language) isMarkup() bool { return l == langCSS || l == langXPath }

// CompileCSS compiles a CSS selector, or several with commas between them.
//
// It takes what github.com/andybalholm/cascadia takes, and Scrapy's two
// additions at the end of a selector:
//
//   - p::text is each piece of text that stands directly in a p, "p ::text"
//     each piece at any depth in it.
//   - a::attr(href) is the value of an a's href, "p ::attr(href)" that of each
//     element in a p, the p included.
func CompileCSS(selector string) (*Query, error) { return compile(langCSS, selector) }

// CompileXPath compiles an XPath 1.0 expression; see package xpath for what it
// knows beyond. Its variables get their values from [Selection.XPathWith].
//
// A number, string or boolean result, such as that of count(//a), is a
// selection of one value; true is "1" and false "0", as in Scrapy.
func CompileXPath(expression string) (*Query, error) { return compile(langXPath, expression) }

// CompileJMESPath compiles a JMESPath expression (https://jmespath.site). A
// result that is a list is a selection of its elements, null one of nothing.
//
// Numbers keep their digits, and comparisons of them are exact. What is
// computed, as by sum(), is so in floating point. The members of an object come
// in the order of their names where all are taken.
func CompileJMESPath(expression string) (*Query, error) { return compile(langJMESPath, expression) }

// CompileJSONPath compiles a JSONPath expression (RFC 9535). Each value that it
// finds is one of the selection, lists included.
//
// Numbers keep their digits; filters compare them in floating point. The
// members of an object come in the order of their names where all are taken.
func CompileJSONPath(expression string) (*Query, error) { return compile(langJSONPath, expression) }

// MustCSS is [CompileCSS] for selectors that stand in a program. It panics if
// the selector is wrong, which is then found when the program starts.
func MustCSS(selector string) *Query { return must(CompileCSS(selector)) }

// MustXPath is [CompileXPath] for expressions that stand in a program.
func MustXPath(expression string) *Query { return must(CompileXPath(expression)) }

// MustJMESPath is [CompileJMESPath] for expressions that stand in a program.
func MustJMESPath(expression string) *Query { return must(CompileJMESPath(expression)) }

// MustJSONPath is [CompileJSONPath] for expressions that stand in a program.
func MustJSONPath(expression string) *Query { return must(CompileJSONPath(expression)) }

func must(q *Query, err error) *Query {
	if err != nil {
		panic(err)
	}
	return q
}

// maxSelectorBytes bounds a selector. What generates longer ones is better
// written as code, and the parsers of the languages recurse.
const maxSelectorBytes = 32 << 10

func compile(l language, text string) (q *Query, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be read: %v", p)
		}
		if err != nil {
			q, err = nil, &SelectorError{Language: string(l), Selector: text, Err: err}
		}
	}()
	if len(text) > maxSelectorBytes {
		return nil, fmt.Errorf("it is longer than %d bytes", maxSelectorBytes)
	}
	q = &Query{text: text, language: l}
	switch l {
	case langCSS:
		p := selectorParser{text: text}
		q.css, err = p.alternatives()
	case langXPath:
		q.xpath, err = xpath.Compile(text)
	case langJMESPath:
		q.jmespath, err = compileJMESPath(text)
	case langJSONPath:
		q.jsonpath, err = jsonpath.Parse(text)
		err = withoutPrefix(err, "jsonpath: ")
	}
	return q, err
}

// String returns the selector's text.
func (q *Query) String() string { return q.text }

// CheckVariables reports an XPath expression that asks for variables, for where
// nobody gives them values: it would fail for every page.
func (q *Query) CheckVariables() error {
	if q.xpath == nil || len(q.xpath.Variables()) == 0 {
		return nil
	}
	reason := fmt.Errorf("variable $%s has no value here", q.xpath.Variables()[0])
	return &SelectorError{Language: string(q.language), Selector: q.text, Err: reason}
}

// A SelectorError says what is wrong with a selector.
type SelectorError struct {
	Language string // css, xpath, jmespath, jsonpath, or re for a pattern
	Selector string
	Err      error
}

func (e *SelectorError) Error() string {
	const most = 500 // a selector that is made up may be of any length
	shown := e.Selector
	if len(shown) > most {
		shown = shown[:most] + "…"
	}
	return e.Language + " selector \"" + shown + "\": " + e.Err.Error()
}

func (e *SelectorError) Unwrap() error { return e.Err }

// errNotMarkup is what a JSON value says that is asked for elements.
var errNotMarkup = errors.New("it is asked of a JSON object or list, which JMESPath and JSONPath read")
