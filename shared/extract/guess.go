package extract

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/saintfish/chardet"
)

// guessBytes is how much of a body is guessed from: 32 KiB take about 5 ms, and
// more does not change the answer.
const guessBytes = 32 << 10

// guess tells the encoding of a body that declares none and is not UTF-8 from
// the letters that it uses. It is right for Chinese, Japanese and Korean, and
// often for European languages.
func guess(body []byte) string {
	body = body[:min(len(body), guessBytes)]
	if bytes.IndexByte(body, 0) >= 0 {
		return nameWindows1252 // no text
	}
	results, err := chardet.NewHtmlDetector().DetectAll(body)
	if err != nil {
		return nameWindows1252
	}
	return best(results, body)
}

// best chooses among the detector's results. Their order does not matter, as
// that of equals differs from run to run.
func best(results []chardet.Result, body []byte) string {
	slices.SortFunc(results, func(a, b chardet.Result) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Charset, b.Charset))
	})
	// Letters of more than one byte, ten right ones for each wrong, are never
	// there by chance: this is UTF-8 with a few bytes spoilt.
	spoilt := func(r chardet.Result) bool { return r.Charset == "UTF-8" && r.Confidence >= 25 }
	if slices.ContainsFunc(results, spoilt) {
		return nameUTF8
	}
	for _, r := range results {
		if name := canonicalName(chardetLabel(r.Charset, body)); name != "" {
			return name
		}
	}
	return nameWindows1252
}

// chardetLabel turns the detector's names into labels of the standard. Where it
// cannot tell two encodings apart, it is the one that pages are really in.
func chardetLabel(name string, body []byte) string {
	switch name {
	case "ISO-2022-JP":
		return "" // it has no bytes above 7f, and is found before anybody guesses
	case "GB-18030":
		if text := decode(body, "gbk"); !bytes.Contains(text, []byte("\ufffd")) {
			return "gbk"
		}
		return "gb18030"
	case "ISO-8859-8-I":
		return "windows-1255" // the same letters, and vowel points
	case "ISO-8859-7":
		// They differ in one letter, U+0386: it is a2 in the one and b6 in the other.
		if bytes.IndexByte(body, 0xb6) < 0 {
			return "windows-1253"
		}
	}
	return name
}
