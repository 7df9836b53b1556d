package extract

import (
	"bytes"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestNoRepairIsOverlooked(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without the race detector does it")
	}
	parts := strings.Split(`<b>|<b>|</b>|<i class=1>|</i>|<i class="2">|<font size=1>|</font>|<a href=1>|</a>|<nobr>|</nobr>|x|x|<p>|</p>|<div>|</div>|<div>|</div>|`+
		`<table>|</table>|<tr>|<td>|</td>|<caption>|<tbody>|</tbody>|<select>|<option>|</select>|<svg>|</svg>|<title>|</title>|<math>|<mtext>|</math>|<style>|</style>|`+
		`<!--|-->|<p title="|">|<object>|</object>|<template>|</template>|<li>|<button>|</button>|<foreignObject>|<h1>|</h1>|<![CDATA[|]]>|<noscript>|<br>|</br>|<hr>`, "|")
	r := rand.New(rand.NewPCG(1, 2))
	for range 3_000 {
		var page []byte
		few := parts
		if r.IntN(2) == 0 {
			few = few[:20+r.IntN(len(parts)-20)]
		}
		for range 5 + r.IntN(60) {
			page = append(page, few[r.IntN(len(few))]...)
		}
		page = append(page, strings.Repeat("<p>x</p>", 200)...)
		root, err := html.ParseWithOptions(bytes.NewReader(page), html.ParseOptionEnableScripting(false))
		if err != nil {
			continue
		}
		got := 0
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && slices.Contains(formatting[:], n.Data) {
				got++
			}
		}
		counted := repairs{seed: maphash.MakeSeed(), times: make(map[uint64]int), closes: true}
		counted.read(page)
		starts := 0
		for part := range bytes.SplitSeq(page, []byte("<")) {
			if len(part) > 0 && isLetter(part[0]) && formattingIndex(part) >= 0 {
				starts++
			}
		}
		if got > starts+counted.made {
			t.Errorf("%d formatting elements of %d tags, counted %d:\n%s", got, starts, counted.made, page)
		}
	}
}
