package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/extract"
)

// numbered is a text that is made of a format, n times, with the number in it.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestBadMarkupKeepsItsStructure(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without the race detector does it")
	}
	for _, test := range []struct {
		name, page, selector string
		want                 int
	}{
		{"b in items of a list", "<ul>" + strings.Repeat("<li><b>x", 1100), "ul > li", 1100},
		{"font in cells", "<table>" + strings.Repeat("<tr><td><font color=red>x", 900), "table > tbody > tr", 900},
		{"font in cells that are closed", "<table>" + strings.Repeat("<tr><td><font color=red>x</td></tr>", 400), "table > tbody > tr", 400},
		{"60,000 of them", "<table>" + strings.Repeat("<tr><td><font color=red>x", 60_000), "table > tbody > tr", 60_000},
		{"anchors", numbered(900, "<p><a name=x%[1]d>text<a href=/%[1]d>"), "body > p", 900},
		{"different fonts, closed", numbered(20_000, "<p><font size=%d>x</font>"), "body > p", 20_000},
		{"different fonts around blocks", numbered(20_000, "<div><font size=%d><p>x</p><p title='a>b'>y</p></font></div>"), "body > div", 20_000},
		{"fonts of a few kinds around tables", numbered(5_000, "<div><font size=1><table><tr><td title=%d><i class=x>x</i></table></font></div>"), "body > div", 5_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := extract.NewDocument([]byte(test.page), "text/html", "")
			if got := d.CSS(test.selector).Len(); got != test.want || d.Tokenized() {
				t.Errorf("%s finds %d, want %d; tokenized: %v", test.selector, got, test.want, d.Tokenized())
			}
		})
	}
}

// Each page opens 400 formatting elements anew in each of its blocks, and says
// of some that they are closed where a parser does not believe it.
func TestPagesThatAParserMustRepairAreReadByTheTokenizer(t *testing.T) {
	const blocks = "<div>x</div>"
	for name, font := range map[string]string{
		"plain":                           "<font size=%d>",
		"quoted":                          `<font size="%d">`,
		"a sign in a value":               `<font title="> %d">`,
		"closed in a comment":             "<font size=%d><!--</font>-->",
		"closed in a declaration":         "<font size=%d><?</font>",
		"closed in its own value":         `<font title="</font>" size=%d>`,
		"closed in a value":               `<font size=%d><p title="></font>">`,
		"closed in a value without space": `<font size=%d><p a=x"y title="></font>">`,
		"closed in the value of an end":   `<font size=%d></p title="</font>">`,
		"closed in a script":              "<font size=%d><script></font></script>",
		"closed in a cell":                "<font size=%d><table><tr><td></font></td></tr></table>",
		"closed in a table":               "<font size=%d><table><caption></font></table>",
		"closed in a select":              "<font size=%d><select></font></select>",
		"closed in an object":             "<font size=%d><object></font></object>",
		"closed behind eight blocks":      "<font size=%d><div><div><div><div><div><div><div><div></font></div></div></div></div></div></div></div></div>",
		"opened in a drawing":             "<svg><style><font size=%d></style></svg>",
		"three of each":                   "<i class=%[1]d><i class=%[1]d><i class=%[1]d>",
		"long":                            `<font title="` + strings.Repeat("x", 300) + `%d">`,
	} {
		t.Run(name, func(t *testing.T) {
			page := "<div>" + numbered(400, font) + "</div>" + strings.Repeat(blocks, 3000)
			if !extract.NewDocument([]byte(page), "text/html", "").Tokenized() {
				t.Error("it is parsed")
			}
		})
	}
}
