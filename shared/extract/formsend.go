package extract

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/weburl"
	"golang.org/x/net/html"
	"golang.org/x/text/encoding"
)

// Ways in which a form writes its fields into a body. Source: HTML Standard,
// "Form submission", enctype.
const (
	urlencoded    = "application/x-www-form-urlencoded"
	multipartForm = "multipart/form-data"
	plainForm     = "text/plain"
)

// A Submission is what a browser would send for a form.
type Submission struct {
	// Method is GET or POST.
	Method string

	// URL is where the form goes; with GET it has the fields in its query.
	URL string

	// ContentType is of the body; "" with GET.
	ContentType string

	// Body has the fields; nil with GET.
	Body []byte

	// Encoding is the WHATWG name of the encoding that the fields are in.
	Encoding string
}

// Submit fills in a form of the page and clicks its button, as Scrapy's
// FormRequest.from_response does. Where Scrapy and browsers differ it does
// what browsers do: disabled fields are not sent, fields outside of the form
// that name it in their form attribute are, a button may change method and
// address, and the form's enctype is kept. The error says what was not found.
func (d *Document) Submit(o FormOptions) (Submission, error) {
	s, err := d.submit(o)
	if err != nil {
		return Submission{}, fmt.Errorf("form on %s: %w", d.address, err)
	}
	return s, nil
}

func (d *Document) submit(o FormOptions) (Submission, error) {
	if err := o.Check(); err != nil {
		return Submission{}, err
	}
	page := formsOf(d.Root())
	form, err := page.find(d, o)
	if err != nil {
		return Submission{}, err
	}
	controls := page.controls[form]
	button, err := clicked(form, controls, o)
	if err != nil {
		return Submission{}, err
	}
	enc := d.formEncoding(form)
	fields := fieldsOf(controls, enc, o.FormData)
	if button != nil {
		name, _ := attribute(button, "name")
		if _, given := o.FormData[name]; name != "" && !given {
			value, _ := attribute(button, "value")
			fields = append(fields, formField{name: name, value: withLineEnds(value)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.FormData)) {
		for _, v := range o.FormData[name] {
			fields = append(fields, formField{name: name, value: v})
		}
	}
	target, err := d.formTarget(form, button)
	if err != nil {
		return Submission{}, err
	}
	s := Submission{Method: http.MethodGet, Encoding: enc}
	encodeFields(fields, enc)
	if !strings.EqualFold(ofButton(form, button, "method"), http.MethodPost) {
		s.URL, err = withQuery(target, fields)
		return s, err
	}
	s.Method, s.URL = http.MethodPost, target.WithoutFragment().String()
	s.ContentType, s.Body, err = writeFields(fields, strings.ToLower(ofButton(form, button, "enctype")))
	return s, err
}

// ofButton is an attribute of the form, or the button's in place of it, such
// as formaction.
func ofButton(form, button *html.Node, name string) string {
	if button != nil {
		if v, found := attribute(button, "form"+name); found {
			return v
		}
	}
	v, _ := attribute(form, name)
	return v
}

// formTarget is where the form goes: the page itself if it does not say.
func (d *Document) formTarget(form, button *html.Node) (weburl.URL, error) {
	action := strings.Trim(ofButton(form, button, "action"), " \t\n\f\r")
	var u weburl.URL
	var err error
	if action == "" {
		u, err = weburl.Parse(d.address)
	} else {
		u, err = d.Resolve(action)
	}
	if err != nil {
		return u, fmt.Errorf("action: %w", err)
	}
	if !Fetchable(u) {
		return u, fmt.Errorf("action %q leads to no page", action)
	}
	return u, nil
}

// formEncoding is the first encoding of accept-charset that is known, else the
// page's. Nothing is sent in UTF-16.
func (d *Document) formEncoding(form *html.Node) string {
	accepted, _ := attribute(form, "accept-charset")
	name := d.Encoding()
	for _, label := range strings.FieldsFunc(accepted, func(r rune) bool { return r == ',' || r < 0x80 && isSpace(byte(r)) }) {
		if known := canonicalName(label); known != "" {
			name = known
			break
		}
	}
	if name == "utf-16le" || name == "utf-16be" {
		return nameUTF8
	}
	return name
}

// encodeFields brings names and values into an encoding. A letter that it
// lacks becomes a character reference, as in browsers.
func encodeFields(fields []formField, name string) {
	if name == nameUTF8 {
		return
	}
	enc := encodingNamed(name)
	for i := range fields {
		f := &fields[i]
		for _, s := range []*string{&f.name, &f.value} {
			if out, err := encoding.HTMLEscapeUnsupported(enc.NewEncoder()).String(*s); err == nil {
				*s = out
			}
		}
	}
}

// withQuery puts the fields into the query of a URL, in place of its own. A
// form without fields changes nothing.
func withQuery(u weburl.URL, fields []formField) (string, error) {
	base := u.WithoutFragment().String()
	if len(fields) == 0 {
		return base, nil
	}
	base, _, _ = strings.Cut(base, "?")
	full, err := weburl.Parse(base + "?" + encodeQuery(fields))
	if err != nil {
		return "", fmt.Errorf("the form as a URL: %w", err)
	}
	return full.String(), nil
}

func encodeQuery(fields []formField) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(f.name))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(f.value))
	}
	return b.String()
}

// writeFields makes the body of a POST.
func writeFields(fields []formField, enctype string) (contentType string, body []byte, err error) {
	switch enctype {
	case multipartForm:
		return writeMultipart(fields)
	case plainForm:
		var b bytes.Buffer
		for _, f := range fields {
			b.WriteString(f.name + "=" + f.value + "\r\n")
		}
		return plainForm, b.Bytes(), nil
	}
	return urlencoded, []byte(encodeQuery(fields)), nil
}

// writeMultipart writes one part for each field. The boundary comes of what is
// sent, so that the same form is the same request.
func writeMultipart(fields []formField) (contentType string, body []byte, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	sum := sha256.Sum256([]byte(encodeQuery(fields)))
	err = w.SetBoundary(fmt.Sprintf("form-%x", sum[:16]))
	escape := strings.NewReplacer("\n", "%0A", "\r", "%0D", `"`, "%22")
	for _, f := range fields {
		header := textproto.MIMEHeader{}
		disposition := `form-data; name="` + escape.Replace(f.name) + `"`
		if f.file {
			disposition += `; filename=""`
			header.Set("Content-Type", "application/octet-stream")
		}
		header.Set("Content-Disposition", disposition)
		part, e := w.CreatePart(header)
		if e == nil {
			_, e = part.Write([]byte(f.value))
		}
		err = errors.Join(err, e)
	}
	err = errors.Join(err, w.Close())
	return w.FormDataContentType(), b.Bytes(), err
}
