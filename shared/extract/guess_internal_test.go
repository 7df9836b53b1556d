package extract

import (
	"testing"

	"github.com/saintfish/chardet"
)

// Two runs of one page must agree, and the detector's order is that in which
// its goroutines end.
func TestGuessDoesNotDependOnTheOrderOfEquals(t *testing.T) {
	a, b := chardet.Result{Charset: "Big5", Confidence: 10}, chardet.Result{Charset: "EUC-KR", Confidence: 10}
	low := chardet.Result{Charset: "EUC-JP", Confidence: 9}
	unknown := chardet.Result{Charset: "IBM424_rtl", Confidence: 90}
	for _, results := range [][]chardet.Result{{a, b, low, unknown}, {b, a, unknown, low}, {unknown, low, b, a}} {
		if got := best(results, nil); got != "big5" {
			t.Errorf("got %s, want big5", got)
		}
	}
}

func TestGuessOfGreekAndChinese(t *testing.T) {
	tests := []struct{ name, charset, body, want string }{
		{"Greek", "ISO-8859-7", "\xa2\xed\xe4\xf1\xe1\xf2", "windows-1253"},
		{"Greek with the letter that differs", "ISO-8859-7", "\xb6\xed\xe4\xf1\xe1\xf2", "iso-8859-7"},
		{"Chinese", "GB-18030", "\xd6\xd0", "gbk"},
		{"Chinese with a letter of four bytes", "GB-18030", "\xd6\xd0\x81\x30\x81\x30", "gb18030"},
		{"Hebrew", "ISO-8859-8-I", "\xe0", "windows-1255"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := best([]chardet.Result{{Charset: test.charset, Confidence: 50}}, []byte(test.body)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
