package xmltoken_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/extract/xmltoken"
)

// tokens writes a reader's tokens, texts that follow one another as one.
func tokens(r *xmltoken.Reader) (all []string) {
	texts := false
	for {
		kind := r.Next()
		switch kind {
		case xmltoken.EOF:
			return all
		case xmltoken.Start:
			s := "<" + r.Name().Prefix + ":" + r.Name().Local
			for _, a := range r.Attrs() {
				s += fmt.Sprintf(" %s:%s=%q", a.Name.Prefix, a.Name.Local, a.Value)
			}
			all = append(all, s)
		case xmltoken.End:
			all = append(all, "/"+r.Name().Prefix+":"+r.Name().Local)
		case xmltoken.Text, xmltoken.Comment:
			if texts && kind == xmltoken.Text {
				all[len(all)-1] += string(r.Data())
			} else {
				all = append(all, string(r.Data()))
			}
		}
		texts = kind == xmltoken.Text
	}
}

var documents = []string{
	`<?xml version="1.0"?><!DOCTYPE a [<!-- > --> <!ENTITY b "]>">]><a b='c>d' e:f="&lt;"><g/>x&amp;y<![CDATA[<z>]]><!--n--></a>`,
	`<a b="c`, `<a b="c><d e='f`, "<a><![CDATA[x", "<a><!-- x", "<a/", "</a", "<", "<!", "<?x", "a < b <3 &x; &amp", "é<é:é/>\xc3",
}

// TestAStreamIsReadLikeADocument reads byte by byte what is otherwise at hand
// whole.
func TestAStreamIsReadLikeADocument(t *testing.T) {
	for _, doc := range documents {
		want := tokens(xmltoken.NewBytes([]byte(doc)))
		for name, src := range map[string]io.Reader{
			"byte by byte": iotest.OneByteReader(strings.NewReader(doc)),
			"an early end": iotest.DataErrReader(strings.NewReader(doc)),
		} {
			r := xmltoken.NewReader(src)
			if diff := cmp.Diff(want, tokens(r)); diff != "" || r.Err() != nil {
				t.Errorf("%s, %s: %v (-document +stream)\n%s", doc, name, r.Err(), diff)
			}
		}
	}
}

func TestAStreamThatFailsGivesWhatCame(t *testing.T) {
	broken := errors.New("broken")
	r := xmltoken.NewReader(io.MultiReader(strings.NewReader("<a>x"), iotest.ErrReader(broken)))
	if got := tokens(r); len(got) != 2 || !errors.Is(r.Err(), broken) {
		t.Errorf("got %q and %v", got, r.Err())
	}
	lazy := xmltoken.NewReader(nothing{})
	if lazy.Next() != xmltoken.EOF || !errors.Is(lazy.Err(), io.ErrNoProgress) {
		t.Errorf("of a stream that gives nothing: %v", lazy.Err())
	}
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

// TestAStreamIsHeldInPieces reads tokens that are longer than what is held.
func TestAStreamIsHeldInPieces(t *testing.T) {
	const size = 3 << 20
	long := strings.Repeat("é&amp;", size/7)
	for name, doc := range map[string]string{
		"text": "<a>" + long + "</a>", "CDATA": "<a><![CDATA[" + long + "]]></a>",
	} {
		longest, total, kinds := 0, 0, []xmltoken.Kind{}
		r := xmltoken.NewReader(strings.NewReader(doc))
		for kind := r.Next(); kind != xmltoken.EOF; kind = r.Next() {
			if kind == xmltoken.Text {
				longest, total = max(longest, len(r.Data())), total+len(r.Data())
				if strings.Contains(string(r.Data()), "\ufffd") {
					t.Errorf("%s: a piece is cut within a rune", name)
				}
				continue
			}
			kinds = append(kinds, kind)
		}
		want := len(long)
		if name == "text" {
			want = size / 7 * len("é&")
		}
		if total != want || longest > 1<<20 || len(kinds) != 2 {
			t.Errorf("%s: %d bytes of %d, the longest piece has %d; tags %v", name, total, want, longest, kinds)
		}
	}
	for name, tag := range map[string]string{
		"a tag":      "<b c='" + strings.Repeat("x", size) + "'>",
		"an end tag": "</" + strings.Repeat("x", size) + ">",
		"a comment":  "<!--" + strings.Repeat("x", size) + "->",
	} {
		got := tokens(xmltoken.NewReader(strings.NewReader("<a>1" + tag + "2</a>")))
		if name == "a comment" {
			if last := got[len(got)-1]; len(got) < 5 || strings.TrimLeft(last, "x") != "->2</a>" {
				t.Errorf("%s: %d tokens, the last ends with %.20q", name, len(got), strings.TrimLeft(last, "x"))
			}
			continue
		}
		if diff := cmp.Diff([]string{"<:a", "12", "/:a"}, got); diff != "" {
			t.Errorf("%s is not passed over (-want +got)\n%s", name, diff)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		before := string(doc)
		want := tokens(xmltoken.NewBytes(doc))
		if string(doc) != before {
			t.Fatal("the document was changed")
		}
		got := tokens(xmltoken.NewReader(iotest.HalfReader(strings.NewReader(before))))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-document +stream)\n%s", diff)
		}
	})
}
