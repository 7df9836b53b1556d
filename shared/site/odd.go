package site

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"
)

// odd links to every page that goes wrong.
func odd(w http.ResponseWriter, r *http.Request) {
	var b strings.Builder
	b.WriteString("<ul>\n")
	for _, p := range oddPages() {
		fmt.Fprintf(&b, "<li><a href=\"%[1]s\">%[1]s</a> %[2]s</li>\n", html.EscapeString(p.href), html.EscapeString(p.does))
	}
	b.WriteString("</ul>")
	writePage(w, http.StatusOK, "Odd pages", b.String())
}

type oddPage struct{ href, does string }

func oddPages() []oddPage {
	return []oddPage{
		{"/login", "asks for user demo and password demo"},
		{"/login?cookie=1000", "does too, and sets a long cookie"},
		{"/account", "needs that login, as its orders do"},
		{"/redirect/301", "leads to /p/1"},
		{"/redirect/302", "leads to /p/1"},
		{"/redirect/303", "leads to /p/1"},
		{"/redirect/307", "leads to /p/1"},
		{"/redirect/308", "leads to /p/1"},
		{"/redirect/chain/3", "leads to /p/2 in three steps"},
		{"/redirect/loop", "leads to itself by two other pages"},
		{"/redirect/cookie", "leads to itself until its cookie comes back"},
		{"/redirect/out", "leads to /p/3 on another host"},
		{"/status/404", "answers 404, as /status/N does N"},
		{"/status/500", "answers 500"},
		{"/status/503", "answers 503 and Retry-After"},
		{"/status/503?id=1", "answers 503 the first time and 200 after that, for each id"},
		{"/slow?ms=1000", "takes a second"},
		{"/truncated", "announces more than it sends"},
		{"/wrong-charset", "says utf-8 and is windows-1251"},
		{"/gzip", "is sent with gzip, whatever the client accepts"},
		{"/deflate", "is sent with deflate in the zlib format"},
		{"/deflate?raw=1", "is sent with deflate without the zlib format"},
		{"/empty", "has no body"},
		{"/huge?bytes=1048576", "has a megabyte"},
		{"/bad-html", "opens 600 elements and closes none"},
		{"/odd-links", "has one link that leads somewhere"},
	}
}

// wrongCharset is windows-1251, as its meta element says, and utf-8 by its
// header, which a browser believes.
func wrongCharset(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", typeHTML)
	fmt.Fprintf(w, "%s", windows1251("<!doctype html>\n<html lang=\"ru\"><head><meta charset=\"windows-1251\">"+
		"<title>Лавка</title></head>\n<body><h1>Чайник и лампа</h1></body></html>\n"))
}

// windows1251 encodes ASCII and the letters from А to я.
func windows1251(s string) []byte {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r >= 'А' {
			r += 0xC0 - 'А'
		}
		b = append(b, byte(r))
	}
	return b
}

// squeezed is what the compressed pages say.
const squeezed = "<!doctype html>\n<title>Squeezed</title>\n<p>This was small on its way.</p>\n"

func gzipped(w http.ResponseWriter, r *http.Request) {
	writeSqueezed(w, "gzip", gzip.NewWriter(w))
}

// deflated uses the zlib format, as RFC 9110 8.4.1.2 says; with ?raw=1 it does
// what some servers do instead.
func deflated(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("raw") != "1" {
		writeSqueezed(w, "deflate", zlib.NewWriter(w))
		return
	}
	raw, err := flate.NewWriter(w, flate.DefaultCompression)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeSqueezed(w, "deflate", raw)
}

func writeSqueezed(w http.ResponseWriter, coding string, z io.WriteCloser) {
	w.Header().Set("Content-Type", typeHTML)
	w.Header().Set("Content-Encoding", coding)
	fmt.Fprint(z, squeezed)
	z.Close() // fails, like the write, only if the client is gone
}

// badDepth is more than the 512 elements that golang.org/x/net/html keeps
// open.
const badDepth = 600

// badHTML breaks parsers that limit or recurse into the depth of a page. Its
// one link, to /p/4, is at the bottom of it.
func badHTML(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", typeHTML)
	fmt.Fprint(w, "<title>Bad</title><p class=open>No end to this </span></td>")
	fmt.Fprint(w, strings.Repeat("<div><!-- -->", badDepth))
	fmt.Fprint(w, "<a href=/p/4 >down here<table><b>")
}

// oddLinks has many links, and the only page they lead to is /p/5: plainly,
// and, if tabs and line ends are taken out as the URL standard says, once more.
func oddLinks(w http.ResponseWriter, r *http.Request) {
	writePage(w, http.StatusOK, "Odd links", `<ul>
<li><a href="/p/5">good</a></li>
<li><a href="
	/p`+"\t"+`/5 ">tabs and a line end</a></li>
<li><a href="javascript:void(0)">script</a></li>
<li><a href="JavaScript:location='/p/6'">script in capitals</a></li>
<li><a href="mailto:nobody@shop.invalid">mail</a></li>
<li><a href="tel:+100000">telephone</a></li>
<li><a href="data:text/html,hello">data</a></li>
<li><a href="#top">this page</a></li>
<li><a name="top">no href</a></li>
<li><a href="http://">no host</a></li>
<li><a href="http://[::1">half a host</a></li>
<li><a href="http://two words/">a space in the host</a></li>
<li><a href="http://%zz/">a bad escape in the host</a></li>
<li><a href="http://shop.invalid:port/">a port that is no number</a></li>
</ul>`)
}
