package extract_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/weburl"
)

func TestSubmit(t *testing.T) {
	const two = `<form name="search" action="/find?old=1#x"><input name="q" value="a b"></form>
		<form id="login" method="POST" action=" login "><input type="hidden" name="csrf" value="t&amp;k">
		<input name="user"><input type="password" name="pw"><button name="go" value="in">Log in</button></form>`
	const login = "POST http://example.com/dir/login csrf=t%26k&user=&pw=&go=in"
	tests := []struct {
		name, html string
		options    extract.FormOptions
		want       string
	}{
		{"the first form, into the query in place of its own", two, extract.FormOptions{}, "GET http://example.com/find?q=a+b"},
		{"by name", two, extract.FormOptions{FormName: "search", FormID: "login"}, "GET http://example.com/find?q=a+b"},
		{"by id", two, extract.FormOptions{FormID: "login"}, login},
		{"by id if there is no such name", two, extract.FormOptions{FormName: "x", FormID: "login"}, login},
		{"by number", two, extract.FormOptions{FormNumber: 1}, login},
		{"by selector", two, extract.FormOptions{FormCSS: "form[method]"}, login},
		{"by selector of something in it", two, extract.FormOptions{FormCSS: "[name=pw]::attr(name)"}, login},
		{"by XPath", two, extract.FormOptions{FormXPath: "//input[@name='pw']"}, login},
		{"by XPath of an attribute", two, extract.FormOptions{FormXPath: "//input/@name[.='pw']"}, login},
		{"CSS wins over XPath", two, extract.FormOptions{FormXPath: "//form", FormCSS: "#login"}, login},
		{"by selector if there is no such name", two, extract.FormOptions{FormName: "x", FormCSS: "#login"}, login},
		{"values replace, and stand at the end", two, extract.FormOptions{FormNumber: 1, FormData: url.Values{"user": {"ü"}, "pw": {"1", "2"}, "a": {""}}},
			"POST http://example.com/dir/login csrf=t%26k&go=in&a=&pw=1&pw=2&user=%C3%BC"},
		{"an empty list leaves a field out, the button too", two, extract.FormOptions{FormNumber: 1, FormData: map[string][]string{"csrf": nil, "go": {}}},
			"POST http://example.com/dir/login user=&pw="},
		{"without a click", two, extract.FormOptions{FormNumber: 1, DontClick: true}, "POST http://example.com/dir/login csrf=t%26k&user=&pw="},

		{"text fields of every kind, without names none", `<form><input name=a><input type=EMAIL name=b value=1><input value=x><input name="" value=x><textarea name=c>
 x
y</textarea></form>`, extract.FormOptions{}, "GET http://example.com/dir/page?a=&b=1&c=+x%0D%0Ay"},
		{"checked boxes", `<form><input type=checkbox name=a checked><input type=checkbox name=b value=1><input type=Radio name=c value=1><input type=radio name=c value=2 checked></form>`,
			extract.FormOptions{}, "GET http://example.com/dir/page?a=on&c=2"},
		{"the last option that is selected, else the first that can be", `<form><select name=a><option value=1 selected>x<option selected> two  words <option>y</select>
			<select name=b><option disabled>x<optgroup disabled><option>y</optgroup><option value="">z</select>
			<select name=c><option selected disabled value=no>please choose<option>y</select><select name=d></select></form>`,
			extract.FormOptions{}, "GET http://example.com/dir/page?a=two+words&b="},
		{"all options of a multiple select", `<form><select name=a multiple><option selected>1<option>2<option selected>3<option selected disabled>4</select><select name=b multiple><option>1</select></form>`,
			extract.FormOptions{}, "GET http://example.com/dir/page?a=1&a=3"},
		{"what is disabled is not sent", `<form><input name=a disabled><fieldset disabled><legend><input name=b></legend><input name=c><legend><input name=d></legend></fieldset><fieldset><input name=e></fieldset></form>`,
			extract.FormOptions{}, "GET http://example.com/dir/page?b=&e="},
		{"what a datalist suggests is not sent", `<form><datalist id=l><input name=a><option value=1></datalist><input name=b list=l></form>`, extract.FormOptions{}, "GET http://example.com/dir/page?b="},
		{"nothing is sent in UTF-16", `<form accept-charset=utf-16><input name=a value="ü"></form>`, extract.FormOptions{}, "GET http://example.com/dir/page?a=%C3%BC"},
		{"no buttons but the first that sends", `<form><button type=button name=a></button><input type=reset name=b><input type=submit name=c value=1 disabled><button type=reset name=d></button><input type=SUBMIT name=e><button name=f>f</button><input type=button name=g value=1></form>`,
			extract.FormOptions{}, "GET http://example.com/dir/page?e="},
		{"an image is a button", `<form><input type=image name=a value=1></form>`, extract.FormOptions{}, "GET http://example.com/dir/page?a=1"},
		{"the button that is clicked, with its own ways", `<form action=/a><input name=q><button name=x value=1>1</button><button name=x value=2 formaction=/b formmethod=post formenctype=text/plain>2</button></form>`,
			extract.FormOptions{ClickData: map[string]string{"value": "2"}}, "POST http://example.com/b q=\r\nx=2\r\n text/plain"},
		{"a button by its number among the inputs", `<form><button name=b></button><input type=submit name=x value=1><input type=submit name=x value=2></form>`,
			extract.FormOptions{ClickData: map[string]string{"nr": "1"}}, "GET http://example.com/dir/page?x=2"},
		{"controls outside of the form", `<input name=a form=f value=1><form id=f><input name=b value=2><input name=c form=other></form><button form=f name=d value=3></button><input name=e form=g>`,
			extract.FormOptions{}, "GET http://example.com/dir/page?a=1&b=2&d=3"},
		{"a form found by a control outside of it", `<form id=f action=/x></form><form></form><input id=q name=a form=f value=1>`, extract.FormOptions{FormCSS: "#q"}, "GET http://example.com/x?a=1"},
		{"a form that a table cuts short", `<table><form action=/t><tr><td><input name=a value=1></td></tr></form></table><input name=b>`, extract.FormOptions{}, "GET http://example.com/t?a=1"},
		{"a form without fields", `<form action="/x?a=1"></form>`, extract.FormOptions{}, "GET http://example.com/x?a=1"},
		{"a method that is none is GET", `<form method=dialog><input name=a></form>`, extract.FormOptions{}, "GET http://example.com/dir/page?a="},
		{"the page's base", `<base href="https://other.example/b/"><form action=x></form>`, extract.FormOptions{}, "GET https://other.example/b/x"},
		{"the page itself, whatever its base", `<base href="https://other.example/b/"><form action=""></form>`, extract.FormOptions{}, "GET http://example.com/dir/page?p=1"},
		{"accept-charset", `<form accept-charset="unheard-of, KOI8-R utf-8"><input name="ф" value="п€"></form>`, extract.FormOptions{}, "GET http://example.com/dir/page?%C6=%D0%26%238364%3B"},
		{"_charset_", `<form accept-charset=latin1><input type=hidden name=_charset_></form>`, extract.FormOptions{}, "GET http://example.com/dir/page?_charset_=windows-1252"},
		{"multipart", `<form method=post enctype="Multipart/Form-Data"><input name='a"' value="ü"><input type=file name=f></form>`, extract.FormOptions{},
			"POST http://example.com/dir/page?p=1 --B\r\nContent-Disposition: form-data; name=\"a%22\"\r\n\r\nü\r\n" +
				"--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--B--\r\n multipart/form-data; boundary=B"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := extract.NewDocument([]byte(test.html), "text/html; charset=utf-8", "http://example.com/dir/page?p=1#f").Submit(test.options)
			if err != nil {
				t.Fatal(err)
			}
			got := shownSubmission(s)
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// shownSubmission writes a submission in one line; the type of the usual body
// goes without saying.
func shownSubmission(s extract.Submission) string {
	line := s.Method + " " + s.URL
	if s.Method == "GET" {
		return line
	}
	line += " " + string(s.Body)
	if s.ContentType != "application/x-www-form-urlencoded" {
		line += " " + s.ContentType
	}
	if _, boundary, found := strings.Cut(s.ContentType, "boundary="); found {
		line = strings.ReplaceAll(line, boundary, "B")
	}
	return line
}

func TestAFormInThePagesEncoding(t *testing.T) {
	body := "<form method=post><input name=q value=\"\xef\xf0\"></form>"
	s, err := extract.NewDocument([]byte(body), "text/html; charset=windows-1251", "http://example.com/").Submit(extract.FormOptions{FormData: url.Values{"x": {"ф"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(s.Body); got != "q=%EF%F0&x=%F4" || s.Encoding != "windows-1251" {
		t.Errorf("got %s in %s", got, s.Encoding)
	}
}

func TestFormsThatAreNotThere(t *testing.T) {
	const two = `<form name=search><input type=submit name=a><input type=submit name=a></form><form id=login></form>`
	tests := []struct {
		name, html string
		options    extract.FormOptions
		want       string
	}{
		{"no form", "<p>", extract.FormOptions{}, "form on http://example.com/: the page has no form"},
		{"no such name", two, extract.FormOptions{FormName: "x"}, `no form has the name "x"; the page has number 0 (name "search"), number 1 (id "login")`},
		{"no such id", two, extract.FormOptions{FormID: "x"}, `no form has the id "x"`},
		{"neither", two, extract.FormOptions{FormName: "x", FormID: "y"}, `no form has the name "x" or the id "y"`},
		{"no such number", two, extract.FormOptions{FormNumber: 2}, "no form has the number 2, counted from 0; the page has number 0"},
		{"a number below 0", two, extract.FormOptions{FormNumber: -1}, "option formnumber: -1: forms count from 0"},
		{"a selector of nothing", two, extract.FormOptions{FormCSS: "p"}, `no form is, or is around, what "p" selects`},
		{"a selector outside of forms", two + "<p>", extract.FormOptions{FormCSS: "p"}, `no form is, or is around, what "p" selects`},
		{"a selector that is wrong", two, extract.FormOptions{FormCSS: "p["}, `option formcss: css selector "p["`},
		{"an XPath that is wrong", two, extract.FormOptions{FormXPath: "//form["}, `option formxpath: xpath selector "//form["`},
		{"an XPath with a variable", two, extract.FormOptions{FormXPath: "//form[@id=$id]"}, `variable $id has no value here`},
		{"an XPath of nothing", two, extract.FormOptions{FormXPath: "//form[9]"}, `no form is, or is around, what "//form[9]" selects`},
		{"no such button", two, extract.FormOptions{ClickData: map[string]string{"value": "x", "name": "a"}}, `clickdata [name="a"][value="x"] fits 0 elements of the form, want one`},
		{"two such buttons", two, extract.FormOptions{ClickData: map[string]string{"name": "a"}}, `clickdata [name="a"] fits 2 elements of the form, want one`},
		{"no such number of a button", two, extract.FormOptions{ClickData: map[string]string{"nr": "2"}}, `clickdata nr="2": the form has 2 input, select and textarea elements, counted from 0`},
		{"a button and none", two, extract.FormOptions{DontClick: true, ClickData: map[string]string{"name": "a"}}, "there is no click with dont_click"},
		{"a form that sends mail", `<form action="mailto:x@example.com">`, extract.FormOptions{}, `action "mailto:x@example.com" leads to no page`},
		{"a form that leads nowhere", `<form action="http://[">`, extract.FormOptions{}, "action: url"},
		{"many forms", strings.Repeat("<form></form>", 7), extract.FormOptions{FormNumber: 9}, "number 4, 2 more"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := extract.NewDocument([]byte(test.html), "text/html", "http://example.com/").Submit(test.options)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// FuzzSubmit sends the forms of any page.
func FuzzSubmit(f *testing.F) {
	f.Add([]byte("<form method=post enctype=multipart/form-data><input name=a form=x><select name=b><option selected>1"), "text/html; charset=koi8-r", 0)
	f.Add([]byte("<table><form id=x><fieldset disabled><legend><textarea name=\x00>\n\r"), "", 1)
	f.Fuzz(func(t *testing.T, body []byte, contentType string, number int) {
		doc := extract.NewDocument(body, contentType, "http://example.com/dir/page")
		s, err := doc.Submit(extract.FormOptions{FormNumber: number, FormData: url.Values{"\u2212": {"\ud7ff"}}})
		if err != nil {
			return
		}
		if u, err := weburl.Parse(s.URL); err != nil || u.String() != s.URL || !extract.Fetchable(u) {
			t.Errorf("%q becomes %q: %v", s.URL, u, err)
		}
		if (s.Method == http.MethodPost) != (s.ContentType != "") || s.Method == http.MethodGet && s.Body != nil {
			t.Errorf("%s of %q as %s", s.Method, s.Body, s.ContentType)
		}
	})
}
